"""Lesson 32: Failures."""
