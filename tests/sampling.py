"""Which part of a long series `make test` runs; `make test-all` runs all of it.

A series is many tests of one kind: a mutant each, a random kernel each. Every version of the tree
draws its own part of it, by a hash of what the tests and the course are made of. So the same tree
always gives the same verdict, and over many changes every test of a series gets its turn.
"""

from __future__ import annotations

import functools
import hashlib
import os
from pathlib import Path

ROOT = Path(__file__).parents[1]
EVERYTHING = os.environ.get("GPU_COURSE_TESTS") == "all"
_FOLDERS = ("gpu_course", "simt", "solutions", "tests", "notebooks/source")
_ENDINGS = (".py", ".md", ".json", ".toml")


@functools.cache
def tree_seed() -> int:
    """Returns a number that changes with any file of the course or its tests."""
    whole = hashlib.sha256()
    for folder in _FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in _ENDINGS and "__pycache__" not in path.parts:
                whole.update(path.relative_to(ROOT).as_posix().encode() + b"\0")
                whole.update(hashlib.sha256(path.read_bytes()).digest())
    return int.from_bytes(whole.digest()[:8], "big")


def drawn(name: str, part: float, *, by_tree: bool = True) -> bool:
    """True for a share of all names, each version of the tree another one; for all in `test-all`.

    Args:
        name: of one test of a series.
        part: the share, from 0 to 1.
        by_tree: False for the same share in all versions: for a series of which not every test has
            been looked at once.
    """
    if EVERYTHING:
        return True
    digest = hashlib.sha256(f"{tree_seed() if by_tree else 0} {name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < part * 2**64


def share(few: int, of: int) -> float:
    """Returns the share of a series that comes to `few` of its tests, however many it has.

    A series with a test for each puzzle or each lesson grows with the course; what is run of it
    does not have to.

    >>> share(10, of=40), share(10, of=80), share(10, of=5)
    (0.25, 0.125, 1.0)
    """
    return min(1.0, few / of) if of else 1.0


def examples(many: int, *, few: int) -> int:
    """How many examples Hypothesis tries of a property: `many` in `test-all`, otherwise `few`."""
    return many if EVERYTHING else few
