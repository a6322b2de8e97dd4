"""Plans, their words and what they come to; the search's page; the chain."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from gpu_course.claims.published import rows
from gpu_course.errors import CourseError
from gpu_course.lessons.plan_my_run import chain, peaks, shows
from gpu_course.lessons.plan_my_run.export import FRAMEWORKS
from gpu_course.lessons.plan_my_run.pictures import KINDS, PARTS, kinds_of
from gpu_course.lessons.plan_my_run.plans import (
    MACHINES,
    MODELS,
    Between,
    Plan,
    Run,
)
from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.planner.step_time import StepTime

RUN = Run.of()


@pytest.mark.parametrize(
    ("name", "billions"),
    [("Llama 3 8B", 8.03), ("Llama 3 70B", 70.6), ("Llama 3 405B", 405.8), ("GPT-3 175B", 174.6),
     ("Mixtral 8x7B", 46.7)],
)  # fmt: skip
def test_models_are_as_large_as_their_names_say(name: str, billions: float) -> None:
    assert MODELS[name].parameters / 1e9 == pytest.approx(billions, rel=0.002)


def test_a_spread_has_two_digits() -> None:
    assert Between(1234.0, 1876.0).said("MWh") == "1,200 to 1,900 MWh"
    assert Between(9.96, 12.3).said() == "10 to 12"
    assert Between(0.0, math.inf).said() == "0.0 to inf"


def test_what_a_run_comes_to_is_its_step_and_its_hours() -> None:
    plan = Plan.of(RUN, tp=8, pp=4, zero=1)
    days = plan.step_s * RUN.steps / 86_400
    assert plan.days(1.0).low < days < plan.days(1.0).high
    assert plan.days(0.5).low == pytest.approx(2 * plan.days(1.0).low)
    hours = plan.gpu_hours(1.0)
    assert hours.low == pytest.approx(plan.days(1.0).low * 24 * 1024)
    assert plan.cost(2.0, 1.0).high == pytest.approx(2 * hours.high)
    energy = plan.megawatt_hours(1.0)
    assert energy.low == pytest.approx(hours.low * RUN.card.watts / 1e6)
    assert energy.high / hours.high > energy.low / hours.low
    assert 0.4 < plan.mfu < 1


def test_every_part_of_a_step_has_its_look() -> None:
    assert set(PARTS) == set(StepTime.__dataclass_fields__)


def test_what_binds_is_said_of_memory_and_of_time() -> None:
    _, said = shows.one_plan(tp=8, pp=4)
    words = " ".join(said.split())
    assert "are most of it" in words and "layers' own work" in words
    assert max(map(len, said.splitlines())) <= 72


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("machine", MACHINES)
def test_every_entry_of_the_ledger_has_its_place_in_the_picture(model: str, machine: str) -> None:
    try:
        found = shows.searched(
            Run.of(
                model,
                machine,
                gpus=2304 if machine == "GB200" else 1024,
                sequences=2304 if machine == "GB200" else 1024,
            )
        )
    except CourseError as error:
        pytest.fail(str(error))
    plan = Plan(
        Run.of(model, machine, *(2 * (2304 if machine == "GB200" else 1024,))),
        found.best(1)[0].layout,
    )
    for stage in plan.memory.stages:
        assert sum(kinds_of(stage.entries).values()) == pytest.approx(stage.bytes)
    assert set(kinds_of(plan.memory.worst.entries)) == set(KINDS)
    assert plan.fits
    assert plan.step_s == pytest.approx(found.best(1)[0].step_s)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"tp": 16}, "TP over heads"),
        ({"pp": 128}, "PP over layers"),
        ({"sequences": 1000}, "no multiple of dp 32"),
        ({"model": "Llama 3 405B", "gpus": 8}, "none of 1,040 legal layouts fits"),
        ({"gpus": 12}, "no whole nodes of 8"),
        ({"model": "GPT-5"}, "no model is called 'GPT-5'"),
        ({"machine": "TPU"}, "no machine is called 'TPU'"),
        ({"trillion_tokens": 0.0}, "tokens are no run"),
        ({"trillion_tokens": math.nan}, "tokens are no run"),
    ],
)
def test_bad_input_is_a_sentence_that_says_what_to_try(
    asked: dict[str, object], words: str
) -> None:
    said = shows.refused(**asked)
    assert words in " ".join(said.split())
    assert "try:" in said
    assert max(map(len, said.splitlines())) <= 72


def test_a_cluster_without_links_is_refused_in_a_sentence() -> None:
    alone = RUN.card.but("no links", nvlink_bytes_per_s=0.0, network_bytes_per_s=0.0)
    run = Run(RUN.model, alone, 64, 1024, 8192, 1e12)
    with pytest.raises(CourseError, match="no link joins"):
        Plan.of(run, tp=8)


def test_the_ten_best_are_in_order_and_fit_the_page() -> None:
    figure, said = shows.best_plans()
    assert max(map(len, said.splitlines())) <= 76
    rows = said.splitlines()[1:11]
    times = [float(row.split()[-1]) for row in rows]
    assert times == sorted(times)
    assert figure is not None


def test_the_page_answers_as_fast_with_every_machine_as_it_has_rows() -> None:
    """Not timed: all layouts are arrays, so that a search calls the planner once for each pp."""
    found = shows.searched(RUN)
    assert len(found) > 10_000
    shown = shows._thinned(len(found))
    assert len(shown) == len(set(shown)) == shows.MOST_DOTS
    assert set(found.layouts.zero[shown].tolist()) == {0, 1, 2, 3}


def test_the_page_names_the_fastest_plan_without_zero_3() -> None:
    found = shows.searched(RUN)
    said = " ".join(shows.without_zero_3(found).split())
    others = [plan for plan in found.best(len(found)) if plan.layout.zero < 3]
    assert f"The fastest without ZeRO 3 takes {others[0].step_s:.4g} s: {others[0].layout}." in said
    assert said in " ".join(shows.best_plans()[1].split())
    narrow = replace(found, memory_bytes=found.smallest().bytes)
    assert found.smallest().layout.zero == 3
    assert "Without ZeRO 3 nothing fits." in " ".join(shows.without_zero_3(narrow).split())


def test_a_model_and_a_cluster_of_ones_own_have_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Transformer(32, 4_096, 32, mlp=11_008, gated=True, vocabulary=32_000, norm="rms")
    monkeypatch.setitem(MODELS, "my model", own)
    slow = MACHINES["H100"].but("my cluster", network_bytes_per_s=12e9)
    monkeypatch.setitem(MACHINES, "my cluster", slow)
    _, said = shows.best_plans("my model", "my cluster", 64)
    # FLOP of the weights alone, on what products reach; attention and more come on top.
    floor_s = 6 * own.parameters * 1_024 * 8_192 / 64 / slow.gemm_flop_per_s
    assert floor_s < float(said.splitlines()[1].split()[-1]) < 1.5 * floor_s
    for framework in FRAMEWORKS:
        assert "dp" in shows.exported(framework, 1, "my model", "my cluster", 64)


def test_whoever_has_to_recompute_loses() -> None:
    """What the lesson lets the learner find: the crossover lies where weights are shared by few."""
    (few_zero, few_cut), (many_zero, many_cut) = (
        [line.split() for line in shows.zero_or_3d(gpus, 4).splitlines()[1:]] for gpus in (64, 128)
    )
    assert "full" in few_zero and float(few_zero[-2]) > float(few_cut[-2])
    assert "full" not in many_zero and float(many_zero[-2]) < float(many_cut[-2])


def test_zero_alone_is_best_with_much_work_on_each_gpu_and_many_nodes() -> None:
    lines = shows.zero_or_3d(1024, 1).splitlines()
    assert len(lines) == 3
    assert "ZeRO 3 alone" in lines[1]


def test_the_chain_is_a_link_after_the_other() -> None:
    count = chain.counted("matmul_register")
    assert count.fma == 64 * 64 * 8, "a square of 64, eight steps"
    assert count.roof_flop_per_s == pytest.approx(19.5e12, rel=0.001)
    plan = chain.month()
    assert plan.layout.gpus == 1024
    assert chain.layer_bytes(plan) == 2 * 2048 * 12_288
    assert chain.all_reduces_of_step(plan) == 6 * 12 * 96
    reduce = chain.Reduced("our all_reduce", 4, 4096, 6144, 6)
    each = reduce.seconds(chain.layer_bytes(plan), 8, plan.run.card)
    # What the planner has for the same: two ways round the ring, a hop each.
    assert each * chain.all_reduces_of_step(plan) == pytest.approx(plan.seconds["tensor"])
    text = chain.chain_text(count, reduce, plan)
    assert max(map(len, text.splitlines())) <= 72
    assert len(text.splitlines()) == 6
    # The lesson says 30 days of the row, which chooses microbatch and chunks, and 32 of the chain.
    assert round(chain.days(plan)) == 32
    (row,) = (row for row in rows("30_plan_my_run", "Section 5.1, days of a run")[:1])
    assert round(row.mine) == 30


def test_a_tiled_product_without_registers_waits_for_the_banks() -> None:
    count = chain.Counted("a kernel", 64 * 32, 64, chain.counted().card)
    assert count.bank_cycles > count.fma_cycles
    assert "shared memory binds" in str(count)


def test_the_planner_is_nearer_to_the_peaks_than_the_formulas() -> None:
    table = peaks.table()
    assert peaks.formula_ratio() < 0.8
    medians = [int(row.split()[-2].rstrip("%")) for row in table.splitlines()[2:]]
    assert medians[0] > medians[1] > medians[2]
    assert max(map(len, table.splitlines())) <= 72


def test_what_no_layout_has_is_told() -> None:
    run = Run.of("Llama 3 70B", "H100", gpus=1024)
    with pytest.raises(CourseError, match="a layout has no tensor") as caught:
        Plan.of(run, tensor=8)
    assert "tp" in caught.value.hint
    with pytest.raises(CourseError, match="tp is '8'"):
        Plan.of(run, tp="8")
    assert "nothing here is called tq: ask for" in shows.refused(tq=16)
    assert shows.refused(tp="16").startswith("tp is '16'")


def test_gpus_that_fill_no_rack_are_answered_with_what_the_menu_has() -> None:
    for show in (shows.one_plan, shows.best_plans, shows.exported):
        with pytest.raises(CourseError) as raised:
            show(machine="GB200", gpus=1024)
        assert "1,024 GPUs are no whole nodes of 72" in str(raised.value)
        assert "choose 576 or 2,304 GPUs" in str(raised.value)
    with pytest.raises(CourseError, match="choose 2,304 GPUs"):
        shows.one_plan(machine="GB200", gpus=16_384)
