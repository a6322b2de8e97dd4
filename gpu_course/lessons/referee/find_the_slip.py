"""Puzzle `find_the_slip`: which cells of a table could be to blame for what does not agree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from reprlib import repr
from typing import Any

import numpy as np

from gpu_course.lessons.referee.consistency import Printed, Rule, suspects
from gpu_course.lessons.referee.printed_tables import LATER, TABLES, equal, product, total
from gpu_course.puzzle.harness import Unusable
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values

ROOM = 1e-9
"""A value that is so near to an end of its range, as a part of it, is in the range."""


def _mended(name: str) -> Printed:
    """Returns a table's cells without its slip, where one cell is to blame."""
    table = TABLES[name]
    blamed = suspects(table.printed, table.rules)
    if not blamed:
        return table.printed
    cell, (low, high) = next(iter(blamed.items()))
    return {**table.printed, cell: _as_printed((low + high) / 2, table.printed[cell])}


def _as_printed(value: float, like: str | int) -> str | int:
    if isinstance(like, int):
        return round(value)
    return f"{value:.{len(like.partition('.')[2])}f}"


SHOWN = tuple(name for name in TABLES if name != LATER)
"""A case shows its table to whoever gets it wrong, and one of them is asked for later."""

PLANTED: dict[str, tuple[str, dict[str, str | int]]] = {
    "no slip: the same without it": ("hours until a failure", {}),
    "no slip: Llama 3's with 35.3": ("what stopped Llama 3", {}),
    "the rate": ("hours until a failure", {"failures in 1,000 node-days": "5.60"}),
    "a count": ("what stopped Llama 3", {"network": 53}),
    "the total": ("what stopped Llama 3", {"unexpected": 491}),
    "one of many shares": ("what stopped Llama 3", {"HBM3, %": "12.7"}),
    "a rate that two others tell": ("ten sizes of GPT", {"310.1B TFLOP/s": "165"}),
    "a product": ("ten sizes of GPT", {"310.1B PFLOP/s": "279.4"}),
    "a number of GPUs": ("ten sizes of GPT", {"310.1B GPUs": 1290}),
    "one of three parts": ("what DeepSeek-V3 cost", {"longer context": "191"}),
    "a sum": ("what DeepSeek-V3 cost", {"hours": "2878"}),
    "a price": ("what DeepSeek-V3 cost", {"M$": "5.756"}),
    "two slips": ("what DeepSeek-V3 cost", {"pre-training": "2464", "M$": "5.756"}),
    "cuBLAS": ("a kernel's rate in table and text", {"cuBLAS": "22349.6"}),
    "within what the text may be off": (
        "a kernel's rate in table and text", {"tiled, in the text": "2900"},
    ),
    "a switch too many": ("switches of a pod", {"spine switches": 18}),
}  # fmt: skip
"""Real tables without their slip, and with another one."""


def _one_rule(result: str, within: float) -> tuple[Printed, tuple[Rule, ...]]:
    printed: Printed = {"TFLOP/s": "50.0", "GPUs": 96, "PFLOP/s": result}
    return printed, (("PFLOP/s", [(1e-3, {"GPUs": 1, "TFLOP/s": 1})], within),)


