"""Puzzles of lesson 03; lesson_03_coalescing puts them in order."""
