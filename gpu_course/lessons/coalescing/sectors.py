"""Puzzle `sectors`: what one warp's load costs, before it is run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.specification import Case, Debrief, Mistake, PythonPuzzle, Values
from simt.observe.transactions import SECTOR_BYTES, count_request

LANES = 32
SIZES = (1, 2, 4, 8, 16)


def _case(name: str, stride: int, offset: int, itemsize: int, visible: bool = False) -> Case:
    return sized(name, visible=visible, stride=stride, offset=offset, itemsize=itemsize)


def _random_case(rng: np.random.Generator) -> Case:
    return _case(
        "drawn at random",
        int(rng.integers(-12, 13)),
        int(rng.integers(400, 800)),
        int(rng.choice(SIZES)),
    )


def _addresses(inputs: Values) -> np.ndarray:
    lanes = np.arange(LANES, dtype=np.int64)
    return (lanes * inputs["stride"] + inputs["offset"]) * inputs["itemsize"]


def _reference(inputs: Values, case: Case) -> Values:
    # The simulator's own counter, which the lesson shows in its reports.
    one_warp = np.zeros(LANES, np.int64)
    return {"result": count_request(_addresses(inputs), one_warp, inputs["itemsize"]).sectors}


def _span(inputs: Values) -> int:
    places = _addresses(inputs) // SECTOR_BYTES
    return int(places.max() - places.min()) + 1


def _distinct(places: np.ndarray) -> int:
    return len(np.unique(places))


_OTHERWISE: tuple[tuple[str, Callable[[Values], int]], ...] = (
    ("lines", lambda inputs: _distinct(_addresses(inputs) // 128)),
    ("span", _span),
    ("alignment", lambda inputs: _distinct(_addresses({**inputs, "offset": 0}) // SECTOR_BYTES)),
    ("four-bytes", lambda inputs: _distinct(_addresses({**inputs, "itemsize": 4}) // SECTOR_BYTES)),
    (
        "at-most-eight",
        lambda inputs: _distinct(
            _addresses({**inputs, "itemsize": min(inputs["itemsize"], 8)}) // SECTOR_BYTES
        ),
    ),
    ("only-what-is-used", lambda inputs: LANES * inputs["itemsize"] // SECTOR_BYTES),
    ("one-each", lambda inputs: LANES),
)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    for key, count in _OTHERWISE:
        if got["result"] == count(inputs) != expected["result"]:
            return key
    return None


DEBRIEF = Debrief(
    shows=("result",),
    why=(
        "A load costs as many sectors as its 32 addresses lie in, whichever lane asks for which. "
        "Dividing an address in bytes by 32 and rounding down names its sector."
    ),
    alternative=(
        "Counting lane by lane is short and needs no cases. A formula exists for each kind of "
        "stride, and has to treat 0, negative strides and strides beyond a sector separately."
    ),
)

SECTORS = PythonPuzzle(
    name="03_coalescing/sectors",
    title="sectors before they are counted",
    difficulty="easy",
    minutes=12,
    debrief=DEBRIEF,
    statement=(
        "Write a function that says how many 32-byte sectors one warp touches when lane i loads "
        "a[offset + i * stride], for any stride, offset and size of an element."
    ),
    parameters={"sectors": ("stride", "offset", "itemsize")},
    cases=(
        _case("visible example", 2, 0, 4, visible=True),
        _case("neighbours", 1, 0, 4),
        _case("neighbours, one cell late", 1, 1, 4),
        _case("one byte each", 3, 5, 1),
        _case("eight bytes each", 1, 2, 8),
        _case("the same cell for all", 0, 9, 4),
        _case("backwards", -1, 31, 4),
        _case("backwards, in steps", -3, 100, 2),
        _case("far apart", 9, 0, 4),
        _case("sixteen bytes each", 1, 3, 16),
        _case("sixteen bytes each, far apart", 33, 7, 16),
        _case("terabytes apart", 1 << 37, (1 << 38) + 9, 8),
    ),
    random_case=_random_case,
    inputs=lambda rng, case: dict(case.sizes),
    reference=_reference,
    diagnose=_diagnose,
    diagnoses={
        "lines": (
            "You counted lines of 128 bytes. The memory system moves the 32-byte sectors of a "
            "line one by one, and only those that a lane asked for."
        ),
        "span": (
            "You counted everything between the first and the last byte. A sector that holds the "
            "element of no lane is not moved."
        ),
        "alignment": (
            "You counted as if the warp began at the start of a sector. Where does lane 0 read, "
            "and which bytes of its sector lie before that?"
        ),
        "four-bytes": (
            "You counted four bytes for each element. Here an element has `itemsize` bytes."
        ),
        "at-most-eight": (
            "You took eight bytes where an element has sixteen: a complex number of two doubles, "
            "or four floats at once."
        ),
        "only-what-is-used": (
            "That is what the 32 elements would fill if they lay side by side. How far apart are "
            "they here?"
        ),
        "one-each": (
            "You gave every lane a sector of its own. Lanes whose elements lie in one sector share "
            "it."
        ),
    },
    hints=(
        "A sector is a number: bytes 0 to 31 are sector 0, bytes 32 to 63 are sector 1.",
        (
            "Work out for one lane the address of its element in bytes, then the number of the "
            "sector it lies in. An element never lies across two, since its size divides 32."
        ),
        (
            "Do that for all 32 lanes and count how many different numbers you have. Python has a "
            "collection that keeps each thing once."
        ),
    ),
    mistakes=(
        Mistake("counts_whole_lines", "wrong-result", "lines"),
        Mistake("counts_the_span", "wrong-result", "span"),
        Mistake("begins_at_a_border", "wrong-result", "alignment"),
        Mistake("four_bytes_for_everything", "wrong-result", "four-bytes"),
        Mistake("counts_what_is_used", "wrong-result", "only-what-is-used"),
        Mistake("one_sector_for_each_lane", "wrong-result", "one-each"),
        Mistake("eight_bytes_at_most", "wrong-result", "at-most-eight"),
    ),
    source="NVIDIA, Nsight Compute documentation, Memory Tables",
)
