"""Lesson 21: collectives."""
