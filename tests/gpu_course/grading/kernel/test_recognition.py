"""A wrong kernel's result is known by the mistake that gives the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course.grading.check import check
from gpu_course.puzzle import index, room
from simt.kernel import source

ANSWER = """
from numba import cuda


@cuda.jit
def gather(out, table, index, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = {gathered}


@cuda.jit
def gather_reversed(out, tape, size):
    i = cuda.grid(1)
    if i < {reached}:
        out[i] = tape[size - 1 - i]


@cuda.jit
def gather_shifted(out, tape, shift, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = tape[{source} % size]
"""
RIGHT = {"gathered": "table[index[i]]", "reached": "size", "source": "(i - shift)"}


def diagnosis(folder: Path, **changes: str) -> str | None:
    file = folder / "gather.py"
    file.write_text(ANSWER.format(**RIGHT | changes), encoding="utf-8")
    module = source.load(file)
    kernels = {name: module.kernel(name) for name in module.functions}
    return check("gather", answer=kernels, seed=0).diagnosis


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({}, None),
        ({"source": "(i + shift)"}, "shifted-to-the-left"),
        # Cells that nobody wrote are part of what is compared.
        ({"reached": "size // 2"}, "half-reversed"),
        ({"reached": "size // 2 + 1"}, "tail-unwritten"),
        # Two are wrong: told is the first output, by the mistake that is wrong in it alone.
        ({"reached": "size // 2", "source": "(i + shift)"}, "half-reversed"),
        ({"source": "(i * shift)"}, "wrong"),
    ],
)
def test_the_mistake_that_gives_the_same_is_the_diagnosis(
    tmp_path: Path, changes: dict[str, str], key: str | None
) -> None:
    assert diagnosis(tmp_path, **changes) == key


def test_a_mistake_that_was_wrong_before_is_not_named(tmp_path: Path) -> None:
    """In the last case alone it shifts to the other side; no mistake begins there."""
    sizes = [case.sizes["size"] for case in index.find("gather").cases]  # type: ignore[union-attr]
    last = next(size for size in reversed(sizes) if size not in sizes[: sizes.index(size)])
    source = f"(i + shift if size == {last} else i - shift)"
    assert diagnosis(tmp_path, source=source) not in ("shifted-to-the-left", None)


def test_without_the_solutions_of_a_checkout_the_general_patterns_remain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = {"gathered": "table[i]"}
    assert diagnosis(tmp_path, reached="size // 2") == "half-reversed"
    assert diagnosis(tmp_path, **changes) == "copied-input"
    monkeypatch.setattr(room, "solutions_folder", lambda: tmp_path)
    room.mistakes_of.cache_clear()
    try:
        assert diagnosis(tmp_path, reached="size // 2") == "tail-unwritten"
        assert diagnosis(tmp_path, **changes) == "copied-input"
    finally:
        room.mistakes_of.cache_clear()
