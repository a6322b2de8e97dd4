"""Timing on a GPU, on a card that counts its own time: what is timed, and what is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_course.hardware import timing
from gpu_course.hardware.timing import FILLERS, SAMPLES, WARM_UPS, Clock
from tests.gpu_course.hardware.card import COPY_MS, LAUNCH_MS, Card
from tests.gpu_course.hardware.natively import Launch

KERNELS = """\
from numba import cuda


@cuda.jit
def double(out, a):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] * 2


@cuda.jit
def add(out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] += 1
"""


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Card:
    card = Card()
    monkeypatch.setattr(timing, "cuda_module", lambda: card)
    monkeypatch.setattr(timing, "kernels_of", card.kernels_of)
    return card


def test_a_copy_is_timed_alone(card: Card) -> None:
    clock = Clock(64)
    card.log.clear()
    sample = clock.sample(clock.copy)
    assert (sample.seconds, sample.low_s, sample.high_s) == (COPY_MS / 1000,) * 3
    assert card.log == ["copy"] * (WARM_UPS + SAMPLES) * (FILLERS + 1)


def test_the_card_is_kept_busy_until_the_host_has_asked_for_all(
    card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host that needs 9 ms for what the card does in no time gets 18 ms of copies of 2 ms."""
    clock = Clock(64)
    now = iter(range(10**6))
    monkeypatch.setattr(timing.time, "perf_counter", lambda: 0.009 * next(now))
    card.log.clear()
    clock.sample(lambda: None)
    wanted = round(timing.HEAD_START * 9 / COPY_MS)
    assert wanted > FILLERS
    assert card.log == ["copy"] * (FILLERS + wanted * (WARM_UPS - 1 + SAMPLES))


def test_the_median_of_the_samples_counts(card: Card) -> None:
    takes = iter([500.0] * WARM_UPS + [1.0] * (SAMPLES - 1) + [90.0])

    def work() -> None:
        card.now_ms += next(takes)

    sample = Clock(64).sample(work)
    assert sample.seconds == pytest.approx(0.001)
    assert (sample.low_s, sample.high_s) == (pytest.approx(0.001), pytest.approx(0.09))


def test_all_launches_are_timed_and_nothing_else(card: Card, tmp_path: Path) -> None:
    path = tmp_path / "answer.py"
    path.write_text(KERNELS)
    a = np.arange(8, dtype=np.float32)
    values: dict[str, Any] = {"out": np.zeros(8, np.float32), "a": a}
    launches = [Launch("double", ("out", "a")), Launch("add", ("out",))]
    sample, left = timing.time_natively(path, launches, values, restored=(), clock=Clock(64))
    assert sample.seconds == pytest.approx(2 * LAUNCH_MS / 1000)
    np.testing.assert_array_equal(left["out"], 2 * a + 1)
    np.testing.assert_array_equal(values["out"], np.zeros(8))


def test_what_is_input_and_output_is_found_as_it_was(card: Card, tmp_path: Path) -> None:
    path = tmp_path / "answer.py"
    path.write_text(KERNELS)
    out = np.arange(8, dtype=np.float32)
    kept = card.to_device
    made: list[Any] = []
    card.to_device = lambda array: made.append(kept(array)) or made[-1]  # type: ignore[method-assign,func-returns-value]
    clock = Clock(64)
    sample, left = timing.time_natively(
        path, [Launch("add", ("out",))], {"out": out}, restored=("out",), clock=clock
    )
    np.testing.assert_array_equal(left["out"], out + 1)
    on_card = next(each for each in made if each.size == 8)
    np.testing.assert_array_equal(np.array(on_card), out + 1)  # once, after 18 runs
    assert sample.seconds == pytest.approx(LAUNCH_MS / 1000)  # putting it back takes none of it


def test_the_device_is_described_as_far_as_it_says(card: Card) -> None:
    found = timing.describe_device()
    assert found["name"] == "Card of the tests"
    assert (found["compute_capability"], found["multiprocessors"]) == ("9.0", 132)
    assert (found["l2_bytes"], found["clock_hz"]) == (1 << 20, None)


IN_NUMBAS_SIMULATOR = """
import sys, numpy as np
from gpu_course.hardware.timing import Clock, time_natively
from tests.gpu_course.hardware.natively import Launch
values = {"out": np.zeros(8, np.float32), "a": np.arange(8, dtype=np.float32)}
launches = [Launch("double", ("out", "a")), Launch("add", ("out",))]
_, left = time_natively(sys.argv[1], launches, values, restored=("out",), clock=Clock(64))
print(left["out"].tolist())
"""


def test_every_call_is_one_that_numba_knows(tmp_path: Path) -> None:
    """Its own simulator has the same calls as the GPU, and no clock."""
    path = tmp_path / "answer.py"
    path.write_text(KERNELS)
    root = str(Path(__file__).parents[3])
    done = subprocess.run(
        [sys.executable, "-c", IN_NUMBAS_SIMULATOR, str(path)],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert done.stdout.strip() == str([2.0 * k + 1 for k in range(8)])
