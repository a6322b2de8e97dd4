"""Lesson 01: threads, blocks, grids."""
