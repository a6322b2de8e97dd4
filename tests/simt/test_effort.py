"""A long line is no single step, and a kernel has an end to its size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simt.errors import KernelRefused
from simt.kernel import legality
from simt.machine import launch
from simt.simulator import simulate

HEAD = "from numba import cuda, float64\n\n\n@cuda.jit\ndef kernel(out):\n"


def rounds(tmp_path: Path, line: str, step_budget: int) -> float:
    """How often a loop that never ends comes round, with one such line in it."""
    path = tmp_path / "kernel.py"
    path.write_text(
        HEAD
        + f"    x = 1\n    while x > 0:\n        y = {line}\n        out[0] += 1\n        x = y\n"
    )
    out = np.zeros(1)
    report = simulate(f"{path}:kernel", step_budget=step_budget)[1, 1](out)
    assert [hazard.kind for hazard in report.hazards] == ["endless-loop"]
    return float(out[0])


def test_a_long_line_costs_the_steps_of_many(tmp_path: Path) -> None:
    short = rounds(tmp_path, "x", 4000)
    long = rounds(tmp_path, " and ".join(["x"] * 900), 4000)
    # A turn has four statements, one of them a store.
    turn = 4 + legality.STEPS_OF_ACCESSES["store"]
    assert short == pytest.approx(4000 / turn, rel=0.1)
    assert long == pytest.approx(4000 / (turn + 900 / legality.EXPRESSIONS_PER_STEP), rel=0.1)


def test_a_kernel_of_too_many_parts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    for lines, refused in ((legality.MAX_NODES // 3, True), (legality.MAX_NODES // 10, False)):
        path.write_text(HEAD + "    x = 1\n" * lines + "    out[0] = x\n")
        if refused:
            with pytest.raises(
                KernelRefused, match="nodes in its syntax tree: the simulator takes up to 20,000"
            ):
                simulate(f"{path}:kernel")[1, 1](np.zeros(1))
        else:
            assert simulate(f"{path}:kernel")[1, 1](np.zeros(1)).ok


def test_a_function_is_read_once_however_often_it_is_called(tmp_path: Path) -> None:
    device = "@cuda.jit(device=True)\ndef f{0}(x):\n    return {1}\n\n\n"
    text = "from numba import cuda\n\n\n" + device.format(0, "x + 1")
    # 2 ** 25 calls in all, were anybody to follow each of them.
    text += "".join(device.format(k, f"f{k - 1}(x) + f{k - 1}(x)") for k in range(1, 25))
    text += "@cuda.jit\ndef kernel(out):\n    if out[0] > 0:\n        out[0] = f24(out[0])\n"
    path = tmp_path / "kernel.py"
    path.write_text(text)
    assert simulate(f"{path}:kernel")[1, 1](np.zeros(1)).ok


def test_much_local_memory_makes_batches_smaller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        HEAD + "    mine = cuda.local.array(100, float64)\n    mine[3] = cuda.grid(1)\n"
        "    out[cuda.grid(1)] = mine[3]\n"
    )
    batches = []
    lanes = launch.Lanes

    def counted(*given: object) -> object:
        made = lanes(*given)  # type: ignore[arg-type]
        batches.append(made.count)
        return made

    monkeypatch.setattr(launch, "Lanes", counted)
    monkeypatch.setattr(launch, "LOCAL_BYTES_PER_BATCH", 64 * 800)
    out = np.zeros(256)
    assert simulate(f"{path}:kernel")[8, 32](out).ok
    assert batches == [64] * 4
    np.testing.assert_array_equal(out, np.arange(256.0))
