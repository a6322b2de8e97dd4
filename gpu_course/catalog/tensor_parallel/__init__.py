"""The puzzles of lesson 24: a layer cut among ranks."""
