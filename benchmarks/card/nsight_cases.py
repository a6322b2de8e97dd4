"""What nsight.py launches, and the metric of Nsight Compute for each counter."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpu_course.puzzle import Launch
from simt.simulator import simulate

KERNELS = Path(__file__).with_name("nsight_kernels.py")
N = 1 << 14
SIDE = 128
BINS = 64
FLAT = (N // 256, 256)
TILES = ((SIDE // 32, SIDE // 32), (32, 32))

# Counter of the simulator -> metric of Nsight Compute.
# Source: NVIDIA, Nsight Compute documentation, metrics structure and the nvprof metric comparison.
METRICS = {
    **{
        f"{counter}.{kind}": f"l1tex__t_{kind}_pipe_lsu_mem_global_op_{operation}.sum"
        for counter, operation in (
            ("global_load", "ld"),
            ("global_store", "st"),
            ("red", "red"),
            ("atom", "atom"),
        )
        for kind in ("requests", "sectors")
    },
    **{
        f"shared_{name}.{kind}": metric.format(operation)
        for name, operation in (("load", "ld"), ("store", "st"))
        for kind, metric in (
            ("requests", "smsp__inst_executed_op_shared_{}.sum"),
            ("wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"),
            ("conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"),
        )
    },
    "branches": "smsp__sass_branch_targets.sum",
    "divergent_branches": "smsp__sass_branch_targets_threads_divergent.sum",
}


@dataclass(frozen=True)
class Case:
    """One launch of a kernel of nsight_kernels.py.

    Attributes:
        launch: which kernel, in what shape, with which values.
        values: arrays and scalars by name.
    """

    launch: Launch
    values: dict[str, Any]


def cases() -> dict[str, Case]:
    """Returns the launches by name, with fresh values, the same ones every time."""
    rng = np.random.default_rng(0)
    out = np.zeros(N, np.float32)
    a = rng.standard_normal(40 * N, np.float32)
    table, other = (rng.standard_normal((SIDE, SIDE), np.float32) for _ in range(2))
    flat = {"out": out, "a": a}
    square = {"out": np.zeros_like(table), "a": table}
    return {
        "copy": _case("copy", FLAT, flat),
        **{
            f"stride {stride}": _case("strided", FLAT, {**flat, "stride": stride})
            for stride in (2, 8, 40)
        },
        "misaligned by one": _case("shifted", FLAT, flat),
        "transpose, naive": _case("transpose_naive", TILES, square),
        "transpose, tiled": _case("transpose_tiled", TILES, square),
        "transpose, padded": _case("transpose_padded", TILES, square),
        "histogram": _case(
            "histogram",
            FLAT,
            {"counts": np.zeros(BINS, np.int64), "bins": rng.integers(0, BINS, N)},
        ),
        "matmul, tiled": _case("matmul", TILES, {**square, "b": other}),
        "reduction": _case(
            "tree_sum", FLAT, {"out": np.zeros(N // 256, np.float32), "a": a[:N].copy()}
        ),
        "divergent if": _case("parity", FLAT, flat),
        "two-way bank conflicts": _case("two_way_banks", FLAT, flat),
    }


def _case(function: str, shape: tuple[Any, Any], values: dict[str, Any]) -> Case:
    return Case(Launch(function, *shape, tuple(values)), values)


def simulated(case: Case) -> dict[str, int]:
    """Returns the simulator's counters of a launch, by the names in METRICS.

    Raises:
        RuntimeError: the simulator found a hazard, so the counts would say nothing.
    """
    launch = case.launch
    values = [v.copy() if isinstance(v, np.ndarray) else v for v in case.values.values()]
    report = simulate(f"{KERNELS}:{launch.function}")[launch.grid, launch.block](*values)
    if report.hazards:
        raise RuntimeError(str(report))
    counters = report.counters.as_dict()
    found = {}
    for name in METRICS:
        value: Any = counters
        for part in name.split("."):
            value = value[part]
        found[name] = int(value)
    return found
