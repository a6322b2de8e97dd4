"""Lesson 07: Under the hood."""
