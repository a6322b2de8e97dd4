"""What is particular to the puzzles of lesson 30."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from gpu_course.grading.check import check
from gpu_course.lessons.plan_my_run import stage_bytes, step_parts, sweeps
from gpu_course.lessons.plan_my_run.predict_memory import ODD
from gpu_course.lessons.plan_my_run.search import KNOWN, REGRET, most_runs
from gpu_course.lessons.plan_my_run.trainings import (
    A100,
    KORTHIKANTI,
    Training,
    batch_of,
    drawn,
    layout_of,
    machine_of,
    model_of,
)
from gpu_course.measure.state_formulas import MEGATRON_ADAM
from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.planner.layout import Batch, Layout
from gpu_course.planner.memory import FORMULAS, memory
from gpu_course.planner.playbook import MODELS, playbook_runs
from gpu_course.puzzle import index
from gpu_course.puzzle.specification import PythonPuzzle
from tests.course.puzzles.by_hand import SOLUTIONS

LESSON = index.lesson("plan_my_run")
STUBS = SOLUTIONS.parent / "puzzles"


def test_the_lesson_is_found_by_its_number_and_its_topic() -> None:
    assert index.lesson("30") is index.lesson("plan_my_run")
    names = [puzzle.short_name for puzzle in LESSON.puzzles]
    assert names == ["predict_memory", "predict_step_time", "search"]


@pytest.mark.parametrize("puzzle", LESSON.puzzles, ids=lambda puzzle: puzzle.short_name)
@pytest.mark.parametrize("seed", range(3))
def test_a_solution_passes_whatever_is_drawn(puzzle: PythonPuzzle, seed: int) -> None:
    verdict = check(puzzle, answer=SOLUTIONS / f"{puzzle.name}.py", seed=seed)
    assert verdict.passed, verdict.message


@pytest.mark.parametrize("puzzle", LESSON.puzzles, ids=lambda puzzle: puzzle.short_name)
def test_every_diagnosis_belongs_to_a_mistake(puzzle: PythonPuzzle) -> None:
    own = {mistake.diagnosis for mistake in puzzle.mistakes}
    assert set(puzzle.diagnoses) == own


def _planned(training: Training, flash: bool) -> list[dict[str, float]]:
    """The planner's entries for a training of ours, stage by stage."""
    given, layout = dict(training.model), training.layout
    shape = Transformer(
        given["layers"], given["hidden"], given["heads"], kv_heads=given["kv_heads"],
        head_size=given["head_size"], mlp=given["mlp"], gated=given["matrices"] == 3,
        experts=given["experts"], top_k=given["top_k"], vocabulary=given["vocabulary"],
        tied=given["tied"],
    )  # fmt: skip
    planned = Layout(
        dp=layout["dp"], tp=layout["tp"], pp=len(layout["stages"]), ep=layout["ep"],
        zero=layout["zero"], sequence_parallel=layout["sp"], recompute=layout["recompute"],
        microbatch=training.batch["microbatch"], recipe=MEGATRON_ADAM,
        split=tuple(layout["stages"]), flash=flash,
    )  # fmt: skip
    batch = Batch(training.batch["sequences"], training.batch["sequence"])
    return [dict(stage.entries) for stage in memory(shape, planned, batch, FORMULAS).stages]


@pytest.mark.parametrize("seed", range(12))
def test_states_are_those_of_the_planner(seed: int) -> None:
    """Two ledgers, written apart. The planner's layer norms have a shift, ours a scale alone."""
    training = drawn(np.random.default_rng([30, seed]))
    model, layout = training.model, training.layout
    for stage, entries in enumerate(_planned(training, flash=False)):
        theirs = sum(entries[name] for name in ("parameters", "gradients", "optimizer states"))
        ours = stage_bytes.state_bytes(model, layout, stage)
        # At their most, the shifts: two norms of each layer and the last one, whole on each GPU.
        shifts = 18 * (2 * layout["stages"][stage] + 1) * model["hidden"]
        assert ours - 1 <= theirs <= ours + shifts + 1


@pytest.mark.parametrize("run", KORTHIKANTI)
@pytest.mark.parametrize("sp", [False, True])
@pytest.mark.parametrize("recompute", ["none", "selective"])
def test_activations_of_korthikanti_are_those_of_the_planner(
    run: str, sp: bool, recompute: str
) -> None:
    training = KORTHIKANTI[run]
    layout = {**training.layout, "sp": sp, "recompute": recompute}
    training = Training(training.model, layout, training.batch)
    stages = len(layout["stages"])
    for stage, entries in enumerate(_planned(training, flash=False)):
        if stage == stages - 1:
            continue  # what logits and a layer's buffers share is the planner's own
        ours = stage_bytes.activation_bytes(training.model, layout, training.batch, stage)
        theirs = entries["activations"] + entries["stage ends"]
        assert math.isclose(ours, theirs, rel_tol=1e-9)


def test_activations_of_a_layer_are_the_papers() -> None:
    """sbh (34 + 5as/h), and what tp, sp and recomputation leave of it: Table 2."""
    s, h, a, t = 2048, 12_288, 96, 8
    model = model_of(1, h, a)
    scores = 5 * a * s / h
    for layout, expected in (
        ({}, 34 + scores),
        ({"tp": t}, 10 + 24 / t + scores / t),
        ({"tp": t, "sp": True}, 34 / t + scores / t),
        ({"tp": t, "recompute": "selective"}, 10 + 24 / t),
        ({"tp": t, "sp": True, "recompute": "selective"}, 34 / t),
        ({"tp": t, "recompute": "full"}, 2),
    ):
        found = stage_bytes.layer_bytes_of_token(model, layout_of([1], **layout), s)
        assert math.isclose(found, expected * h)