MADE: dict[str, tuple[Printed, tuple[Rule, ...]]] = {
    "one rule, and no way to tell": _one_rule("3.60", 0.0),
    "one rule, and 3 % to spare": _one_rule("4.70", 0.03),
    "only rounding": (
        {"%": "40.9", "TFLOP/s": "400", "peak": "989.5", "all": "6.55"},
        (
            ("%", [(100.0, {"TFLOP/s": 1, "peak": -1})], 0.012),
            ("all", [(0.016384, {"TFLOP/s": 1})], 0.0),
        ),
    ),
    "a count that would be no whole number": (
        {"GPUs": 5, "each": "3.0", "all": "19.5"},
        (("all", [(1.0, {"GPUs": 1, "each": 1})], 0.0), ("each", [(12.0, {"peak": -1})], 0.0)),
    ),
    "two ranges that hardly meet": (
        {"a": "20.000", "b": "10.0", "c": "7.77", "d": "1.90"},
        (
            ("b", [(1.0, {"a": 1})], 0.01),
            ("c", [(0.75, {"a": 1})], 0.03),
            ("d", [(0.19, {"a": 1})], 0.02),
        ),
    ),
    "two ranges that do not meet": (
        {"a": "20.000", "b": "10.0", "c": "7.77"},
        (("b", [(1.0, {"a": 1})], 0.01), ("c", [(0.75, {"a": 1})], 0.01)),
    ),
    "parts that are more than their sum": (
        {"x": "1.0", "y": "7.0", "z": "5.0", "twice y": "14.0"},
        (
            ("z", [(1.0, {"x": 1}), (1.0, {"y": 1})], 0.0),
            ("twice y", [(2.0, {"y": 1})], 0.0),
        ),
    ),
    "two ranges that its digits bring together": (
        {"a": "20", "b": "10.0", "c": "10.9"},
        (("b", [(1.0, {"a": 1})], 0.0), ("c", [(1.0, {"a": 1})], 0.0)),
    ),
    "two ranges that its digits nearly bring together": (
        {"a": "20", "b": "10.0", "c": "11.2"},
        (("b", [(1.0, {"a": 1})], 0.0), ("c", [(1.0, {"a": 1})], 0.0)),
    ),
    "so much that nothing is left": (
        {"all": "5", "one": "4.9", "work": "10.0", "each": "5.0"},
        (("all", [(1.0, {"one": 1}), (1.0, {"work": 1, "each": -1})], 0.0),),
    ),
    "more than all": (
        {"all": "5", "one": "8.0", "work": "10.0", "each": "5.0"},
        (("all", [(1.0, {"one": 1}), (1.0, {"work": 1, "each": -1})], 0.0),),
    ),
    "more than all, in whole numbers": (
        {"all": 5, "one": 8, "work": 10, "each": 5},
        (("all", [(1.0, {"one": 1}), (1.0, {"work": 1, "each": -1})], 0.0),),
    ),
    "hardly anything is left": (
        {"all": "5.0", "one": "5.0", "other": "9.0"},
        (("all", [(1.0, {"one": 1}), (1.0, {"other": 1})], 0.0),),
    ),
    "none is no count": ({"all": 5, "one": 5, "other": 3}, (total("all", "one", "other"),)),
    "one is a count": ({"all": 5, "one": 4, "other": 3}, (total("all", "one", "other"),)),
    "the least that is left": (
        {"all": "10", "one": "4", "other": "9.000", "again": "5.2"},
        (total("all", "one", "other"), equal("again", "other")),
    ),
    "the most that is left": (
        {"all": "10", "one": "4", "other": "9.000", "again": "6.8"},
        (total("all", "one", "other"), equal("again", "other")),
    ),
    "a count that a computer rounds down": ({"n": 7, "all": 33}, (product("all", "n", times=1.1),)),
    "a count that a computer rounds up": ({"n": 7, "all": 21}, (product("all", "n", times=0.7),)),
    "three alike, and one is not": (
        {"one": "31.6", "another": "33.0", "a third": "20.4"},
        (
            equal("one", "another", 0.1),
            equal("another", "a third", 0.1),
            equal("one", "a third", 0.1),
        ),
    ),
    "no rule": ({"a": "1.0", "b": "2.0"}, ()),
}  # fmt: skip
MADE["a count that would be no whole number"][0]["peak"] = 4  # type: ignore[index]


def _known() -> dict[str, tuple[Printed, tuple[Rule, ...]]]:
    printed = {name: (TABLES[name].printed, TABLES[name].rules) for name in SHOWN}
    first = next(iter(printed))
    found = {first: printed[first]} | MADE | printed
    for name, (table, changed) in PLANTED.items():
        found[name] = {**_mended(table), **changed}, TABLES[table].rules
    return found


