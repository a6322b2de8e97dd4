"""Local arrays with an index that is known only as the kernel runs: found, and no others.

Those whose index is known were compiled by numba-cuda 0.30.4 and ptxas 13.5 for compute
capability 8.0, and none has a stack. Of the others some have: with one access or two the compiler
looks through all places instead.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simt.report import Report
from simt.simulator import simulate

HEAD = """
from numba import cuda, float32

PLACES = 32

@cuda.jit(device=True)
def put(kept, place, x):
    kept[place] = x

@cuda.jit(device=True)
def same(place):
    return place + 1 - 1

@cuda.jit
def kernel(out, a, rows):
    t = cuda.grid(1)
    kept = cuda.local.array(PLACES, float32)
"""

KNOWN = {
    "plain numbers": "kept[0] = a[t]\nkept[31] = kept[0]",
    "a fixed loop": "for i in range(PLACES):\n    kept[i] = a[t]",
    "a fixed loop in one that is not": (
        "for row in range(rows):\n    for i in range(PLACES):\n        kept[i] = a[t]"
    ),
    "a guard inside": "for i in range(PLACES):\n    if i < rows:\n        kept[i] = a[t]",
    "left by break": (
        "for i in range(PLACES):\n    if i >= rows:\n        break\n    kept[i] = a[t]"
    ),
    "gone on by continue": (
        "for i in range(PLACES):\n    if i >= rows:\n        continue\n    kept[i] = a[t]"
    ),
    "backwards": "for i in range(PLACES - 1, -1, -1):\n    kept[i] = a[t]",
    "in pieces": (
        "for i in range(0, PLACES, 8):\n    for j in range(8):\n        kept[i + j] = a[t]"
    ),
    "a while loop": "i = 0\nwhile i < PLACES:\n    kept[i] = a[t]\n    i += 1",
    "a while loop with a second end": (
        "i = 0\nwhile i < PLACES and i < rows:\n    kept[i] = a[t]\n    i += 1"
    ),
    "a loop that ends in its middle": (
        "i = 0\nwhile True:\n    if i == PLACES:\n        break\n    kept[i] = a[t]\n    i += 1"
    ),
    "a number on either way": ("i = 3\nif 1 < 2:\n    i = 4\nkept[i] = a[t]"),
    "set anew on the way": ("i = t\nif a[t] > 0:\n    i = 1\n    kept[i] = a[t]"),
    "in a function": "for i in range(PLACES):\n    put(kept, i, a[t])",
    "by a function": "for i in range(PLACES):\n    kept[same(i)] = a[t]",
    "its own length": "kept[kept.shape[0] - 1] = a[t]",
    "over a tuple": "for i in (0, 5, 31):\n    kept[i] = a[t]",
    "over a range that is numbered": "for i, j in enumerate(range(PLACES)):\n    kept[i] = a[j]",
    "a part of it": "part = kept[8:]\npart[3] = a[t]",
}
UNKNOWN = {
    "the number of a thread": "kept[t % PLACES] = a[t]",
    "an argument": "kept[rows] = a[t]",
    "what was loaded": "kept[int(a[t])] = a[t]",
    "a loop over an argument": "for i in range(rows):\n    kept[i] = a[t]",
    "no more than all": "for i in range(min(rows, PLACES)):\n    kept[i] = a[t]",
    "from the other end": "for i in range(PLACES):\n    kept[(rows - i) % PLACES] = a[t]",
    "a place that was looked for": (
        "least = 0\nfor i in range(PLACES):\n    if a[i] < a[least]:\n        least = i\n"
        "kept[least] = a[t]"
    ),
    "where a search ended": (
        "i = PLACES - 1\nwhile i > 0 and a[i] < a[0]:\n    i -= 1\nkept[i] = a[t]"
    ),
    "where a loop was left": (
        "last = 0\nfor i in range(PLACES):\n    last = i\n    if a[i] > 0:\n        break\n"
        "kept[last] = a[t]"
    ),
    "one of two": "i = 0 if a[t] > 0 else 1\nkept[i] = a[t]",
    "on one of two ways": "i = 3\nif a[t] > 0:\n    i = 4\nkept[i] = a[t]",
    "a loop that ends by an argument alone": (
        "i = 0\nwhile True:\n    if i >= rows:\n        break\n    kept[i] = a[t]\n    i += 1"
    ),
    "turns that may not count": (
        "i = 0\nfor _ in range(PLACES):\n    if a[t] > 0:\n        continue\n    kept[i] = a[t]\n"
        "    i += 1"
    ),
    "in a function": "put(kept, rows, a[t])",
    "by a function": "kept[same(rows)] = a[t]",
    "a part of it": "part = kept[rows:]\npart[0] = a[t]",
    "over its places": "for x in kept:\n    out[t] = x",
    "over its places, numbered": "for i, x in enumerate(kept):\n    out[t] = x",
    "under another name": "other = kept\nother[rows] = a[t]",
}


_INDEXES = ("kept[", "put(", "part[", "other[", "in kept", "(kept)")


def launch(body: str, folder: Path) -> Report:
    file = folder / "kernel.py"
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    file.write_text(f"{HEAD}{lines}    out[t] = kept[0]\n", encoding="utf-8")
    out, a = np.zeros(32, np.float32), np.ones(64, np.float32)
    return simulate(f"{file}:kernel", raise_on_hazard=False)[1, 32](out, a, 3)


@pytest.mark.parametrize("body", KNOWN.values(), ids=KNOWN)
def test_an_index_that_is_a_number_in_the_end_is_known(body: str, tmp_path: Path) -> None:
    shape = launch(body, tmp_path).launch
    assert (shape.indexed_bytes, shape.indexed_lines) == (0, ())


@pytest.mark.parametrize("body", UNKNOWN.values(), ids=UNKNOWN)
def test_an_index_that_nobody_knows_is_told_with_its_line(body: str, tmp_path: Path) -> None:
    shape = launch(body, tmp_path).launch
    first = HEAD.count("\n") + 1
    calls = [n for n, x in enumerate(body.splitlines()) if any(w in x for w in _INDEXES)]
    assert shape.indexed_bytes == 128
    told = {line - first for line in shape.indexed_lines}
    assert told and told <= {*calls}


def test_shared_arrays_and_arguments_are_no_matter(tmp_path: Path) -> None:
    body = "tile = cuda.shared.array(32, float32)\ntile[t] = a[t]\nkept[0] = tile[31 - t]"
    assert launch(body, tmp_path).launch.indexed_bytes == 0


def test_of_two_arrays_the_one_that_is_indexed_so_counts(tmp_path: Path) -> None:
    body = "more = cuda.local.array((2, 3), float32)\nmore[0, rows % 3] = a[t]\nkept[0] = a[t]"
    shape = launch(body, tmp_path).launch
    assert (shape.indexed_bytes, len(shape.indexed_lines)) == (24, 1)
