"""Harness of a function that is called once: its results by name, or its ValueError."""

from __future__ import annotations

from gpu_course.puzzle.harness.refusing import named_results as run

__all__ = ["run"]