KNOWN = _known()
NAMES = tuple(KNOWN)


def _changed(rng: np.random.Generator, cell: str | int) -> str | int:
    """Returns other digits for a cell, as many places as before."""
    factor = float(rng.choice([0.3, 0.8, 0.9, 0.97, 1.02, 1.1, 1.25, 3.0]))
    new = _as_printed(float(cell) * factor, cell)
    return new if float(new) > 0 else cell


def _drawn(rng: np.random.Generator) -> tuple[Printed, tuple[Rule, ...]]:
    while True:
        name = str(rng.choice(SHOWN))
        printed, rules = dict(_mended(name)), TABLES[name].rules
        cell = str(rng.choice(list(printed)))
        if rng.random() < 0.85:
            printed[cell] = _changed(rng, printed[cell])
        strict, loose = (suspects(printed, rules, hair) for hair in (1e-12, 1e-5))
        # What hangs on the last bit is drawn again.
        if (strict is None) == (loose is None) and set(strict or ()) == set(loose or ()):
            return printed, rules


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    number = case.sizes["number"]
    printed, rules = KNOWN[NAMES[number]] if number >= 0 else _drawn(rng)
    order = rng.permutation(list(printed)) if number else list(printed)
    shuffled = rng.permutation(len(rules)) if number else range(len(rules))
    return {
        "printed": {str(cell): printed[str(cell)] for cell in order},
        "rules": [rules[int(at)] for at in shuffled],
    }


def _reference(inputs: Values, case: Case) -> Values:
    found = suspects(inputs["printed"], inputs["rules"])
    return {"result": "None" if found is None else "a dict", "suspects": sorted(found or ())}


def _follow(inputs: Values, case: Case, got: Values) -> Values:
    said = got["result"]
    if said is None:
        return {"result": "None", "suspects": [], "values": {}}
    if not isinstance(said, dict):
        raise Unusable(f"find_the_slip returned {repr(said)}, neither a dict nor None", "form")
    if odd := [cell for cell in said if cell not in inputs["printed"]]:
        raise Unusable(f"find_the_slip returned {repr(odd[0])}, which is no cell", "form")
    return {"result": "a dict", "suspects": sorted(said), "values": said}


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    found = suspects(inputs["printed"], inputs["rules"]) or {}
    for cell, value in got["values"].items():
        low, high = found[cell]
        if isinstance(value, bool) or not isinstance(value, int | float):
            return Judgement("form", f"{cell} is to be {repr(value)}, which is no number")
        if isinstance(inputs["printed"][cell], int) and value != round(value):
            return Judgement("no-count", f"{cell} is to be {value:.6g}, and it is a count")
        if not 0 < value < math.inf or not low * (1 - ROOM) <= value <= high * (1 + ROOM):
            ends = f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}"
            return Judgement("value", f"{cell} is to be {value:.6g}; the rules leave {ends}")
    return None


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if expected["result"] == "None":
        return "nothing-wrong"
    if got["result"] == "None":
        return "slip-passed"
    if not got["suspects"]:
        return "nobody"
    return "too-many" if set(got["suspects"]) > set(expected["suspects"]) else "too-few"


def _call(inputs: Values) -> str:
    printed: Mapping[str, Any] = inputs["printed"]
    few = ", ".join(f"{cell!r}: {value!r}" for cell, value in list(printed.items())[:6])
    more = f" and {len(printed) - 6} more" if len(printed) > 6 else ""
    return f"find_the_slip({{{few}{more}}}, {len(inputs['rules'])} rules)"


FIND_THE_SLIP = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=tuple(Case(name, {"number": n}, n == 0) for n, name in enumerate(NAMES)),
    random_case=lambda rng: Case("a table drawn at random", {"number": -1}),
    inputs=_inputs,
    reference=_reference,
    follow=_follow,
    judge=_judge,
    diagnose=_diagnose,
    call=_call,
)
