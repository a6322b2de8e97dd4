"""Lesson 02: warps."""
