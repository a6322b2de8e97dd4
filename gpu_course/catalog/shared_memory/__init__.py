"""The puzzles of lesson 04, a few to a module."""
