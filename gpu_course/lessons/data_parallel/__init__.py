"""Lesson 22: the same model on every rank."""
