"""Lesson 15: Number formats."""
