"""What each axis of a large run sends: bytes of a step, and how often somebody waits for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpu_course.measure.meshes import (
    LINKS,
    Cluster,
    Mesh,
    Traffic,
    link_bytes,
    orders_by_slow_bytes,
)
from gpu_course.units import GB

BF16_BYTES, FP32_BYTES = 2, 4
AXES = ("tp", "cp", "pp", "dp")
"""Llama 3's order, the innermost first."""
POD_NODES = 384
"""Nodes of a pod of 3,072 GPUs, within which Llama 3's network has its full rate."""
NEAR = Cluster(node=8, rack=POD_NODES)


@dataclass(frozen=True)
class Run:
    """A run on a mesh of tensor, context, pipeline and data parallel ranks.

    Attributes:
        layers, hidden: of the model.
        key_width: numbers of a token's keys in a layer; its values have as many.
        parameters: of the model.
        sequence: tokens of one.
        per_replica: sequences that a data-parallel rank takes in a step.
        sizes: ranks of each of AXES.
    """

    layers: int
    hidden: int
    key_width: int
    parameters: float
    sequence: int
    per_replica: int
    sizes: Mapping[str, int]


def _llama(
    layers: int, hidden: int, mlp: int, sequence: int, per_replica: int, **sizes: int
) -> Run:
    keys, vocabulary = 1_024, 128_256
    layer = 2 * hidden**2 + 2 * hidden * keys + 3 * hidden * mlp
    parameters = layers * layer + 2 * vocabulary * hidden
    return Run(layers, hidden, keys, parameters, sequence, per_replica, sizes)


LLAMA_3 = {
    "main stage": _llama(126, 16_384, 53_248, 8_192, 16, tp=8, cp=1, pp=16, dp=128),
    "long context": _llama(126, 16_384, 53_248, 131_072, 16, tp=8, cp=16, pp=16, dp=8),
}
"""Llama 3 405B on 16,384 GPUs: Tables 3 and 4 of the paper."""
EIGHT_BILLION = _llama(32, 4_096, 14_336, 8_192, 8, tp=8, cp=1, pp=2, dp=4)
"""The model of 8 billion parameters of Table 3, on 64 GPUs."""


@dataclass(frozen=True)
class Sent:
    """What a rank sends along an axis in a step.

    Attributes:
        traffic: pattern and bytes.
        times: how often.
        hidden: whether something else can be computed meanwhile.
    """

    traffic: Traffic
    times: float
    hidden: bool


def sent_on_axes(run: Run) -> dict[str, Sent]:
    """Returns what each rank sends along each axis in a step.

    Along tp four all-reduces of a layer, two in each pass, as halves around what is cut by tokens.
    Along cp an all-gather of keys and values, and a reduce-scatter of their gradients. Along pp
    each token's activations to the next stage, and their gradients back, cut over tp. Along dp
    the weights in BF16 once, and the gradients in float32 once, as the paper says of its FSDP.
    A sequence is a microbatch, and a rank has one stage.

    Args:
        run: the model and its mesh.

    Source: Llama Team 2024, section 3.3.2; Korthikanti and others 2022, section 4.
    """
    t, c, p, d = (run.sizes[axis] for axis in AXES)
    layers = run.layers / p
    tokens = run.sequence * run.per_replica
    activations = tokens / c * run.hidden * BF16_BYTES
    keys = tokens * 2 * run.key_width / t * BF16_BYTES
    weights = run.parameters / (t * p)

    def round_the_ring(ranks: int, size_bytes: float) -> Traffic:
        return Traffic("ring", (ranks - 1) / ranks * size_bytes)

    return {
        "tp": Sent(
            round_the_ring(t, 2 * 4 * layers * activations), 8 * layers * run.per_replica, False
        ),
        "cp": Sent(round_the_ring(c, 2 * layers * keys), 2 * layers * run.per_replica, False),
        "pp": Sent(Traffic("line", activations / t), 2 * run.per_replica, False),
        "dp": Sent(round_the_ring(d, (BF16_BYTES + FP32_BYTES) * weights), 2 * layers, True),
    }


def traffic_of(run: Run) -> dict[str, Traffic]:
    """Returns the same for `link_bytes`, without axes of one rank."""
    return {axis: sent.traffic for axis, sent in sent_on_axes(run).items() if run.sizes[axis] > 1}


def axes_text(run: Run) -> str:
    """Returns a table: where the ranks of each axis are, and what they send each other.

    Args:
        run: the model and its mesh.
    """
    mesh, found = Mesh.ordered(AXES, run.sizes), sent_on_axes(run)
    cost = link_bytes(mesh, NEAR, traffic_of(run))
    lines = ["axis  ranks  apart  farthest link    GB sent  times  waited for"]
    for axis, sent in found.items():
        if run.sizes[axis] == 1:
            continue
        link = next(name for name in reversed(LINKS) if cost[axis][name])
        lines.append(
            f"{axis:<4}  {run.sizes[axis]:>5}  {mesh.stride(axis):>5}  {_words(link):<15}"
            f"  {sent.traffic.sent_bytes / GB:>7.1f}  {sent.times:>5,.0f}"
            f"  {'no' if sent.hidden else 'yes'}"
        )
    return "\n".join(lines)


def _words(link: str) -> str:
    return link.replace("racks", "pods")


def far_bytes_of_orders(run: Run) -> list[tuple[float, tuple[str, ...]]]:
    """Returns every order of the axes with the bytes that leave a pod in a step, the best first.

    Args:
        run: the model and its mesh.
    """
    # A pod is the node of a cluster that has no finer parts.
    return node_bytes_of_orders(run, NEAR.node * POD_NODES)


def node_bytes_of_orders(run: Run, node: int = 8) -> list[tuple[float, tuple[str, ...]]]:
    """Returns every order of the axes with the bytes that leave a node in a step, the best first.

    Args:
        run: the model and its mesh.
        node: GPUs of a node.
    """
    sizes = {axis: size for axis, size in run.sizes.items() if size > 1}
    return orders_by_slow_bytes(sizes, Cluster(node), traffic_of(run))


def orders_text(ranked: Sequence[tuple[float, tuple[str, ...]]], show: int = 3) -> str:
    """Returns the best and the worst orders, with what crosses slow links.

    Args:
        ranked: (bytes, order), the best first.
        show: how many of each.
    """
    chosen = list(ranked) if len(ranked) <= 2 * show else [*ranked[:show], *ranked[-show:]]
    lines = ["innermost first         GB on slow links"]
    for place, (size_bytes, order) in enumerate(chosen):
        if place == show and len(ranked) > 2 * show:
            lines.append(f"  ... {len(ranked) - 2 * show} more ...")
        lines.append(f"{', '.join(order):<22}  {size_bytes / GB:>16,.0f}")
    return "\n".join(lines)
