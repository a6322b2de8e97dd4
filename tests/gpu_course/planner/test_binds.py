"""What binds a step, in sentences that name what the numbers say."""

from dataclasses import replace

import pytest

from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.planner.binds import REASONS, changes, says
from gpu_course.planner.layout import Batch, Layout
from gpu_course.planner.machines import A100
from gpu_course.planner.programs import MEGATRON
from gpu_course.planner.step_time import StepTime, step_time

GPT = Transformer(layers=24, hidden=2048, heads=16, vocabulary=51_200)


def told(layout, batch=None, card=A100):
    return says(GPT, layout, batch or Batch(64, 1024), card, MEGATRON)


def test_every_part_has_its_words():
    assert list(REASONS) == list(StepTime.__dataclass_fields__)


def test_a_long_pipeline_waits_to_fill():
    words = told(Layout(pp=8, dp=2, flash=False), Batch(16, 1024))
    assert "filling and draining the pipeline" in words
    assert "With PP 4 and DP 4, it would take" in words or "chunks of each stage" in words


def test_a_slow_network_shows_gradients():
    slow = A100.but("slow", network_bytes_per_s=1e9)
    assert "gradients and parameters of data-parallel ranks" in told(Layout(dp=64), card=slow)


def test_recomputing_that_could_be_less_is_said():
    assert "With recomputation selective" in told(Layout(recompute="full", flash=False))


def test_a_change_saves_what_the_sentence_says():
    layout, batch = Layout(recompute="full", flash=False), Batch(64, 1024)
    other = replace(layout, recompute="selective")
    took = float(step_time(GPT, other, batch, A100, MEGATRON).total)
    assert f"With recomputation selective, it would take {took:.3g} s." in told(layout, batch)


@pytest.mark.parametrize(
    "layout",
    [
        Layout(dp=4, tp=2, pp=2),
        Layout(dp=4, pp=4, chunks=2, schedule="interleaved"),
        Layout(cp=2, dp=2, recompute="full", flash=False),
    ],
)
def test_changes_keep_the_number_of_cards(layout):
    found = list(changes(layout))
    assert found and all(other.gpus == layout.gpus for _, other in found)
    assert len({words for words, _ in found}) == len(found)
