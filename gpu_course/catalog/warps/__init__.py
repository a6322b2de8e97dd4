"""Puzzles of lesson 02; lesson_02_warps puts them in order."""
