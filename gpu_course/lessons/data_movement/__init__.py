"""Lesson 12: Data movement."""
