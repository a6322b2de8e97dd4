"""Lesson 10: the roofline."""
