"""Kernels of lesson 02 that are right and go past a budget: `puzzles/costly.py` says how."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes
from tests.course.puzzles.costly import asks_back, never_asks

COSTLY: dict[tuple[str, str], Changes] = {
    ("ballot_count", "atom.requests"): asks_back("i // 32", "cuda.popc(votes)"),
    ("warp_sum", "atom.requests"): asks_back("i // 32", "total"),
    ("warp_max_all", "red.requests"): never_asks("i", "largest"),
    ("warp_max_all", "atom.requests"): asks_back("i", "largest"),
    ("warp_scan", "red.requests"): never_asks("i", "total"),
    ("warp_scan", "atom.requests"): asks_back("i", "total"),
}
