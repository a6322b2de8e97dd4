"""Lesson 05: reductions and scans."""
