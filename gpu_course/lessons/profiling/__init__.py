"""Lesson 09: Profiling."""
