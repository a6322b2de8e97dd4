"""How long the texts are that models learn from: counted in one package, and what a window meets.

`lengths.toml` has the Python files of PyTorch 2.13.0's CPU package, counted by `count_lengths`.
"""

from __future__ import annotations

import math
import random
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

COUNTED = Path(__file__).with_name("lengths.toml")


@dataclass(frozen=True)
class Bin:
    """Files between one power of two bytes and the next.

    Attributes:
        at_least: bytes of the shortest that belongs here; each is shorter than twice that.
        files: how many.
        total_bytes: of all of them.
    """

    at_least: int
    files: int
    total_bytes: int


def count_lengths(folder: Path, pattern: str = "*.py") -> list[Bin]:
    """Returns the files of a folder by their lengths; empty ones are left out.

    Args:
        folder: is searched with all that lies in it.
        pattern: of the files' names.
    """
    found: dict[int, list[int]] = {}
    for path in folder.rglob(pattern):
        if size := path.stat().st_size:
            found.setdefault(2 ** int(math.log2(size)), []).append(size)
    return [Bin(low, len(sizes), sum(sizes)) for low, sizes in sorted(found.items())]


@lru_cache(maxsize=1)
def counted() -> tuple[Bin, ...]:
    """Returns the bins of lengths.toml."""
    data = tomllib.loads(COUNTED.read_text(encoding="utf-8"))
    return tuple(Bin(*row) for row in data["bins"])


def longer(bins: Sequence[Bin], tokens: float, bytes_per_token: float) -> tuple[float, float]:
    """Returns the share of the files, and that of the tokens, in files of so many tokens or more.

    Within a bin the files are taken to be alike, so a bin counts as a whole.

    Args:
        bins: of lengths.
        tokens: of the window.
        bytes_per_token: as the tokenizer has it.
    """
    kept = [each for each in bins if each.total_bytes / each.files >= tokens * bytes_per_token]
    files, total = (
        sum(each.files for each in bins),
        sum(each.total_bytes for each in bins),
    )
    return sum(each.files for each in kept) / files, sum(each.total_bytes for each in kept) / total


def own_pairs(bins: Sequence[Bin], tokens: int, bytes_per_token: float, seed: int = 0) -> float:
    """Returns which share of a window's pairs of tokens lies within one file.

    Files are laid one behind the other in an order drawn with the seed, and the line is cut into
    windows: so most pretraining data is packed.

    Args:
        bins: of lengths.
        tokens: of a window.
        bytes_per_token: as the tokenizer has it.
        seed: of the order.
    """
    lengths = [
        max(1, round(each.total_bytes / each.files / bytes_per_token))
        for each in bins
        for _ in range(each.files)
    ]
    random.Random(seed).shuffle(lengths)
    pairs, room, windows = 0, tokens, 0
    for length in lengths:
        while length:
            piece = min(length, room)
            pairs += piece * piece
            length -= piece
            room -= piece
            if not room:
                windows, room = windows + 1, tokens
    held = windows * tokens * tokens + (tokens - room) ** 2
    return pairs / held
