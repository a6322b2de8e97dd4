"""How near the planner's step comes to published runs: the aims, held.

One line of the table misses its aim: torchtitan's 70B over its 8B. It is held to missing it, so
that nobody takes it for met.
"""

import numpy as np
import pytest

from benchmarks.published import planner_time
from gpu_course.planner import known_runs, playbook_time, vtrain
from gpu_course.planner.layer_time import layer_time
from gpu_course.planner.layout import Layout
from gpu_course.planner.machines import A100
from gpu_course.planner.playbook_memory import ended_runs
from gpu_course.planner.programs import MEGATRON
from gpu_course.planner.step_time import ring_s

RUNS = ended_runs()


@pytest.mark.parametrize(
    ("errors", "aim"),
    [
        (planner_time.korthikanti, 0.04),
        (planner_time.narayanan, 0.07),
        (lambda: 1 / vtrain.reached("single") - 1, 0.084),
        (lambda: 1 / vtrain.reached("multi") - 1, 0.065),
        (planner_time.bigscience, 0.05),
        (planner_time.fp8, 0.06),
    ],
    ids=["Korthikanti", "Narayanan", "vTrain one node", "vTrain several", "BigScience", "FP8"],
)
def test_the_mean_error_is_under_its_aim(errors, aim):
    assert np.abs(errors()).mean() < aim


def test_one_rate_of_an_h100_gives_all_of_llama_3s_table():
    assert np.abs(planner_time.llama3()).max() < 0.05


def test_two_sizes_of_the_ladder_give_the_third():
    assert abs(planner_time.mlperf()) < 0.02


def test_ratios_of_torchtitan_are_near_and_one_is_not():
    found = planner_time.torchtitan()
    far = found.pop("70B / 8B")
    assert max(abs(each) for each in found.values()) < 0.10
    assert far < -0.10


def test_the_playbooks_healthy_runs():
    kept = playbook_time.healthy(RUNS)
    off = np.abs(playbook_time.predicted_s(RUNS) / playbook_time.measured_s(RUNS) - 1)
    assert kept.sum() > 600
    assert np.median(off[kept]) < 0.14
    cells = playbook_time.cells(RUNS)
    assert len(cells) == 26
    assert playbook_time.mean_rank(cells) > 0.9
    assert playbook_time.good_choices(cells) >= 22


def test_a_run_far_slower_than_its_twin_is_no_healthy_one():
    kept = dict(zip(RUNS, playbook_time.healthy(RUNS), strict=True))
    sick = next(run for run in RUNS if round(run.tokens_per_s_gpu or 0) == 217 and run.zero == 0)
    assert not kept[sick]


def test_the_rule_does_not_ask_the_order_of_runs():
    kept = playbook_time.healthy(RUNS)
    assert (playbook_time.healthy(RUNS[::-1])[::-1] == kept).all()


@pytest.mark.parametrize(
    ("spread", "forward_ms", "backward_ms"), [(False, 7.7, 11.9), (True, 7.2, 11.8)]
)
def test_a_layer_takes_what_korthikanti_measured(spread, forward_ms, backward_ms):
    """Table 4, the layer of 22B on eight A100: nothing recomputed, without and with SP."""
    layout = Layout(tp=8, microbatch=4, flash=False, sequence_parallel=spread)
    work = layer_time(known_runs.gpt(48, 6144, 64), layout, 2048, A100, MEGATRON)
    sent = 4 * float(ring_s(2 * 4 * 2048 * 6144, 8, 8, A100))
    assert 1e3 * (float(work.forward) + sent) == pytest.approx(forward_ms, rel=0.04)
    assert 1e3 * (float(work.backward) + sent) == pytest.approx(backward_ms, rel=0.08)


def test_among_sick_runs_fewer_choices_are_good():
    """The planner does not know which runs are sick: what the rule is worth is said too."""
    healthy, all_of_them = (
        playbook_time.good_choices(playbook_time.cells(RUNS, among_sick=each))
        for each in (False, True)
    )
    assert all_of_them < healthy


def test_each_line_of_the_table_has_an_aim_or_none_was_set():
    rows = planner_time.rows()
    assert all(len(row) == 3 for row in rows)
    assert len({what for what, _, _ in rows}) == len(rows)


def test_the_recomputed_flop_of_table_1_are_the_papers():
    """Its rates count 96 B s l h^2 (...): four passes of the layers, and three of the head."""
    row = {"heads": 96, "hidden": 12288, "layers": 80, "tp": 8, "pp": 8}
    row |= {"gpus": 1536, "global_batch": 2304}
    run = known_runs.narayanan_run(**row)
    hardware = run.model.training_flop(2048, "layers")[1]
    counted = known_runs.narayanan_teraflops(**row) * 1e12 * 1536 * float(run.step_s)
    assert counted / (2304 * 2048) == pytest.approx(hardware, rel=1e-3)


def test_columns_of_runs_are_the_runs_one_by_one():
    row = {name: vtrain.open_rows("multi")[name][7] for name in vtrain.NAMES}
    alone = float(known_runs.vtrain_run(**row).step_s)
    together = known_runs.vtrain_run(
        **{name: vtrain.open_rows("multi")[name] for name in vtrain.NAMES}
    ).step_s
    assert together[7] == pytest.approx(alone)
