"""How long documents are: which share of them, and of all tokens, is short."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_course.lessons.context_parallel.pictures import (
    draw_lengths,
)
from gpu_course.notebook.pictures import Picture

if TYPE_CHECKING:
    pass


BYTES_PER_TOKEN = 4
"""A usual figure for English text and a vocabulary of some 30,000 to 100,000; code has fewer."""


def lengths_of(folder: Path, pattern: str) -> list[int]:
    """Returns the lengths of a folder's files in tokens, counted as bytes / 4.

    Args:
        folder: is searched through.
        pattern: of the files' names, such as "*.py".
    """
    sizes = (path.stat().st_size for path in folder.rglob(pattern) if path.is_file())
    return [size // BYTES_PER_TOKEN for size in sizes if size >= BYTES_PER_TOKEN]


def binned(lengths: Sequence[int]) -> list[tuple[str, float, float]]:
    """Returns (range, share of the documents, share of the tokens) for ranges that double twice.

    >>> binned([100, 3000, 3000])[0]
    ('< 512', 0.3333333333333333, 0.01639344262295082)
    """
    ends = [0, 512, 2048, 8192, 32_768, 131_072, 1 << 62]
    names = ["< 512", "to 2k", "to 8k", "to 32k", "to 128k", "more"]
    total = sum(lengths)
    found = []
    for name, (low, high) in zip(names, pairwise(ends), strict=True):
        inside = [n for n in lengths if low <= n < high]
        found.append((name, len(inside) / len(lengths), sum(inside) / total))
    return found


def installed_lengths() -> list[int]:
    """Returns the lengths in tokens of the Python sources of the PyTorch that is installed here."""
    import torch

    return lengths_of(Path(torch.__file__).parent, "*.py")


def own_lengths() -> Picture:
    """Returns how long the documents of a small collection are: PyTorch's own Python sources."""
    lengths = installed_lengths()
    short = sum(n < 2048 for n in lengths) / len(lengths)
    second = f"{len(lengths):,} files; {100 * short:.0f} % have fewer than 2k tokens (bytes / 4)"
    return Picture(draw_lengths(binned(lengths), "PyTorch's Python sources, by length", second))
