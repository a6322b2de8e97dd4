"""Lesson 28: Experts."""
