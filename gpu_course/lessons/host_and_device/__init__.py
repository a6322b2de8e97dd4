"""Lesson 08: Host and device."""
