"""Lesson 31: The referee."""
