"""Lesson 17: what is kept, and what is run again."""
