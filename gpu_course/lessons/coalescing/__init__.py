"""Lesson 03: coalescing."""
