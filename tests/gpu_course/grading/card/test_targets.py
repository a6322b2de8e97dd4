"""The table of targets, and what a record makes of it."""

from __future__ import annotations

import dataclasses

import pytest

from gpu_course.errors import CatalogueError
from gpu_course.grading.card import targets
from gpu_course.grading.card.large import large_case
from gpu_course.grading.card.library import CALLS
from gpu_course.grading.card.targets import kind_of, kinds, read_kinds, standing
from gpu_course.hardware.records import Timing
from gpu_course.puzzle import KernelPuzzle, index

FIRST = {  # the targets that were set before anything was timed
    "streaming": ("copy", 0.90),
    "AdamW": ("copy", 0.85),
    "transpose": ("copy", 0.80),
    "reduction": ("copy", 0.80),
    "scan, in three launches": ("copy", 0.55),
    "scan, in one launch": ("copy", 0.65),
    "norm or softmax": ("copy", 0.75),
    "decode": ("copy", 0.60),
    "int4": ("copy", 0.60),
    "matmul, a thread for each result": ("library", 0.10),
    "matmul, through tiles": ("library", 0.15),
    "matmul, in registers": ("library", 0.30),
    "matmul, with wide loads": ("library", 0.45),
    "attention": ("library", 0.20),
}
TIMING = Timing(
    puzzle="06_matmul/matmul_register",
    gpu="card",
    device="Card",
    driver=None,
    date="2026-11-26",
    sizes={"m": 1},
    seconds=0.010,
    low_s=0.010,
    high_s=0.010,
    least_bytes=900,
    copy_bytes_per_s=100_000.0,
)


def test_a_target_is_lowered_by_no_measurement() -> None:
    assert {kind.name: (kind.of, kind.share) for kind in kinds()} == FIRST


@pytest.mark.parametrize("name", [name for kind in kinds() for name in kind.puzzles])
def test_a_puzzle_with_a_target_can_be_timed(name: str) -> None:
    puzzle = index.find(name)
    assert isinstance(puzzle, KernelPuzzle) and puzzle.short_name == name
    assert large_case(puzzle, 1 << 16) is not None
    kind = kind_of(puzzle.name)
    assert kind is not None and (kind.of == "copy" or name in CALLS)


def test_what_a_record_comes_to() -> None:
    copied = dataclasses.replace(TIMING, puzzle="01_threads/blocks")
    found = standing("01_threads/blocks", copied)
    assert found is not None
    assert (found.state, found.reached) == (targets.REACHED, pytest.approx(0.9))
    slower = dataclasses.replace(copied, seconds=0.011)
    assert standing("01_threads/blocks", slower).state == targets.SHORT  # type: ignore[union-attr]
    assert standing("01_threads/blocks", None).state == targets.NEVER_RUN  # type: ignore[union-attr]
    assert standing("01_threads/guard", None) is None


def test_a_product_is_held_against_the_library() -> None:
    name = TIMING.puzzle
    assert standing(name, TIMING).state == targets.NO_LIBRARY  # type: ignore[union-attr]
    for library_seconds, state in ((0.003, targets.REACHED), (0.0029, targets.SHORT)):
        timing = dataclasses.replace(TIMING, library="torch.mm", library_seconds=library_seconds)
        found = standing(name, timing)
        assert found is not None and found.state == state
        assert found.reached == pytest.approx(library_seconds / 0.010)


ONE = '[[kind]]\nname = "a"\nof = "copy"\nshare = 0.5\npuzzles = ["x"]\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ONE.replace("0.5", "1.5"), "the share of a is not between 0 and 1"),
        (ONE.replace('"copy"', '"cublas"'), "Invalid enum value 'cublas'"),
        (ONE + ONE, "has x twice"),
        (ONE + "more = 3\n", "unknown field"),
        ("", "targets.toml"),
    ],
)
def test_a_table_of_another_form_is_refused(text: str, words: str) -> None:
    with pytest.raises(CatalogueError, match=words):
        read_kinds(text)
