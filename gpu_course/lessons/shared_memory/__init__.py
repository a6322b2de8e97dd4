"""Lesson 04: shared memory."""
