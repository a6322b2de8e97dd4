"""Puzzle `merge`: any number of tiles of keys, merged in any order."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

_LARGE, _LOW, _TIED, _BLIND, _NO_KEY, _APART, _FINISHED, _NAN = range(1, 9)
_FLAT, _IN_TURN, _HALVES, _BACKWARDS = range(4)


def _case(
    name: str, queries: int, width: int, tiles: int, kind: int = 0, order: int = _FLAT,
    visible: bool = False,
) -> Case:  # fmt: skip
    sizes = {"queries": queries, "width": width, "tiles": tiles, "kind": kind, "order": order}
    return Case(name, sizes, visible)


def _random_case(rng: np.random.Generator) -> Case:
    queries, width, tiles = (int(each) for each in rng.integers(2, 7, 3))
    order = int(rng.integers(4))
    return _case("tiles drawn at random", queries, width, tiles, order=order)


def _scores(rng: np.random.Generator, queries: int, keys: list[int], kind: int) -> list[np.ndarray]:
    """Returns the scores of every tile, (queries, keys of the tile)."""
    tiles = [3.0 * rng.normal(size=(queries, each)) for each in keys]
    if kind in (_LARGE, _LOW):
        tiles = [each + (800.0 if kind == _LARGE else -900.0) for each in tiles]
    if kind == _TIED:
        tiles = [np.full_like(each, 1.5) for each in tiles]
    if kind == _APART:
        # Going up for one query and down for the next, past what exp can take.
        steps = np.where(np.arange(queries) % 2, 1000.0, -1000.0)
        tiles = [each + turn * steps[:, None] for turn, each in enumerate(tiles)]
    if kind in (_BLIND, _NO_KEY):
        for turn, each in enumerate(tiles):
            each[(np.arange(queries) + turn) % 3 == 0] = -np.inf
            if kind == _NO_KEY:
                each[1::3] = -np.inf
    return tiles


def _part(scores: np.ndarray, values: np.ndarray, finished: bool) -> tuple[np.ndarray, ...]:
    """Returns (m, total, acc) of a tile; of a finished one m is the log-sum-exp, and total is 1."""
    m = scores.max(axis=1)
    weights = np.exp(scores - np.where(np.isneginf(m), 0.0, m)[:, None])
    total, acc = weights.sum(axis=1), weights @ values
    return (
        (m + np.log(total), np.ones_like(total), acc / total[:, None])
        if finished
        else (m, total, acc)
    )


def _order(tiles: int, kind: int) -> list[Any]:
    numbers: list[Any] = list(range(tiles))
    if kind == _BACKWARDS:
        return numbers[::-1]
    if kind == _HALVES:
        return [numbers[: tiles // 2], numbers[tiles // 2 :]] if tiles > 1 else numbers
    if kind == _IN_TURN:
        done: Any = 0
        for each in numbers[1:]:
            done = [done, each]
        return done if tiles > 1 else numbers
    return numbers


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    s = case.sizes
    keys = rng.integers(1, 6, s["tiles"]).tolist()
    tiles = _scores(rng, s["queries"], keys, s["kind"])
    values = [rng.normal(size=(each, s["width"])) for each in keys]
    parts = [
        _part(each, value, s["kind"] == _FINISHED and turn % 2 == 0)
        for turn, (each, value) in enumerate(zip(tiles, values, strict=True))
    ]
    if s["kind"] == _NAN:
        m, total, acc = parts[1]
        m[1], total[1], acc[1] = np.nan, np.nan, np.nan
    return {"parts": parts, "order": _order(s["tiles"], s["order"])}


def _reference(inputs: Values, case: Case) -> Values:
    """Works with logarithms: the shares of the parts add up to 1."""
    logs, means = [], []
    with np.errstate(divide="ignore", invalid="ignore"):
        for m, total, acc in inputs["parts"]:
            logs.append(np.where(total == 0, -np.inf, m + np.log(total)))
            means.append(np.where(total[:, None] == 0, 0.0, acc / total[:, None]))
        lse = np.logaddexp.reduce(logs, axis=0)
    safe = np.where(np.isneginf(lse), 0.0, lse)
    shares = [np.exp(each - safe)[:, None] for each in logs]
    attention = sum(share * mean for share, mean in zip(shares, means, strict=True))
    return {"attention": attention, "lse": lse}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    kind = case.sizes["kind"]
    found = [np.asarray(got[name], dtype=float) for name in ("attention", "lse")]
    if kind == _NAN and not any(np.isnan(each).any() for each in found):
        return "nan-lost"
    if kind in (_LARGE, _LOW, _APART) and not all(np.isfinite(each).all() for each in found):
        return "overflow"
    if kind in (_BLIND, _NO_KEY) and any(np.isnan(each).any() for each in found):
        return "blind"
    return None


def _call(inputs: Values) -> str:
    parts = inputs["parts"]
    queries, width = parts[0][2].shape
    told = f"merge(parts), {len(parts)} part{'s' if len(parts) > 1 else ''}"
    return f"{told}, acc ({queries}, {width}), in the order {inputs['order']}"


MERGE = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.softmax_to_flash.harness.merge",
    cases=(
        _case("visible example", 2, 3, 3, visible=True),
        _case("one part, one query", 1, 1, 1),
        _case("four parts, one after the other", 3, 4, 4, order=_IN_TURN),
        # In front of the blind: who takes exp of everything gets NaN in both.
        _case("scores in the hundreds", 4, 3, 3, _LARGE),
        _case("scores far below zero", 4, 3, 3, _LOW),
        _case("tiles with scores a thousand apart", 4, 2, 3, _APART),
        _case("the same, last tile first", 4, 2, 3, _APART, _BACKWARDS),
        _case("equal scores everywhere", 3, 2, 4, _TIED, _HALVES),
        _case("finished parts among the others", 3, 3, 5, _FINISHED, _HALVES),
        _case("queries that see some of the tiles", 7, 2, 3, _BLIND, _IN_TURN),
        _case("queries that see no key at all", 7, 2, 3, _NO_KEY),
        _case("the same, merged in halves", 7, 2, 4, _NO_KEY, _HALVES),
        _case("a NaN in one query", 4, 2, 3, _NAN, _IN_TURN),
        _case("many tiles", 16, 8, 40, order=_BACKWARDS),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=(1e-9, 1e-12),
    diagnose=_diagnose,
    call=_call,
)
