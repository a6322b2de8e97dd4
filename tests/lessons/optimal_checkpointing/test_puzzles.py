"""The puzzles of lesson 18: their judges against trying everything, and nothing given away."""

from __future__ import annotations

import importlib.util
import itertools
import re

import numpy as np
import pytest

from gpu_course.lessons.optimal_checkpointing import rotor, rotor_chains
from gpu_course.lessons.optimal_checkpointing import selective_plan as selective
from gpu_course.puzzle import index
from gpu_course.puzzle.harness import Unusable
from tests.course.puzzles.in_process import ANSWERS, answer_of, imported_by, outcome, verdict

LESSON = index.lesson("optimal_checkpointing")

PUZZLES = {puzzle.short_name: puzzle for puzzle in LESSON.puzzles}


def test_the_lesson_brings_its_puzzles() -> None:
    assert list(PUZZLES) == ["schedule_peak", "best_cost", "rotor", "selective_plan"]


FOLLOWED = ("rotor", "selective_plan")


def test_the_cases_of_schedule_peak_are_decided_by_every_kind_of_operation() -> None:
    from gpu_course.measure.schedules.operations import account
    from gpu_course.measure.schedules.written import read

    puzzle, deciding = PUZZLES["schedule_peak"], set()
    for case in puzzle.cases:
        inputs = puzzle.inputs(np.random.default_rng(0), case)
        found = account(rotor_chains.chain_of(inputs["stages"]), read(inputs["schedule"]))
        deciding.add(inputs["schedule"][found.rises.index(found.peak)][0])
    assert deciding == {"forward", "keep input", "save all", "backward"}


@pytest.mark.parametrize("module", sorted(ANSWERS))
def test_what_holds_an_answer_is_where_a_harness_is_kept_from_it(module: str) -> None:
    assert importlib.util.find_spec(module) is not None


@pytest.mark.parametrize("name", FOLLOWED)
def test_a_harness_imports_no_plan(name: str) -> None:
    assert not ANSWERS & imported_by(PUZZLES[name].harness)


def test_rotors_real_chains_are_measured_and_stay_within_their_budget() -> None:
    puzzle = PUZZLES["rotor"]
    real = [case for case in puzzle.cases if case.name in rotor.REAL]
    assert len(real) == len(rotor.REAL) == 3
    for case in real:
        inputs = puzzle.inputs(np.random.default_rng(4), case)
        assert inputs["chain"] == rotor.REAL[case.name]
        assert len(inputs["stages"]) == case.sizes["stages"]
        got = outcome(puzzle, answer_of(puzzle), inputs)
        budget = inputs["arguments"][1] * inputs["slot_bytes"]
        assert 0 < got["peak_bytes"] <= budget
        got["peak_bytes"] = budget + 1
        assert puzzle.judge is not None
        finding = puzzle.judge(inputs, case, got)
        assert finding is not None and finding.key == "too-much-memory"


def test_rotors_chains_by_hand_have_what_they_are_for() -> None:
    """A plain forward pass needs more room at some stage than saving and going back there."""
    stages = rotor_chains.by_hand("room to run forward")
    assert any(
        stage["output_gradient_bytes"] + stage["forward_bytes"]
        > max(
            stage["output_gradient_bytes"] + stage["forward_saving_bytes"],
            stage["output_gradient_bytes"]
            + stage["saved_bytes"]
            + stage["output_bytes"]
            + stage["backward_bytes"],
        )
        for stage in stages
    )


def test_a_schedule_over_its_memory_is_told_the_operation_and_the_chain() -> None:
    puzzle = PUZZLES["rotor"]
    case = next(c for c in puzzle.cases if c.name == "the batch takes nothing")
    inputs = puzzle.inputs(np.random.default_rng(0), case)
    got = outcome(puzzle, answer_of(puzzle, "keeps_everything"), inputs)
    assert puzzle.judge is not None and puzzle.call is not None
    finding = puzzle.judge(inputs, case, got)
    assert finding is not None
    assert finding.fact == "operation 3 (save all 3) rises to 14; the memory is 12"
    assert puzzle.call(inputs).startswith("rotor(stages, 12) where each stage is (output, saved,")
    assert puzzle.call(inputs).endswith("(2, 1, 6, 3, 1, 3; 1, 2)")


def test_a_schedule_that_is_too_expensive_is_told_how_often_stages_run() -> None:
    puzzle = PUZZLES["rotor"]
    case = next(c for c in puzzle.cases if c.name == "the batch takes nothing")
    inputs = puzzle.inputs(np.random.default_rng(0), case)
    got = outcome(puzzle, answer_of(puzzle, "never_saves_ahead"), inputs)
    assert puzzle.judge is not None
    finding = puzzle.judge(inputs, case, got)
    assert finding is not None
    own, best = re.findall(r"\d+(?:, \d+){4}", finding.fact)
    assert own != best


def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    puzzle = PUZZLES["selective_plan"]
    case = puzzle.cases[0]
    inputs = puzzle.inputs(np.random.default_rng(0), case)
    answer = answer_of(puzzle)
    right = answer.selective_plan
    for kind in (np.array, lambda chosen: {np.int64(n) for n in chosen}, tuple):
        answer.selective_plan = lambda products, budget, kind=kind: kind(right(products, budget))
        assert verdict(puzzle, answer, case) is None
    answer.selective_plan = lambda products, budget: [np.True_]
    with pytest.raises(Unusable, match="among the numbers of products"):
        outcome(puzzle, answer, inputs)


def test_the_least_flop_run_again_are_those_of_trying_every_choice() -> None:
    rng = np.random.default_rng(3)
    for _ in range(30):
        products = [
            {"bytes": int(rng.integers(1, 20)), "flops": int(rng.integers(1, 99))} for _ in range(7)
        ]
        budget = int(rng.integers(0, 60))
        best = max(
            sum(product["flops"] for product in chosen)
            for size in range(8)
            for chosen in itertools.combinations(products, size)
            if sum(product["bytes"] for product in chosen) <= budget
        )
        total = sum(product["flops"] for product in products)
        assert selective._least_again(products, budget) == total - best
