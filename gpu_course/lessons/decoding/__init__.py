"""Lesson 14: Decoding."""
