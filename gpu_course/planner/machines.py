"""Machines as the planner sees them: one card, its node, and its share of the network.

A machine is ten numbers. Each is a physical quantity, says where it was read, and holds for every
run on that machine: none is set for one row of a table. A rate is what programs reach, and not what
a data sheet promises. Where a number was set on a whole published set of open rows, since nobody
prints it, it says so: then that set tests it no more, and others do.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from gpu_course.errors import UnknownName
from gpu_course.units import GB, GIB, TB, TERA

TEN = 10
"""The most constants that a machine may have."""


@dataclass(frozen=True)
class Machine:
    """A card, the node that it stands in, and its way out of it.

    Attributes:
        name: as a table names it.
        gemm_flop_per_s: what a large matrix product reaches, on numbers as they are in training.
        hbm_bytes_per_s: what kernels reach that only move bytes.
        memory_bytes: of a card.
        processors: that work on tiles of a product at the same time (SMs).
        node: cards of a node.
        nvlink_bytes_per_s: bus bandwidth of a large collective inside a node, for each card.
        network_bytes_per_s: of each card's share of the network, one way.
        hop_s: of a collective or a message, however small it is.
        host_s: a host takes for one pass, forward or backward, of a layer of about twenty kernels.
        watts: of a card at work.
    """

    name: str
    gemm_flop_per_s: float
    hbm_bytes_per_s: float
    memory_bytes: float
    processors: int
    node: int
    nvlink_bytes_per_s: float
    network_bytes_per_s: float
    hop_s: float
    host_s: float
    watts: float

    def but(self, name: str, **changes: Any) -> Machine:
        """Returns the same machine with another name and some other numbers."""
        return replace(self, name=name, **changes)


CONSTANTS = tuple(each.name for each in fields(Machine) if each.name != "name")
"""The names of a machine's constants."""

A100 = Machine(
    "A100",
    # A product of 8,192 cubed on random numbers reaches 257 at 330 W (Horace He, "Strangely, Matrix
    # Multiplications on GPUs Run Faster When Given Predictable Data"). Set on vTrain's open rows.
    gemm_flop_per_s=252 * TERA,
    # Of 2.04 on the data sheet. Norms over long rows reach 1.67 (Liger-Kernel ead96b61).
    hbm_bytes_per_s=1.65 * TB,
    memory_bytes=80 * GIB,
    processors=108,
    node=8,
    # Of 300 one way. Large all-reduces reach 230; in the middle of a layer it is less. Set on
    # vTrain's open rows.
    nvlink_bytes_per_s=200 * GB,
    # Nine tenths of 200 Gb/s for each card.
    network_bytes_per_s=22.5 * GB,
    # A message of few bytes between the GPUs of a node: NCCL's order of magnitude.
    hop_s=12e-6,
    # Set on vTrain's open rows of one node, whose smallest layers take 3.0 ms for three passes.
    host_s=1.05e-3,
    watts=400,
)
"""A100 SXM 80 GB with 200 Gb/s for each card."""

SELENE = A100
"""NVIDIA's cluster of DGX A100, eight cards of 200 Gb/s to a node: what the A100 above is."""

VTRAIN = A100.but("A100, 800 Gb/s a node", network_bytes_per_s=11.25 * GB)
"""The cluster of vTrain's measurements: four cards of 200 Gb/s for eight A100."""

JEAN_ZAY = A100.but(
    "A100, 400 Gb/s a node",
    gemm_flop_per_s=232 * TERA,
    nvlink_bytes_per_s=100 * GB,
    network_bytes_per_s=4 * GB,
)
"""The cluster of BigScience: four cards of 100 Gb/s Omni-Path for eight A100. What products, NVLink
and network reach was set on BigScience's open rows as a whole."""

V100 = Machine(
    "V100",
    # As the A100's, 0.8 of 125 on the data sheet.
    gemm_flop_per_s=100 * TERA,
    # As the A100's, 0.81 of 0.9.
    hbm_bytes_per_s=0.73 * TB,
    memory_bytes=32 * GIB,
    processors=80,
    node=16,
    # As the A100's, two thirds of 150 one way.
    nvlink_bytes_per_s=100 * GB,
    # Nine tenths of half of 100 Gb/s: two cards share one.
    network_bytes_per_s=5.6 * GB,
    hop_s=12e-6,
    host_s=1.05e-3,
    watts=300,
)
"""V100 SXM3 32 GB in a DGX-2, with eight cards of 100 Gb/s for sixteen. No open row tests it."""

H100 = Machine(
    "H100",
    # Set on Llama 3's Table 4: 60 % of 989, where single products on an idle card reach 716 to 795
    # (fast.cu). Long runs throttle.
    gemm_flop_per_s=590 * TERA,
    # Of 3.35 on the data sheet. Norms and softmax reach 2.9 to 3.0 (Liger-Kernel, quack).
    hbm_bytes_per_s=2.8 * TB,
    memory_bytes=80 * GIB,
    processors=132,
    node=8,
    # Of 450 one way: rings reach 366 (RAK) and 370 (NVIDIA/nccl-tests issue 212).
    nvlink_bytes_per_s=360 * GB,
    # Nine tenths of 400 Gb/s for each card.
    network_bytes_per_s=45 * GB,
    hop_s=12e-6,
    # The A100's, on a host three years newer.
    host_s=0.8e-3,
    watts=700,
)
"""H100 SXM with 400 Gb/s for each card."""

H100_EFA = H100.but(
    "H100, EFA",
    nvlink_bytes_per_s=250 * GB,
    network_bytes_per_s=12 * GB,
    host_s=2.1e-3,
)
"""The cluster of the Ultra-Scale Playbook. NVLink is the book's own measurement of an all-gather in
a node. Its line rate is 50 GB/s a card; 12 is what the gradients of its table of data-parallel runs
get on 2 to 16 nodes. The host's time is that of the smallest layers of its runs on one stage."""

H100_500W = H100.but(
    # Nine tenths of the H100's rate, as its power to the power of a third, and HBM2e's bytes.
    "H100, 500 W, HBM2e", gemm_flop_per_s=530 * TERA, hbm_bytes_per_s=1.8 * TB,
    memory_bytes=96 * GIB, watts=500,
)  # fmt: skip
"""The H100 of torchtitan's runs: less power, so a lower clock under load, and slower memory."""

GB200 = Machine(
    "GB200",
    # As the H100's, 0.6 of 2,500.
    gemm_flop_per_s=1500 * TERA,
    # As the H100's, 0.83 of 8.
    hbm_bytes_per_s=6.6 * TB,
    memory_bytes=186 * GB,
    processors=148,
    node=72,
    # As the H100's, 0.8 of 900 one way.
    nvlink_bytes_per_s=720 * GB,
    network_bytes_per_s=45 * GB,
    hop_s=12e-6,
    host_s=0.8e-3,
    watts=1200,
)
"""A GB200 of a rack of 72, with 400 Gb/s for each card. No open row tests it."""

MACHINES = {
    each.name: each for each in (A100, VTRAIN, JEAN_ZAY, V100, H100, H100_EFA, H100_500W, GB200)
}


def machine(name: str) -> Machine:
    """Returns a described machine.

    Raises:
        UnknownName: no machine has that name.

    >>> machine("A100").node
    8
    """
    if name not in MACHINES:
        raise UnknownName(f"no machine is called {name!r}", f"there are {'; '.join(MACHINES)}")
    return MACHINES[name]
