"""What lesson 22 says once a guess is made."""

from __future__ import annotations

from gpu_course.catalog.specification import Sealed

PREDICTIONS: dict[str, Sealed] = {}
