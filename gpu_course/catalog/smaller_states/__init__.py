"""The puzzles of lesson 20."""
