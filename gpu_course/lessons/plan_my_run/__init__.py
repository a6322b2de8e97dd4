"""Lesson 30: Plan my run."""
