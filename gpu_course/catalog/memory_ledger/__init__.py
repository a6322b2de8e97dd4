"""The puzzles of lesson 16."""
