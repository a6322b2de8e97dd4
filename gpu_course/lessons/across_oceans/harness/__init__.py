"""Harnesses: what calls an answer in its own process. See gpu_course.puzzle.harness."""
