"""Puzzle `fat_tree`: the switches and cables that join so many GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpu_course.lessons.collectives.fat_trees import fat_tree, most_gpus
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values


def _case(name: str, gpus: int, ports: int, oversubscribed: int, visible: bool = False) -> Case:
    return sized(name, visible=visible, gpus=gpus, ports=ports, oversubscribed=oversubscribed)


CASES = (
    _case("visible example", 24, 8, 1, visible=True),
    _case("one GPU", 1, 8, 1),
    _case("as many GPUs as ports", 64, 64, 1),
    _case("one GPU more than ports", 65, 64, 1),
    _case("two levels, full", 2048, 64, 1),
    _case("three levels from here on", 2049, 64, 1),
    # log(6250 / 10) / log(5) is a bit more than 4 in float64.
    _case("five levels, full", 6250, 10, 1),
    _case("a fourth level", 65_537, 64, 1),
    _case("24,576 GPUs, 7 to 1", 24_576, 64, 7),
    _case("two levels, 3 to 1", 1000, 38, 3),
    _case("more reach by 7 to 1", 3000, 64, 7),
    _case("one switch, 3 to 1", 30, 40, 3),
    _case("100,000 GPUs, 128 ports", 100_000, 128, 1),
)


def _random_case(rng: np.random.Generator) -> Case:
    ports = 2 * int(rng.integers(4, 65))
    oversubscribed = int(rng.integers(1, 8))
    levels = int(rng.integers(2, 4))
    least, most = (most_gpus(ports, n, oversubscribed) for n in (levels - 1, levels))
    gpus = int(rng.integers(least + 1, most + 1))
    return _case("a network drawn at random", gpus, ports, oversubscribed)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    return {key: case.sizes[key] for key in ("gpus", "ports", "oversubscribed")}


def _reference(inputs: Values, case: Case) -> Values:
    found = fat_tree(**inputs)
    return {"result": (list(found.switches), list(found.cables))}


def _lists(result: Any) -> tuple[Sequence[int], Sequence[int]] | None:
    if not isinstance(result, list | tuple) or len(result) != 2:
        return None
    if not all(isinstance(each, list | tuple) for each in result):
        return None
    switches, cables = result
    return switches, cables


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    found = _lists(got["result"])
    if found is None:
        return "two-lists"
    return "levels" if len(found[0]) != len(expected["result"][0]) else None


FAT_TREE = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
)
