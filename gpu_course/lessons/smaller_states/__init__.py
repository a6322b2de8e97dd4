"""Lesson 20: smaller optimizer states."""
