"""Puzzle `fat_tree`: the switches and cables that join so many GPUs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gpu_course.lessons.collectives.fat_trees import fat_tree, most_gpus, ports_down
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import told
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

Built = tuple[list[int], list[int]]


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
    _case("two levels, 3 to 1", 1000, 40, 3),
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


def _otherwise(
    gpus: int,
    ports: int,
    oversubscribed: int,
    *,
    reach: Callable[[int, int, int], int] = most_gpus,
    thin: Callable[[int, int], bool] = lambda above, levels: above == 1,
    up: Callable[[int, int], int] | None = None,
    top_down: bool = True,
    filled: bool = True,
    upwards: bool = True,
    least: int = 1,
) -> Built:
    """Returns what comes of one wrong thought; each argument is one."""
    levels = least
    while reach(ports, levels, oversubscribed) < gpus:
        levels += 1
    switches, cables, arriving = [], [], gpus
    for above in reversed(range(levels)):
        rate = oversubscribed if thin(above, levels) else 1
        going_up = up(ports, rate) if up and above == 1 else ports - ports_down(ports, rate)
        if above == 0 and (top_down or levels == 1):
            going_up = 0
        down = ports - going_up
        cables.append(arriving)
        switches.append(-(-arriving // down) if upwards else max(1, arriving // down))
        if upwards and filled:
            arriving = switches[-1] * going_up
        elif upwards:
            arriving = -(-arriving * going_up // down)
        else:
            arriving = -(-arriving // down) * going_up
    return switches, cables


def _reach_of(up: Callable[[int, int], int]) -> Callable[[int, int, int], int]:
    def reach(ports: int, levels: int, rate: int) -> int:
        most = ports
        for above in range(1, levels):
            most *= ports - (up(ports, rate) if above == 1 else ports // 2)
        return most

    return reach


def _an_rth(ports: int, rate: int) -> int:
    return -(-ports // max(rate, 2))


def _thin_everywhere(ports: int, levels: int, rate: int) -> int:
    return int(ports * ports_down(ports, rate) ** (levels - 1))


_THOUGHTS: tuple[tuple[str, Callable[[Values], Built]], ...] = (
    ("all-down", lambda v: _otherwise(**v, reach=lambda p, n, r: p**n)),
    ("top-up", lambda v: _otherwise(**v, top_down=False)),
    (
        "thin-everywhere",
        lambda v: _otherwise(**v, reach=_thin_everywhere, thin=lambda above, n: above > 0),
    ),
    ("thin-below", lambda v: _otherwise(**v, thin=lambda above, n: above == n - 1 > 0)),
    ("never-thin", lambda v: _otherwise(**{**v, "oversubscribed": 1})),
    ("an-rth", lambda v: _otherwise(**v, up=_an_rth, reach=_reach_of(_an_rth))),
    ("rounded-down", lambda v: _otherwise(**v, upwards=False)),
    ("ports-free", lambda v: _otherwise(**v, filled=False)),
    ("three-levels", lambda v: _otherwise(**v, least=3)),
)


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
    switches, cables = (list(each) for each in found)
    right_switches, right_cables = expected["result"]
    if len(right_switches) > 1 and (switches, cables) == (right_switches[::-1], right_cables[::-1]):
        return "from-the-top"
    if switches == right_switches and cables == [2 * each for each in right_cables]:
        return "both-ends"
    for key, thought in _THOUGHTS:
        wrong = thought(inputs)
        if (switches, cables) == wrong and wrong != (right_switches, right_cables):
            return key
    if len(switches) != len(right_switches):
        return "levels"
    return None


FAT_TREE = PythonPuzzle(
    **told(__file__),
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
)
