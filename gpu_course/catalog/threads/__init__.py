"""The puzzles of lesson 01 by the shape of their launch; lesson_01_threads puts them in order."""
