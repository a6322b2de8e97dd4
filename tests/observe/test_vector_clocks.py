"""The race detector against full vector clocks, on random kernels: no cell missed, none too many.

`python -m tests.observe.test_vector_clocks FIRST LAST` tries the seeds from FIRST up to LAST.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gpu_course.observe.order import Order
from gpu_course.observe.shadow import Slots
from gpu_course.simt import launch
from gpu_course.simt.schedule import RoundRobin, Schedule
from gpu_course.simulator import simulate
from tests.observe.random_kernels import draw
from tests.observe.vector_clocks import RecordedRaces, VectorClocks


def run(seed: int, folder: Path) -> tuple[VectorClocks, RecordedRaces]:
    """Runs the kernel of a seed, in the order that the seed draws."""
    drawn = draw(seed)
    path = folder / "kernel.py"
    path.write_text(drawn.text)
    schedule: Schedule | None = None
    order = seed % 5
    if order > 2:
        schedule = RoundRobin("warps" if order == 3 else "threads", "accesses", seed=seed)
    clocks, races = VectorClocks(), RecordedRaces()
    ready = simulate(
        f"{path}:kernel",
        order_seed=None if order == 0 else seed,
        policy="puzzle" if seed % 2 else "foreign",
        schedule=schedule,
        observers=(clocks, races),
    )
    arrays = np.zeros(4, np.int64), np.zeros(5, np.int64), np.zeros(1, np.int64)
    ready[drawn.grid, drawn.block](*arrays)
    return clocks, races


def verdict(clocks: VectorClocks, races: RecordedRaces) -> str:
    """Returns how the two differ; "" where they agree."""
    if races.racing != clocks.racing:
        missed, false = clocks.racing - races.racing, races.racing - clocks.racing
        return f"missed {sorted(missed)}, false {sorted(false)}"
    if races.loose - clocks.racing != clocks.loose - clocks.racing:
        return f"advice: {sorted(races.loose)}, not {sorted(clocks.loose)}"
    return ""


@pytest.mark.parametrize("first", [0, 20, 40])
def test_random_kernels(first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "LANES_PER_BATCH", 64)
    seen: Counter[bool] = Counter()
    for seed in range(first, first + 20):
        clocks, races = run(seed, tmp_path)
        assert verdict(clocks, races) == "", f"seed {seed}\n{draw(seed).text}"
        seen[bool(clocks.racing)] += 1
    assert min(seen[True], seen[False]) > 0  # kernels of both kinds


def _forgets(self: object, *facts: object, **more: object) -> None:
    """In the place of a method of the detector: nothing is learned from what has happened."""


def _without(level: str) -> Callable[..., None]:
    made = Slots.__init__

    def begin(self: Slots, units: int, per_block: int, levels: tuple[str, ...]) -> None:
        made(self, units, per_block, tuple(each for each in levels if each != level))

    return begin


# A fault of the detector -> a seed whose kernel shows it.
FAULTS: dict[str, tuple[type, str, Callable[..., None], int]] = {
    "no slot for another thread": (Slots, "__init__", _without("thread"), 12),
    "barriers order nothing": (Order, "barrier", _forgets, 1037),
    "warp barriers order nothing": (Order, "warp_barrier", _forgets, 67),
    "grid barriers order nothing": (Order, "grid_barrier", _forgets, 42),
    "fences release nothing": (Order, "fence", _forgets, 32),
    "an atomic tells nothing": (Order, "_tell", _forgets, 32),
    "an atomic learns nothing": (Order, "_learn", _forgets, 32),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_detector_shows(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "LANES_PER_BATCH", 64)
    part, method, instead, seed = FAULTS[fault]
    assert verdict(*run(seed, tmp_path)) == ""
    monkeypatch.setattr(part, method, instead)
    assert verdict(*run(seed, tmp_path)) != ""


def main(first: int, last: int) -> None:
    """Tries many seeds, and prints those on which the two differ."""
    launch.LANES_PER_BATCH = 64
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, last):
            clocks, races = run(seed, Path(folder))
            seen["racing" if clocks.racing else "loose" if clocks.loose else "clean"] += 1
            if differs := verdict(clocks, races):
                seen["different"] += 1
                print(seed, differs)
    print(dict(seen))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
