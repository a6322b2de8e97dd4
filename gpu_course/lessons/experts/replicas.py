"""Where copies of experts go, so that GPUs have equally much to do: what EPLB does, written anew.

Groups of experts go to nodes, busy experts get copies in their node, and copies go to its GPUs.

Source: deepseek-ai/EPLB, README.md and eplb.py at d52c72d.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpu_course.errors import CourseError


@dataclass(frozen=True)
class Example:
    """An example as it is printed: what goes in, and which expert each place holds.

    Attributes:
        loads: for each layer, the tokens of each expert.
        places, groups, nodes, gpus: how many of each.
        printed: for each layer, the expert of each place; places of one GPU stand together.
    """

    loads: tuple[tuple[int, ...], ...]
    places: int
    groups: int
    nodes: int
    gpus: int
    printed: tuple[tuple[int, ...], ...]


EPLB_EXAMPLE = Example(
    loads=(
        (90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86),
        (20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27),
    ),
    places=16,
    groups=4,
    nodes=2,
    gpus=8,
    printed=(
        (5, 6, 5, 7, 8, 4, 3, 4, 10, 9, 10, 2, 0, 1, 11, 1),
        (7, 10, 6, 8, 6, 11, 8, 9, 2, 4, 5, 1, 5, 0, 3, 1),
    ),
)
"""Source: deepseek-ai/EPLB, README.md at d52c72d, "Interface and Example"."""


def pack(loads: Sequence[float], boxes: int) -> list[list[int]]:
    """Returns for each box its things: as many in each, the heaviest first to the lightest box.

    Args:
        loads: of the things.
        boxes: a divisor of how many there are.

    >>> pack([5, 1, 4, 2], 2)
    [[0, 1], [2, 3]]
    """
    room = len(loads) // boxes
    filled: list[list[int]] = [[] for _ in range(boxes)]
    if room == 1:
        return [[thing] for thing in range(boxes)]
    for thing in sorted(range(len(loads)), key=lambda each: -loads[each]):
        open_boxes = [box for box in filled if len(box) < room]
        min(open_boxes, key=lambda box: sum(loads[each] for each in box)).append(thing)
    return filled


def copy_busiest(loads: Sequence[float], places: int) -> list[int]:
    """Returns which expert each place holds: each once, then again whoever has most for a copy.

    Args:
        loads: of the experts.
        places: at least as many as experts.

    >>> copy_busiest([6, 1, 4], 5)
    [0, 1, 2, 0, 2]
    """
    held = list(range(len(loads)))
    while len(held) < places:
        held.append(max(range(len(loads)), key=lambda each: loads[each] / held.count(each)))
    return held


def place(loads: Sequence[float], places: int, groups: int, nodes: int, gpus: int) -> list[int]:
    """Returns which expert each place holds, the places of a GPU side by side.

    Args:
        loads: of the experts of one layer.
        places: for experts and their copies.
        groups: of experts that stay together on a node.
        nodes, gpus: how many.

    Raises:
        CourseError: a count does not divide the other.
    """
    uneven = [len(loads) % groups, groups % nodes, gpus % nodes, places % gpus]
    if any(uneven) or places < len(loads):
        raise CourseError(
            f"{len(loads)} experts in {groups} groups, {places} places, {nodes} nodes, {gpus} GPUs",
            "let groups divide the experts, nodes the groups and GPUs, and GPUs the places",
        )
    wide = len(loads) // groups
    of_groups = [sum(loads[g * wide : (g + 1) * wide]) for g in range(groups)]
    found: list[int] = []
    for own in pack(of_groups, nodes):
        experts = [g * wide + each for g in own for each in range(wide)]
        held = copy_busiest([loads[each] for each in experts], places // nodes)
        shares = [loads[experts[each]] / held.count(each) for each in held]
        for gpu in pack(shares, gpus // nodes):
            found += [experts[held[each]] for each in gpu]
    return found


def gpu_loads(loads: Sequence[float], held: Sequence[int], gpus: int) -> list[float]:
    """Returns the tokens of each GPU, if copies of an expert share its tokens evenly.

    Args:
        loads: of the experts.
        held: the expert of each place.
        gpus: a divisor of how many places there are.
    """
    room = len(held) // gpus
    shares = [loads[each] / held.count(each) for each in held]
    return [sum(shares[gpu * room : (gpu + 1) * room]) for gpu in range(gpus)]


def over_mean(loads: Sequence[float]) -> float:
    """Returns how far the largest is over the mean: 1.0 is twice it."""
    return max(loads) * len(loads) / sum(loads) - 1
