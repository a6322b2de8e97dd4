"""Lesson 26: Pipelines."""
