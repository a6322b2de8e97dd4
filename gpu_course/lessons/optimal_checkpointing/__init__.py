"""Lesson 18: the best schedule for a chain."""
