"""Lesson 06: matrix multiplication."""
