"""The legal layout that is nearest to one that is not, and the sentence that says it.

check(model, layout, Batch(1024, 8192), cluster)          # says nothing, or raises
nearest(model, layout, Batch(1024, 8192), cluster)        # a legal layout
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.planner.layout import (
    ARRAYS,
    NUMBERS,
    Batch,
    ClusterLike,
    Layout,
    Layouts,
    broken_rules,
    legal,
)


def check(
    model: Transformer, layout: Layout, batch: Batch, cluster: ClusterLike | None = None
) -> None:
    """Holds a layout against a model, a batch and a cluster.

    Args:
        model, layout, batch: of the run.
        cluster: that it uses whole; None asks nothing of one.

    Raises:
        CourseError: it is not legal. The sentence names the limit, and says the nearest legal plan.
    """
    broken = broken_rules(model, layout, batch, cluster)
    if not broken:
        return
    near = nearest(model, layout, batch, cluster)
    on = ""
    if near.gpus < (layout.gpus if cluster is None else cluster.gpus):
        on = f" on {near.gpus:,} GPU{'s' if near.gpus > 1 else ''}"
    advice = f"the nearest legal plan{on}: {near}"
    raise CourseError("; ".join(broken.values()), advice)


def nearest(
    model: Transformer, layout: Layout, batch: Batch, cluster: ClusterLike | None = None
) -> Layout:
    """Returns the nearest legal layout; one GPU alone always has one.

    It takes as many GPUs as the cluster has, or the most whole nodes, or the most GPUs of one node,
    with which a layout is legal. Among
    these the nearest changes the fewest numbers, then changes them by the smallest factors, and of
    several such it cuts the model least.

    Args:
        model, layout, batch, cluster: as for `check`.
    """
    most = layout.gpus if cluster is None else cluster.gpus
    if cluster is not None and not cluster.network_bytes_per_s:
        most = min(most, cluster.gpus_per_node)
    if cluster is not None and not cluster.node_link_bytes_per_s and cluster.gpus_per_node > 1:
        most = 1
    node = most if cluster is None else cluster.gpus_per_node
    for gpus in _counts(model, batch, most, node):
        around = None if cluster is None else _Part(cluster, gpus)
        candidates = _candidates(model, layout, batch, gpus)
        candidates = candidates.take(legal(model, candidates, batch, around))
        if len(candidates):
            return candidates.at(_first_nearest(candidates, layout))
    raise AssertionError("one GPU alone has a legal layout")


def _counts(model: Transformer, batch: Batch, most: int, node: int) -> list[int]:
    """Returns the numbers of GPUs on which a layout may be legal, the largest first.

    Each is a product of numbers that the rules leave to the axes, so of a million there are few.

    Args:
        model, batch: what is trained.
        most: GPUs.
        node: GPUs of one node; beyond it whole nodes are taken.
    """
    axes = (
        [dp for dp in divisors(batch.sequences) if dp <= most],
        [tp for tp in divisors(model.heads) if model.inside % tp == 0],
        [cp for cp in divisors(batch.tokens) if _cuts(batch, cp)],
        range(1, model.layers + 1),
    )
    found = np.array([1], dtype=np.int64)
    for sizes in axes:
        found = np.unique(np.outer(found, np.array(sizes, dtype=np.int64)))
        found = found[found <= most]
    whole = found[(found <= node) | (found % node == 0)]
    return [int(each) for each in whole[::-1]]


def _cuts(batch: Batch, cp: int) -> bool:
    """Whether sequences can be cut among cp ranks, which take two chunks of each."""
    return cp == 1 or batch.tokens % (2 * cp) == 0


class _Part:
    """A cluster of which only so many GPUs are used."""

    def __init__(self, cluster: ClusterLike, gpus: int) -> None:
        self.gpus = gpus
        self.gpus_per_node = min(cluster.gpus_per_node, gpus)
        self.memory_bytes = cluster.memory_bytes
        self.node_link_bytes_per_s = cluster.node_link_bytes_per_s
        self.network_bytes_per_s = cluster.network_bytes_per_s
        if gpus > self.gpus_per_node:
            self.gpus_per_node = cluster.gpus_per_node


def divisors(number: int) -> list[int]:
    """Returns all that divide a number, the small ones first.

    >>> divisors(12)
    [1, 2, 3, 4, 6, 12]
    """
    low = [each for each in range(1, math.isqrt(number) + 1) if number % each == 0]
    return low + [number // each for each in reversed(low) if each * each != number]


def _candidates(model: Transformer, layout: Layout, batch: Batch, gpus: int) -> Layouts:
    """Returns layouts on so many GPUs that may be legal, with all else as in the given one."""
    quads = [
        (dp, tp, pp, cp)
        for tp in divisors(gpus)
        if model.heads % tp == 0
        for pp in divisors(gpus // tp)
        if pp <= model.layers
        for cp in divisors(gpus // tp // pp)
        if _cuts(batch, cp)
        for dp in [gpus // tp // pp // cp]
        if batch.sequences % dp == 0
    ]
    rows = [
        (*quad, ep, microbatch, chunks)
        for quad in quads
        for ep in {1, *(divisors(math.gcd(model.experts, quad[0])) if model.experts else ())}
        for microbatch in divisors(batch.sequences // quad[0])
        for chunks in range(1, layout.chunks + 1)
    ]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 7).T
    names = ("dp", "tp", "pp", "cp", "ep", "microbatch", "chunks")
    numbers: dict[str, Any] = dict(zip(names, columns, strict=True))
    many = columns.shape[1]
    same: dict[str, Any] = {
        name: np.full(many, getattr(layout, name)) for name in ARRAYS if name not in names
    }
    alike = layout.alike()
    if not isinstance(layout.split, str):
        alike["split"] = "even"
    return Layouts(**numbers, **same, **alike)


def _first_nearest(candidates: Layouts, layout: Layout) -> int:
    changed = sum((getattr(candidates, n) != getattr(layout, n)).astype(int) for n in NUMBERS)
    factors = sum(np.abs(np.log2(getattr(candidates, n) / getattr(layout, n))) for n in NUMBERS)
    plain = ("cp", "ep", "pp", "tp", "chunks", "microbatch", "dp")
    ties = [getattr(candidates, name) for name in reversed(plain)]
    return int(np.lexsort([*ties, np.round(factors, 9), changed])[0])
