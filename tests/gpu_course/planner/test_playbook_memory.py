"""The planner's memory beside the Playbook's runs: aims that it reaches, and how they are measured.

The aim that nine in ten be within 20 % with nothing inferred is missed: a third of the runs with
tensor parallelism ran in another mode than the one taken, and no one mode can be right for both.
"""

import itertools

import numpy as np
import pytest

from gpu_course.planner.memory import NANOTRON, memory
from gpu_course.planner.playbook import MODES, playbook_runs
from gpu_course.planner.playbook_memory import (
    area_under_curve,
    ended_runs,
    errors,
    infer_modes,
    predicted_gib,
)
from gpu_course.units import GIB


@pytest.fixture(scope="module")
def measured():
    return np.array([run.peak_gib for run in ended_runs()], dtype=float)


def test_with_nothing_inferred_half_are_within_8_percent(measured):
    half, _ = errors(predicted_gib(ended_runs()), measured)
    assert half < 0.08


def test_with_the_mode_inferred_half_are_within_5_and_nine_in_ten_within_13_percent(measured):
    found = infer_modes(ended_runs())
    half, most = errors(np.array([each.gib for each in found]), measured)
    assert half < 0.05 and most < 0.13


def test_without_tensor_parallelism_there_is_no_mode_and_no_miss(measured):
    alone = [run for run in ended_runs() if run.tp == 1 and run.step.sequences == run.batch]
    half, most = errors(predicted_gib(alone), np.array([run.peak_gib for run in alone]))
    assert half < 0.05 and most < 0.13
    peaks = [predicted_gib(alone, mode) for mode in MODES]
    assert all((each == peaks[0]).all() for each in peaks)


def test_two_stages_ran_in_one_mode_as_their_script_says():
    """Its last version asks for pp 2 with REDUCE_SCATTER alone."""
    found = infer_modes([run for run in ended_runs() if run.pp == 2 and run.tp >= 8])
    assert sum(each.mode == MODES[0] for each in found) > 0.9 * len(found)
    others = infer_modes([run for run in ended_runs() if run.pp in (1, 8) and run.tp >= 8])
    assert sum(each.mode == MODES[0] for each in others) < 0.6 * len(others)


def test_failures_are_told_from_fits():
    runs = playbook_runs()
    scores, failed = predicted_gib(runs, fullest=True), np.array([run.failed for run in runs])
    deep = np.array([run.shape.layers > run.pp for run in runs])
    assert area_under_curve(scores[deep], failed[deep]) > 0.97
    assert area_under_curve(scores, failed) > 0.93


def test_the_same_layout_in_25_38_and_40_gib_is_told_apart_by_its_mode():
    """1.34B with tp 8 and 16 sequences, no ZeRO: memory cannot depend on dp but by buckets."""
    like = [
        run
        for run in ended_runs()
        if (run.model, run.tp, run.pp, run.microbatch, run.zero) == ("1.34B", 8, 1, 16, 0)
    ]
    assert sorted(run.peak_gib for run in like) == [25.7, 38.3, 40.2]
    found = {each.run.peak_gib: each for each in infer_modes(like)}
    assert found[25.7].mode == MODES[0]
    assert found[38.3].mode != MODES[0] and found[40.2].mode != MODES[0]


def test_many_at_once_are_as_each_alone():
    runs = playbook_runs()[::37]
    for mode in MODES:
        each = [memory(r.shape, r.layout(mode), r.step, NANOTRON) for r in runs]
        right = [found.stages[0].bytes / GIB for found in each]
        np.testing.assert_allclose(predicted_gib(runs, mode), right)
        right = [found.bytes / GIB for found in each]
        np.testing.assert_allclose(predicted_gib(runs, mode, fullest=True), right)


def test_area_under_curve_counts_pairs():
    rng = np.random.default_rng(3)
    for _ in range(20):
        scores, positive = rng.integers(0, 6, 14) * 1.0, rng.random(14) < 0.4
        positive[:2] = True, False
        pairs = list(itertools.product(scores[positive], scores[~positive]))
        right = sum((a > b) + (a == b) / 2 for a, b in pairs) / len(pairs)
        assert area_under_curve(scores, positive) == pytest.approx(right)
