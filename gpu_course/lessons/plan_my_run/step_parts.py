"""The seconds of a step, part by part: the reference of `predict_step_time`.

It goes through the stages and the messages one by one, and shares nothing with
`gpu_course.planner`, which knows much more of a machine.

Source: Narayanan and others 2021, arXiv 2104.04473, sections 2 and 3; Rajbhandari and others 2019,
arXiv 1910.02054, section 7.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpu_course.lessons.plan_my_run.stage_bytes import microbatches

Plain = Mapping[str, Any]
PARTS = ("compute", "tp", "host", "bubble", "pp", "dp")


@dataclass(frozen=True)
class Layer:
    """What one layer has: weights in its matrices, and numbers in the queries of a token."""

    weights: int
    queries: int

    @classmethod
    def of(cls, model: Plain) -> Layer:
        """Returns it for the plain values of a model."""
        queries, keys = (model[of] * model["head_size"] for of in ("heads", "kv_heads"))
        matrices = [queries, keys, keys, queries, *[model["mlp"]] * model["matrices"]]
        return cls(sum(model["hidden"] * width for width in matrices), queries)


def stage_flop(model: Plain, layout: Plain, batch: Plain, stage: int) -> float:
    """Returns the FLOP of a microbatch on all GPUs of a stage, forward and backward.

    Args:
        model, layout, batch: as `predict_step_time` takes them.
        stage: of the pipeline.
    """
    layer = Layer.of(model)
    # Two products with all pairs of tokens, each with a product and a sum for every number.
    scores = 2 * 2 * layer.queries * batch["sequence"]
    again = {"none": 0, "selective": scores, "full": 2 * layer.weights + scores}
    of_token = layout["stages"][stage] * (
        (1 + 2) * (2 * layer.weights + scores) + again[layout["recompute"]]
    )
    if stage + 1 == len(layout["stages"]):
        of_token += (1 + 2) * 2 * model["hidden"] * model["vocabulary"]
    return float(of_token * batch["sequence"] * batch["microbatch"])


def ring_rate(ranks: int, apart: int, machine: Plain) -> float:
    """Returns what each GPU of a group sends in a second, in bytes.

    Args:
        ranks: in the group.
        apart: ranks from one to the next.
        machine: as `predict_step_time` takes it.
    """
    nodes = [rank * apart // machine["node"] for rank in range(ranks)]
    link = float(machine["link_bytes_per_s"])
    if nodes[-1] == 0:
        return link
    return min(nodes.count(0) * machine["card_bytes_per_s"], link)


def all_reduce_seconds(size_bytes: float, ranks: int, apart: int, machine: Plain) -> float:
    """Returns the seconds of an all-reduce round a ring.

    Args:
        size_bytes: on each GPU.
        ranks, apart, machine: as for `ring_rate`.
    """
    part = size_bytes / ranks
    return 2 * (ranks - 1) * part / ring_rate(ranks, apart, machine)


def step_seconds(model: Plain, layout: Plain, batch: Plain, machine: Plain) -> dict[str, float]:
    """Returns the seconds of each of PARTS, and of the step.

    Args:
        model, layout, batch, machine: as `predict_step_time` takes them.
    """
    stages, tp, dp = layout["stages"], layout["tp"], layout["dp"]
    many, depth = microbatches(layout, batch), len(stages)
    edge_bytes = 2 * batch["microbatch"] * batch["sequence"] * model["hidden"]
    reduce = all_reduce_seconds(edge_bytes, tp, 1, machine)
    of_stages = []
    for stage, layers in enumerate(stages):
        compute = stage_flop(model, layout, batch, stage) / (tp * machine["flop_per_s"])
        sums = layers * (2 + 2 + 2 * (layout["recompute"] == "full")) * reduce
        of_stages.append((max(compute + sums, layers * machine["host_s"]), compute, sums))
    slowest, compute, sums = max(of_stages)
    found = {
        "compute": many * compute,
        "tp": many * sums,
        "host": many * (slowest - compute - sums),
        "bubble": (depth - 1) * slowest,
        "pp": 0.0,
    }
    if depth > 1:
        far = (depth * dp * tp - 1) // machine["node"] > 0
        rate = machine["card_bytes_per_s"] if far else machine["link_bytes_per_s"]
        found["pp"] = (many + depth - 1) * 2 * (edge_bytes / tp) / rate
    layer, table = Layer.of(model), model["hidden"] * model["vocabulary"]
    weights = max(
        layers * layer.weights + table * (stage == 0) + table * (stage == depth - 1)
        for stage, layers in enumerate(stages)
    )
    # Reduce-scatters of gradients and all-gathers of weights: a way round the ring each.
    round_bytes = {0: 4 + 4, 1: 4 + 2, 2: 4 + 2, 3: 4 + many * (2 + 2)}[layout["zero"]]
    sent = (dp - 1) / dp * weights / tp * round_bytes
    found["dp"] = sent / ring_rate(dp, tp, machine)
    return found | {"step": sum(found.values())}
