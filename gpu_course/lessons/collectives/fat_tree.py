"""Puzzle `fat_tree`: the switches and cables that join so many GPUs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gpu_course.lessons.collectives.fat_trees import fat_tree, most_gpus, ports_down
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.specification import Case, Debrief, Mistake, PythonPuzzle, Values

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


DEBRIEF = Debrief(
    shows=("result",),
    why=(
        "A network is as fast as its narrowest level, and a level is as wide as its cables. Full "
        "bandwidth asks for as many on each level as there are GPUs; an oversubscribed top saves "
        "its share of them."
    ),
    alternative=(
        "Begin with the number of levels: p GPUs for one, p times p / 2 for two, and so on. A "
        "list with the ports down of each level then gives both lists in one loop."
    ),
)

FAT_TREE = PythonPuzzle(
    name="21_collectives/fat_tree",
    title="switches and cables of a network",
    difficulty="medium",
    minutes=20,
    debrief=DEBRIEF,
    statement=(
        "Count the switches and the cables of a fat tree: the fewest levels that join so many "
        "GPUs, with full bandwidth, or with less of it below the top."
    ),
    parameters={"fat_tree": ("gpus", "ports", "oversubscribed")},
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    diagnoses={
        "all-down": (
            "Your levels reach as far as if all ports went down. Below the top some go up: how "
            "many GPUs are below one switch of the second level then?"
        ),
        "top-up": ("Your top switches keep ports free that go up. There is nothing above them."),
        "thin-everywhere": (
            "You save cables on every level. Only the level just below the top has fewer up than "
            "down."
        ),
        "thin-below": (
            "You save cables right above the GPUs. They have full bandwidth there; it gets narrow "
            "just below the top."
        ),
        "never-thin": (
            "That is the network with full bandwidth. How many ports go up where r cables down may "
            "share one?"
        ),
        "an-rth": (
            "You send one port of r up. With r cables down for one up, a switch of 1 + r ports has "
            "one that goes up."
        ),
        "rounded-down": (
            "There are too few switches: some cables have no port. Which way does the division "
            "round?"
        ),
        "ports-free": (
            "You lay no more cables up than the GPUs fill. All ports up of a switch have a cable, "
            "also of one that is half empty below."
        ),
        "three-levels": (
            "You build three levels where fewer would do. How many GPUs do one and two levels join?"
        ),
        "levels": (
            "Another number of levels is needed. How many GPUs can a network of so many levels "
            "join at most?"
        ),
        "from-the-top": "The order is from the GPUs up: the level they are connected to is first.",
        "both-ends": "A cable is counted once, at the level where its upper end is.",
        "two-lists": "Return two lists: the switches of each level, and the cables.",
    },
    hints=(
        "First find out how many GPUs one level can join, then two, then three.",
        (
            "With 8 ports and full bandwidth: 8, then 8 x 4, then 8 x 4 x 4. With r to 1, the last "
            "factor is what is left of the ports when one of 1 + r, rounded up, goes up."
        ),
        (
            "Then walk up. Cables that arrive, over the ports down of a switch, rounded up, are "
            "the switches; these times their ports up are the cables that arrive one level higher."
        ),
    ),
    mistakes=(
        Mistake("all_ports_go_down", "wrong-result", "all-down"),
        Mistake("the_top_looks_up_too", "wrong-result", "top-up"),
        Mistake("thins_out_everywhere", "wrong-result", "thin-everywhere"),
        Mistake("thins_out_at_the_gpus", "wrong-result", "thin-below"),
        Mistake("never_thins_out", "wrong-result", "never-thin"),
        Mistake("an_rth_goes_up", "wrong-result", "an-rth"),
        Mistake("rounds_down", "wrong-result", "rounded-down"),
        Mistake("leaves_ports_up_free", "wrong-result", "ports-free"),
        Mistake("from_the_top", "wrong-result", "from-the-top"),
        Mistake("all_switches_together", "wrong-result", "two-lists"),
        Mistake("three_levels_always", "wrong-result", "three-levels"),
        Mistake("counts_both_ends", "wrong-result", "both-ends"),
    ),
    source=(
        "Al-Fares, Loukissas and Vahdat 2008, A Scalable, Commodity Data Center Network "
        "Architecture, section 3; Lee, Gangidi and Oldham 2024, Building Meta's GenAI "
        "Infrastructure"
    ),
)
