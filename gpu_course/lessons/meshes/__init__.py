"""Lesson 29: Meshes."""
