"""Lesson 11: Counting."""
