"""What is particular to the puzzles of lesson 29."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from gpu_course.grading.check import check
from gpu_course.lessons.meshes import one_step
from gpu_course.lessons.meshes.coords import COORDS
from gpu_course.lessons.meshes.coords import right as right_place
from gpu_course.lessons.meshes.groups import GROUPS
from gpu_course.lessons.meshes.orders import drawn
from gpu_course.lessons.meshes.placement import PLACEMENT, best, right_bytes
from gpu_course.measure.every_axis.configuration import Configuration, Shape
from gpu_course.puzzle import index
from gpu_course.puzzle.specification import PythonPuzzle
from tests.course.puzzles.by_hand import SOLUTIONS
from tests.course.puzzles.python_rules import cases_and_random

LESSON = index.lesson("meshes")
PLAIN = (COORDS, GROUPS, PLACEMENT)


def test_the_lesson_is_found_by_its_number_and_its_topic() -> None:
    assert index.lesson("29") is index.lesson("meshes")
    assert [puzzle.short_name for puzzle in LESSON.puzzles] == [
        "coords", "groups", "placement", "one_model_every_axis",
    ]  # fmt: skip


@pytest.mark.parametrize("puzzle", LESSON.puzzles, ids=lambda puzzle: puzzle.short_name)
def test_every_diagnosis_belongs_to_a_mistake(puzzle: PythonPuzzle) -> None:
    own = {mistake.diagnosis for mistake in puzzle.mistakes}
    # Only who sends or keeps something of their own gets there.
    assert set(puzzle.diagnoses) - own <= {"wire-differs", "held-differs"}


@pytest.mark.parametrize("puzzle", PLAIN, ids=lambda puzzle: puzzle.short_name)
@pytest.mark.parametrize("seed", range(3))
def test_a_solution_passes_whatever_is_drawn(puzzle: PythonPuzzle, seed: int) -> None:
    verdict = check(puzzle, answer=SOLUTIONS / f"{puzzle.name}.py", seed=seed)
    assert verdict.passed, verdict.message


def test_places_are_counted_through_as_the_statement_says() -> None:
    """The first axis changes with every rank, the second when the first has been gone through."""
    rng = np.random.default_rng(29)
    for _ in range(20):
        given = drawn(rng)
        sizes = [given.sizes.get(axis, 1) for axis in given.order]
        through = itertools.product(*(range(size) for size in reversed(sizes)))
        for rank, places in enumerate(through):
            expected = dict(zip(given.order, reversed(places), strict=True))
            assert right_place(("coords", rank, *given.arguments)) == expected


def test_a_best_order_is_the_best_of_all_counted_message_by_message() -> None:
    """Brute force in plain Python, for every case and some that are drawn: up to 64 ranks."""
    for case in cases_and_random(PLACEMENT, draws=3):
        inputs = PLACEMENT.inputs(np.random.default_rng(1), case)
        sizes, traffic, node, rack = inputs["calls"]["order"][0][1:]
        found = []
        for order in itertools.permutations(sizes):
            cost = _message_by_message(order, sizes, traffic, node, rack)
            assert right_bytes(order, sizes, traffic, node, rack) == tuple(cost)
            found.append([cost[2], cost[1]])
        assert best(inputs) == min(found)


def _message_by_message(
    order: tuple[str, ...],
    sizes: dict[str, int],
    traffic: dict[str, tuple[str, int]],
    node: int,
    rack: int,
) -> list[int]:
    places = [
        dict(zip(reversed(order), at, strict=True))
        for at in itertools.product(*(range(sizes[axis]) for axis in reversed(order)))
    ]
    cost = [0, 0, 0]
    for (one, here), (other, there) in itertools.permutations(enumerate(places), 2):
        differing = [axis for axis in order if here[axis] != there[axis]]
        if len(differing) != 1:
            continue
        (axis,) = differing
        pattern, sent = traffic[axis]
        step = there[axis] - here[axis]
        talks = {"ring": step % sizes[axis] == 1, "line": abs(step) == 1}.get(pattern, True)
        if not talks:
            continue
        if pattern == "all to all":
            sent //= sizes[axis] - 1
        far = int(one // node != other // node) + int(one // node // rack != other // node // rack)
        cost[far] += sent
    return cost


def test_what_a_step_sends_is_the_sum_of_its_reasons() -> None:
    shape = Shape()
    for line, reasons in {
        "": set(), "dp=2": {"gradients"}, "dp=3 zero3": {"zero3"}, "tp=2": {"gradients", "tp"},
        "cp=2": {"gradients", "cp"}, "ep=2": {"gradients", "ep"}, "pp=2": {"gradients", "pp"},
    }.items():  # fmt: skip
        sent = one_step.sent_bytes(Configuration.read(line), shape, 0)
        assert {reason for reason, size in sent.items() if size} == reasons


def test_sequence_parallelism_sends_what_tensor_parallelism_does() -> None:
    plain, cut = (
        one_step.sent_bytes(Configuration(tp=4, sp=sp), Shape(), 0) for sp in (False, True)
    )
    assert plain["tp"] == cut["tp"]
    assert cut["gradients"] > plain["gradients"], "of the norms and the tables"


def test_zero3_sends_three_weights_where_all_reduce_sends_two() -> None:
    """For one microbatch, but for filling up and for the table that is used twice."""
    shape = Shape(microbatches=1)
    plain = one_step.sent_bytes(Configuration(dp=2), shape, 0)["gradients"]
    table = 8 * shape.vocabulary * shape.hidden
    sliced = one_step.sent_bytes(Configuration(dp=2, zero3=True), shape, 0)["zero3"]
    assert math.isclose(sliced - 3 * table / 2, 3 / 2 * plain)


def test_a_value_error_that_is_no_refusal_is_shown_with_its_line(tmp_path: Path) -> None:
    text = (SOLUTIONS / "29_meshes" / "groups.py").read_text(encoding="utf-8")
    path = tmp_path / "groups.py"
    path.write_text(text.replace("stride = [[0]], 1", 'stride = [[0]], int("one")'))
    line = 1 + path.read_text().splitlines().index('    found, stride = [[0]], int("one")')
    verdict = check("groups", answer=path, seed=0)
    said = " ".join(verdict.message.split())
    assert f"prints: (a ValueError in line {line}: invalid literal for int()" in said
    path.write_text(text)
    verdict = check("groups", answer=path, seed=0)
    assert verdict.passed and "prints" not in verdict.message
