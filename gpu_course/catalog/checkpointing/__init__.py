"""Puzzles of lessons 17 and 18: what to keep, and what to run again."""
