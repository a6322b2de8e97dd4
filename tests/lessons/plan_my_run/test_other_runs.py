"""Models behind predictions of sealed runs: on open rows, at limits, and against each other."""

import pytest

from benchmarks.published import planner_time
from gpu_course.lessons.plan_my_run.claims import other_runs as models
from gpu_course.planner import known_runs, vtrain


@pytest.mark.parametrize("microbatches", [16, 128])
def test_the_ladder_gives_back_the_rows_it_was_made_of(microbatches):
    sequences, measured = models.MLPERF_OPEN[microbatches]
    said = models.mlperf_gpt3_tokens_per_s(
        sequences, microbatches, models.MLPERF_BUBBLE, models.MLPERF_TURN_S, 1.0
    )
    assert said == pytest.approx(measured)


def test_megascales_fixed_turns_fit_its_four_rows():
    """Each from the one of 3,072 GPUs."""
    for gpus, measured in models.MEGASCALE_OPEN.items():
        turns, known = (6144 / (each / 64) + 7 / 6 for each in (gpus, 3072))
        said = models.step_of_turns_s(23.66, turns, known, models.MEGASCALE_FIXED)
        assert said == pytest.approx(measured, rel=0.03)


def test_a_run_of_vtrain_is_the_planners_times_what_open_rows_take():
    rows = vtrain.open_rows("multi")
    run = {name: float(rows[name][3]) for name in vtrain.NAMES}
    said = models.planned_vtrain_ms(**run, reached=1.0)
    assert said == pytest.approx(1e3 * float(known_runs.vtrain_run(**run).step_s))
    assert models.planned_vtrain_ms(**run, reached=1.2) == pytest.approx(1.2 * said)
    assert said * vtrain.reached("multi")[3] == pytest.approx(rows["iteration_ms"][3])


def test_steps_and_memory_of_bigscience_are_near_its_open_rows():
    seconds, *row = planner_time.BIGSCIENCE[12]
    layers, hidden, heads, tp, pp, dp, microbatch, batch, _ = map(int, row)
    shape = {"layers": layers, "hidden": hidden, "heads": heads}
    where = {"tp": tp, "pp": pp, "dp": dp, "microbatch": microbatch}
    said = models.planned_bigscience_s(**shape, **where, global_batch=batch)
    assert said == pytest.approx(seconds, rel=0.06)
    narrow, wide = (
        models.planned_bigscience_gib(**shape, **where, wide_gradients=each, reached=1.125)
        for each in (False, True)
    )
    assert narrow == pytest.approx(44, rel=0.06)
    assert wide > narrow + 10


def test_a_rate_in_fp8_scales_with_what_open_rows_reach():
    run, measured = known_runs.FP8_OPEN[3]
    rest = {"tp": 1, "pp": 1, "cp": 1, "chunks": 1, "microbatch": 1} | run
    said = models.planned_fp8_tokens_per_s(**rest, reached=1.0)
    assert said == pytest.approx(measured, rel=0.08)
    assert models.planned_fp8_tokens_per_s(**rest, reached=0.5) == pytest.approx(said / 2)


def test_a_batch_that_does_not_grow_gains_nothing():
    assert models.batch_gain(64.875, 64, 1.0, 2.0) == pytest.approx(1.0)
    endless = models.batch_gain(64.875, 64, 1e9, 2.0)
    assert endless == pytest.approx((64.875 + 2) / 64)


def test_steps_of_as_many_turns_take_as_long():
    assert models.step_of_turns_s(40.0, 10, 10, 3) == 40.0
    assert models.fewer_turns(289.7, 24.9, 24.9, 1.0, 1.2) == pytest.approx(289.7)
    assert models.step_of_turns_s(40.0, 5, 10, 0) == 20.0


def test_what_hides_traffic_gains_what_was_shown():
    assert models.tensor_gain(876 / 829, 1.0) == pytest.approx(876 / 829)
    assert models.tensor_gain(876 / 829, 0.5) > 876 / 829
    assert models.tensor_gain(1.0, 0.5) == 1.0


def test_a_cycle_without_exchange_is_all_work():
    assert models.percent_of_cycle(2280, 0, 43.3) == 43.3
    assert models.percent_of_cycle(100, 100, 100.0) == 50.0


def test_context_parallelism_that_saves_nothing_gains_nothing():
    assert models.context_gain(0, 0.07, 1.0, 1.0, 1.0) == 1.0


def test_a_step_at_a_known_rate_is_its_flop_over_it():
    assert models.same_rate_step_s(1, 1000, 1, 1.0, 1.0) == pytest.approx(1.0)
    assert models.chips_times(100, 2, 1, 0.9) == 180
    assert models.like_other_run(100, 0.5) == 50
