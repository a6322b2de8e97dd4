"""Harnesses of lesson 13: what calls an answer and measures it, in the answer's own process."""
