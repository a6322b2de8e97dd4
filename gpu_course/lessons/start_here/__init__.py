"""Lesson 00: the way in."""
