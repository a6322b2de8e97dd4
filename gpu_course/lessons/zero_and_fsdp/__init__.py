"""Lesson 23: a model cut into slices over the ranks."""
