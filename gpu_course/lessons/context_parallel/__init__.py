"""Lesson 25: a sequence cut among ranks."""
