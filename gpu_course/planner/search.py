"""All legal layouts of a model on a cluster: the fastest that fit, and what memory buys in time.

    found = search(model, Cluster(H100, 1024), Batch(2048, 8192))
    found.best(10)                        # plans that fit, the fastest first
    found.frontier()                      # less memory and more time, step by step

Every legal layout is looked at; nothing is pruned. Memory and time of all of them are arrays, so a
hundred thousand layouts take a second or two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.measure.state_formulas import MEGATRON_ADAM, Recipe
from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.planner.cluster import Cluster
from gpu_course.planner.layout import Batch, Layout, Layouts, legal
from gpu_course.planner.memory import MEGATRON as MEGATRON_FOOTPRINT
from gpu_course.planner.memory import Footprint, peak_bytes
from gpu_course.planner.nearest import check, divisors
from gpu_course.planner.programs import MEGATRON_CORE, Program
from gpu_course.planner.step_time import step_time
from gpu_course.units import GIB

MOST_TIMES = 1024
"""How many times the GPUs the advice looks at where nothing fits."""


@dataclass(frozen=True)
class Space:
    """What a search may choose beside dp, tp, pp, cp and ep, of which it takes all that are legal.

    Attributes:
        zero: stages of ZeRO.
        recompute: what runs forward once more; "selective" changes nothing where attention never
            writes its scores down, and is left out there.
        microbatches: sequences of one.
        chunks: of a stage; more than 1 is the interleaved schedule.
        most_tp, most_cp: ranks at most, or None for as many as are legal.
        recipe, flash: of the program.
    """

    zero: tuple[int, ...] = (0, 1, 2, 3)
    recompute: tuple[str, ...] = ("none", "selective", "full")
    microbatches: tuple[int, ...] = (1, 2, 4, 8)
    chunks: tuple[int, ...] = (1, 2, 4)
    most_tp: int | None = None
    most_cp: int | None = None
    recipe: Recipe = MEGATRON_ADAM
    flash: bool = True


@dataclass(frozen=True)
class Plan:
    """A layout, and what is said of it.

    Attributes:
        layout: itself.
        bytes: on the fullest GPU.
        step_s: seconds of a step.
    """

    layout: Layout
    bytes: float
    step_s: float


@dataclass(frozen=True)
class Search:
    """All legal layouts with their memory and time.

    Attributes:
        layouts: so many.
        bytes: on the fullest GPU of each.
        step_s: seconds of a step of each.
        memory_bytes: of a GPU.
    """

    layouts: Layouts
    bytes: np.ndarray
    step_s: np.ndarray
    memory_bytes: float

    def __len__(self) -> int:
        return len(self.layouts)

    @property
    def fits(self) -> np.ndarray:
        """Whether each fits."""
        found: np.ndarray = self.bytes <= self.memory_bytes
        return found

    def best(self, many: int = 10) -> list[Plan]:
        """Returns the fastest plans that fit; of equally fast ones that with less memory first."""
        order = np.lexsort([self.bytes, self.step_s])
        return [self.plan(index) for index in order[self.fits[order]][:many]]

    def frontier(self) -> list[Plan]:
        """Returns the plans that no other beats in both memory and time, by falling memory.

        Those that do not fit are among them: they say what larger GPUs would bring.
        """
        order = np.lexsort([self.step_s, self.bytes])
        times = self.step_s[order]
        before = np.concatenate([[np.inf], np.minimum.accumulate(times)[:-1]])
        return [self.plan(index) for index in order[times < before][::-1]]

    def smallest(self) -> Plan:
        """Returns the plan with the least memory; of several the fastest."""
        return self.plan(int(np.lexsort([self.step_s, self.bytes])[0]))

    def plan(self, index: int) -> Plan:
        """Returns one of them."""
        index = int(index)
        return Plan(self.layouts.at(index), float(self.bytes[index]), float(self.step_s[index]))


def search(
    model: Transformer,
    cluster: Cluster,
    batch: Batch,
    *,
    program: Program = MEGATRON_CORE,
    footprint: Footprint = MEGATRON_FOOTPRINT,
    space: Space | None = None,
) -> Search:
    """Returns all legal layouts that use a cluster whole, with their memory and time.

    Args:
        model, cluster, batch: of the run.
        program: for the time.
        footprint: of the same program, for the memory.
        space: what may be chosen.

    Raises:
        CourseError: no layout is legal, or none fits. The message says the smallest, how much it
            is too large, and what would make it fit.
    """
    space = space or Space()
    layouts = all_layouts(model, cluster, batch, space)
    if not len(layouts):
        # Says what plain data parallelism breaks, and the nearest legal plan on fewer GPUs.
        check(model, Layout(dp=cluster.gpus), batch, cluster)
        raise CourseError(
            f"no layout of this space is legal on {cluster.gpus:,} GPUs",
            "allow more microbatches, chunks or ranks",
        )
    found = Search(
        layouts,
        peak_bytes(model, layouts, batch, footprint),
        np.broadcast_to(
            step_time(model, layouts, batch, cluster.card, program).total, len(layouts)
        ),
        cluster.memory_bytes,
    )
    if not found.fits.any():
        raise CourseError(*_too_large(model, cluster, batch, footprint, space, found))
    return found


def _too_large(
    model: Transformer, cluster: Cluster, batch: Batch, footprint: Footprint, space: Space,
    found: Search,
) -> tuple[str, str]:  # fmt: skip
    least = found.smallest()
    over = least.bytes - cluster.memory_bytes
    fact = (
        f"none of {len(found):,} legal layouts fits: the smallest, {least.layout}, takes"
        f" {least.bytes / GIB:,.1f} GiB of {cluster.memory_bytes / GIB:,.0f} GiB,"
        f" {over / GIB:,.1f} GiB too many"
    )
    ways = [f"GPUs of {math.ceil(least.bytes / GIB):,} GiB"]
    times = 2
    while times <= MOST_TIMES:
        layouts = all_layouts(model, Cluster(cluster.card, cluster.gpus * times), batch, space)
        if len(layouts):
            sizes = peak_bytes(model, layouts, batch, footprint)
            if sizes.min() <= cluster.memory_bytes:
                ways.append(f"{cluster.gpus * times:,} GPUs with {layouts.at(int(sizes.argmin()))}")
                break
        times *= 2
    return fact, f"what would make it fit: {', or '.join(ways)}"


def all_layouts(
    model: Transformer, cluster: Cluster, batch: Batch, space: Space | None = None
) -> Layouts:
    """Returns all legal layouts that use a cluster whole. Each is there once.

    ZeRO has nothing to cut where dp x cp is 1, and is left out there; so are chunks where there is
    one stage. Sequence parallelism is on wherever tp is.

    Args:
        model, cluster, batch: of the run.
        space: what may be chosen.
    """
    space = space or Space()
    gpus = cluster.gpus
    rows = [
        (dp, tp, pp, cp, ep, microbatch, chunks)
        for tp in divisors(gpus)
        if model.heads % tp == 0 and tp <= (space.most_tp or tp)
        for pp in divisors(gpus // tp)
        if pp <= model.layers
        for cp in divisors(gpus // tp // pp)
        if cp <= (space.most_cp or cp) and batch.tokens % cp == 0
        for dp in [gpus // tp // pp // cp]
        if batch.sequences % dp == 0
        for ep in divisors(math.gcd(model.experts or 1, dp))
        for microbatch in space.microbatches
        for chunks in (space.chunks if pp > 1 else (1,))
    ]
    numbers = np.array(rows, dtype=np.int64).reshape(-1, 7)
    words = [word for word in space.recompute if not (word == "selective" and space.flash)]
    pairs = [(zero, word) for zero in space.zero for word in words]
    many = len(numbers)
    columns = np.repeat(numbers, len(pairs), axis=0).T
    named: dict[str, Any] = dict(
        zip(("dp", "tp", "pp", "cp", "ep", "microbatch", "chunks"), columns, strict=True)
    )
    found = Layouts(
        **named,
        zero=np.tile([zero for zero, _ in pairs], many).astype(np.int64),
        sequence_parallel=np.ones(many * len(pairs), dtype=bool),
        recompute=np.tile(np.array([word for _, word in pairs]), many),
        recomputed_layers=np.zeros(many * len(pairs), dtype=np.int64),
        schedule=np.where(named["chunks"] > 1, "interleaved", "1f1b"),
        recipe=space.recipe,
        flash=space.flash,
    )
    something = (found.zero == 0) | (found.dp * found.cp > 1)
    return found.take(something & legal(model, found, batch, cluster))
