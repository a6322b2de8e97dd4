"""Builds stubs and notebooks from the hand-written sources: `python -m gpu_course.authoring`."""
