"""Lesson 27: Zero bubble."""
