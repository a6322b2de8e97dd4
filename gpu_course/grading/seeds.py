"""What the cases of a check are drawn from, and how to have the same ones again."""

from __future__ import annotations

import hashlib
import os
import secrets
import zlib

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.puzzle import Case, Puzzle

SEED_VARIABLE = "GPU_COURSE_SEED"
LISTED_SEED = 0
"""The listed cases have the same inputs in every check; only the random case is new each time."""


def default_seed() -> int:
    """Returns GPU_COURSE_SEED, or a fresh seed where it is not set."""
    text = os.environ.get(SEED_VARIABLE, "").strip()
    if not text:
        return secrets.randbits(32)
    if not text.isdecimal():
        raise CourseError(
            f"{SEED_VARIABLE} is {text!r}, which is not a whole number", "set it to 0, or unset it"
        )
    return int(text)


def randomness(puzzle: Puzzle, case: Case, seed: int) -> np.random.Generator:
    """Returns what a case's inputs are drawn from: the same for the same seed, case and puzzle."""
    return np.random.default_rng([seed, zlib.crc32(f"{puzzle.name}: {case.name}".encode())])


def own_seed(seed: int) -> int:
    """Returns the seed of what an answer draws itself: the same for the same seed of a check.

    An answer can read it in its own process, and no step leads back from it: who knew the seed of
    the inputs could work out what other ranks hold, or what is asked next.

    >>> own_seed(0) == own_seed(0), own_seed(0) in (0, own_seed(1))
    (True, False)
    """
    return int.from_bytes(hashlib.sha256(b"an answer's own: %d" % seed).digest()[:4], "little")