def test_each_odd_training_has_one_fault() -> None:
    for listed in ODD.values():
        for training in listed:
            assert stage_bytes.illegal(training.model, training.layout, training.batch)
    for seed in range(20):
        good = drawn(np.random.default_rng(seed))
        assert stage_bytes.illegal(good.model, good.layout, good.batch) == ""


def test_a_step_is_the_pipeline_run_event_by_event() -> None:
    """Fill and drain with equal stages, no sends and one replica: every stage waits p - 1 turns."""
    model = model_of(8, 64, 4, vocabulary=1)
    layout, batch = layout_of([2, 2, 2, 2]), batch_of(6, 1, 32)
    machine = machine_of(1e12, 1e30, 1e30)
    found = step_parts.step_seconds(model, layout, batch, machine)
    turn = found["compute"] / 6
    ends = [[0.0] * 6 for _ in range(4)]
    for stage in range(4):
        for number in range(6):
            ready = ends[stage - 1][number] if stage else 0.0
            free = ends[stage][number - 1] if number else 0.0
            ends[stage][number] = max(ready, free) + turn
    assert math.isclose(found["step"], ends[-1][-1], rel_tol=1e-3), "the head is one row"


def test_cards_of_a_node_share_out_a_group() -> None:
    machine = machine_of(1e12, 100.0, 10.0, node=8)
    for ranks, apart, rate in ((8, 1, 100), (16, 1, 80), (4, 8, 10), (4, 4, 20), (2, 16, 10)):
        assert step_parts.ring_rate(ranks, apart, machine) == rate
    assert step_parts.all_reduce_seconds(80.0, 1, 1, machine) == 0


def test_a_floor_is_below_every_measured_step() -> None:
    """For all 848 runs of the Playbook that ended: otherwise pruning by it would be wrong."""
    cells = {(run.model, run.nodes) for run in playbook_runs() if run.tokens_per_s}
    seen = 0
    for name, nodes in sorted(cells):
        sweep = sweeps.playbook_sweep(name, nodes, 80.0)
        for layout, measured in zip(sweep.layouts, sweep.measured_s, strict=True):
            assert sweeps.floor_s(layout) <= measured
            seen += 1
    assert seen > 840
    assert set(MODELS) == {name for name, _ in cells}


@pytest.mark.parametrize("name", KNOWN)
def test_the_best_first_needs_no_more_runs_than_it_has(name: str) -> None:
    sweep = KNOWN[name]
    pairs = [(number, sweeps.floor_s(sweep.layouts[number])) for number in sweep.fitting]
    found = sweeps.tried(sweep, sorted(pairs, key=lambda pair: pair[1]))
    assert found.runs <= most_runs(sweep)
    if sweep.fitting:
        by_hand = min(sweep.measured_s[number] for number in sweep.fitting)
        assert found.found_s == by_hand == sweep.best_s


def test_running_all_that_fits_is_refused_somewhere_by_far() -> None:
    most = max(len(sweep.fitting) - most_runs(sweep) for sweep in KNOWN.values())
    assert most > 50
    assert 0 < REGRET < 0.02


def test_the_machine_of_a_case_reaches_no_more_than_its_sheet() -> None:
    assert A100["flop_per_s"] < 312e12


def test_a_part_that_is_not_written_yet_is_said_to_give_nothing(tmp_path: Path) -> None:
    stub = (STUBS / "30_plan_my_run" / "predict_step_time.py").read_text(encoding="utf-8")
    answer = tmp_path / "predict_step_time.py"
    done = stub.replace("    # your code here (about 30 lines)\n    pass", "    return {}")
    answer.write_text(done, encoding="utf-8")
    verdict = check("predict_step_time", answer=answer, seed=0)
    assert verdict.diagnosis == "missing-output", verdict.message


@pytest.mark.parametrize("name", ["predict_memory", "predict_step_time"])
def test_a_wrong_part_is_spoken_of_before_the_form_of_the_whole(name: str, tmp_path: Path) -> None:
    puzzle = index.find(name)
    heads = [f"def {each}({', '.join(names)}):" for each, names in puzzle.parameters.items()]
    answer = tmp_path / f"{name}.py"
    answer.write_text("\n".join(f"{head}\n    return 12.5\n" for head in heads), encoding="utf-8")
    verdict = check(name, answer=answer, seed=0)
    assert verdict.diagnosis == "wrong", verdict.message


def test_an_argument_of_a_call_that_was_changed_is_called_by_its_name(tmp_path: Path) -> None:
    text = (SOLUTIONS / "30_plan_my_run" / "predict_memory.py").read_text(encoding="utf-8")
    answer = tmp_path / "predict_memory.py"
    called = "def state_bytes(model, layout, stage):\n"
    emptied = text.replace(called, f'{called}    layout["stages"].append(0)\n')
    answer.write_text(emptied, encoding="utf-8")
    verdict = check("predict_memory", answer=answer, seed=0)
    assert verdict.reason == "input-changed"
    assert verdict.message.startswith("the input layout was changed: was {")
