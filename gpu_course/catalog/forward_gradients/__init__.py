"""The puzzles of lesson 19."""
