"""Lesson 24: a layer cut among ranks."""
