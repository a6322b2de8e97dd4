"""Lesson 33: Across oceans."""
