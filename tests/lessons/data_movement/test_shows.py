"""What lesson 12 shows: bytes by the tensors, and by kernels that ran."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from gpu_course import simulate
from gpu_course.claims.published import forecasts, rows
from gpu_course.lessons.data_movement.bert_layer import CLASSES, flop_shares, training_step
from gpu_course.lessons.data_movement.shows import (
    GROUPINGS,
    LESSON,
    PROGRAMS,
    asked_by,
    asked_for,
    bias_and_gelu,
    fused_by_you,
    fusion,
    layer,
    layer_bytes,
    operator_classes,
    passes,
)
from gpu_course.notebook.note import Note
from gpu_course.puzzle import index
from tests.gpu_course.notebook.tutor.test_feedback import SOLUTIONS


@cuda.jit
def copy(out, a):
    i = cuda.grid(1)
    out[i] = a[i]


def test_a_launch_asks_for_what_it_loads_and_stores() -> None:
    a, out = (np.zeros(64, np.float32) for _ in range(2))
    assert asked_for(simulate(copy)[2, 32](out, a)) == 2 * 4 * 64


def test_classes_are_shown_by_what_was_counted_and_only_on_demand_by_what_was_measured() -> None:
    plain, measured = repr(operator_classes()), repr(operator_classes(measured=True))
    assert "measured" not in plain and "time, measured, V100" in measured
    for kind, name in CLASSES.items():
        assert f"{name} {flop_shares(training_step())[kind]:.2f} %" in plain
    assert all(
        f"{row.published:.1f} %" in measured for row in rows(LESSON, "Table 1, share of the time")
    )


def test_a_cut_that_is_taken_away_saves_what_crossed_it_twice() -> None:
    def moved(**cuts: bool) -> int:
        return int(repr(fusion(**cuts)).split(" bytes")[0].split()[-1].replace(",", ""))

    array = 4 * 64 * 256
    assert moved() - moved(after_bias=False) == 2 * array
    assert moved(after_gelu=False) - moved(after_gelu=False, after_bias=False) == 2 * array


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_a_layer_is_shown_in_each_grouping(grouping: str) -> None:
    said = repr(layer(grouping, 256))
    assert grouping in said and f"{layer_bytes(grouping, 256):,} bytes travel" in said


def test_another_grouping_is_answered_in_a_sentence() -> None:
    assert isinstance(layer("at random"), Note) and "choose of" in repr(layer("at random"))
    assert isinstance(passes("matmul"), Note) and "adamw" in repr(passes("matmul"))


def test_until_an_answer_passes_ours_is_counted_and_says_so(answers) -> None:
    found = asked_by("adamw", size=128, step=2)
    assert (found.read_bytes, found.written_bytes) == (16 * 128, 12 * 128)
    assert found.whose.startswith("our kernel")
    assert "by our kernel" in repr(fused_by_you())


def test_an_answer_that_passes_is_the_one_that_is_counted(answers) -> None:
    name = index.find("bias_gelu").name
    file = answers / f"{name}.py"
    file.parent.mkdir()
    file.write_text((SOLUTIONS / f"{name}.py").read_text())
    found = asked_by("bias_gelu", rows=8, cols=64, doublings=-5)
    assert found.whose == "your kernel"
    assert found.written_bytes == 4 * 8 * 64
    assert "bias and GELU by your kernel" in repr(fused_by_you())


def test_what_was_counted_stands_beside_the_tensors() -> None:
    said = repr(bias_and_gelu([1000, 2000]))
    assert "1,000 counted" in said and "2,000 counted" in said
    assert "3,000 counted" in repr(bias_and_gelu([3000]))


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_one_result_stand_pass_by_pass(name: str, answers) -> None:
    said = repr(passes(name)).splitlines()
    assert said[1].startswith("PyTorch, ") and said[2].startswith("our kernel")
    whole = [float(line.rpartition(" bytes:")[0].rpartition(" ")[2]) for line in said[1:]]
    assert whole[0] > 1.7 * whole[1]


def test_a_third_of_what_is_forecast_breaks_an_assumption_that_has_a_name() -> None:
    asked = forecasts(LESSON)
    broken = {row.breaks for row in asked if row.breaks}
    assert len(asked) >= 8 and 3 * sum(bool(row.breaks) for row in asked) >= len(asked)
    assert broken >= {"latency", "overhead", "passes", "spills"}
    here = rows(LESSON)
    assert len(here) >= 26 and 3 * sum(bool(row.breaks) for row in here) >= len(here)
