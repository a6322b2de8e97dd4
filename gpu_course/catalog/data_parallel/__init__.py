"""Lesson 22's puzzles: the same model on every rank, and what keeps it the same."""
