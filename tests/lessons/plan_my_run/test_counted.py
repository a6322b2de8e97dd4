"""Rates of published runs from counts alone, where the answer is known beforehand."""

import pytest

from gpu_course.lessons.plan_my_run.claims import counted, planned
from gpu_course.planner.known_runs import MODELS


def test_a_rate_is_six_flop_for_each_weight_and_attention_besides():
    shape = MODELS["GPT3-175B"]
    none, half, all_pairs = (
        counted.run_teraflops("GPT3-175B", 1.0, 2048, pairs) * 1e12 for pairs in (0.0, 0.5, 1.0)
    )
    assert none == pytest.approx(6 * shape.parameters, rel=1e-3)
    assert half - none == pytest.approx(all_pairs - half)
    assert all_pairs - none == 3 * shape.forward_flop(2048)["scores"]


def test_adapters_cost_two_thirds_of_a_token_that_trains_all():
    assert counted.lora_teraflops(100.0, 300.0, 100.0) == pytest.approx(200.0)


def test_longer_sequences_tend_to_the_rate_of_attention():
    rate = [counted.at_two_rates("LLAMA3-8B", 1000.0, 8192, 8192 * k) for k in (1, 2, 64, 4096)]
    assert rate[0] == 1000.0
    assert rate == sorted(rate, reverse=True)
    # Of all pairs half are computed, at 0.74 of 1.77, in 3.5 passes that count as 3.
    slowest = counted.at_two_rates("LLAMA3-8B", 1000.0, 2**30, 1) * 0.74 * 2 * 3 / 3.5 / 1.77
    assert slowest == pytest.approx(1000.0, rel=1e-3)


def test_tokens_of_a_gpu_are_those_of_the_step_over_gpus_and_seconds():
    assert counted.gpu_tokens_per_s(32, 4096, 8, 16.0) == 1024.0


def test_a_step_at_the_peak_is_a_hundred_percent():
    at_peak_s = counted.mfu_of_step(768, 256, 1.0) / 100
    assert counted.mfu_of_step(768, 256, at_peak_s) == pytest.approx(100.0)
    one, many = (counted.peak_tokens_per_s("GPT3-175B", n, 459.0, 2048) for n in (1, 1024))
    assert many == 1024 * one
    assert counted.run_teraflops("GPT3-175B", one, 2048, 0.5) == pytest.approx(459.0)


def test_what_is_hidden_one_by_one_is_what_is_hidden_at_once():
    """The product of the gains is the step with everything over the step with nothing sent."""
    percent = 50.0
    for each in planned.HIDDEN:
        gained = planned.mfu_with_hidden(percent, each, 256, 256)
        assert gained > percent
        percent = gained
    every = planned.mfu_with_hidden(50.0, "parallel block", 256, 256) / 50
    assert 1 < every < percent / 50 < 1.4


def test_no_zero_takes_the_states_of_a_replica():
    shape = {"layers": 72, "hidden": 14336, "heads": 64, "microbatch": 2, "global_batch": 2048}
    without, stage_1 = (
        planned.chronicled_gib(**shape, tp=8, pp=12, dp=4, zero=zero) for zero in (0, 1)
    )
    assert without > stage_1 + 8
