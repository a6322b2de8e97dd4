"""What a run's result says of a choice, for the predictions of lesson 21."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_course.puzzle.choices import nearest_by_factor


def times_the_ring(found: Mapping[str, float] | None) -> float:
    """Returns how many times a ring's bytes were sent; what gloo is known for, where unknown."""
    return 2 if found is None else nearest_by_factor((0.5, 1, 2, 4), found["mean"] / found["ring"])


def times_the_tree(ratio: float) -> float:
    return nearest_by_factor((1, 3, 10, 60), ratio)


def how_much_longer(ratio: float) -> str:
    said = {1: "nearly as long", 2: "twice as long", 4: "four times as long"}
    return said[round(nearest_by_factor((1, 2, 4), ratio))]


def best_pieces(best: float) -> float:
    return nearest_by_factor((2, 10, 40, 600), best)


def times_the_trees_of_pat(ratio: float) -> float:
    return nearest_by_factor((2, 10, 100, 1000), ratio)
