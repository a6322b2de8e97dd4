"""What a GPU of each stage holds, entry by entry: the reference of `predict_memory`.

It is a ledger: each entry says how many numbers there are, and among how many GPUs they are
divided. It shares nothing with `gpu_course.planner`, and a test lays both side by side.

Source: Korthikanti and others 2022, arXiv 2205.05198, section 4; Rajbhandari and others 2019, arXiv
1910.02054, section 5.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

STATE_BYTES = {"optimizer": 12, "gradients": 4, "weights": 2}
"""Bytes of a parameter's states, in the order in which the stages of ZeRO divide them."""
RECOMPUTED = ("none", "selective", "full")

Plain = Mapping[str, Any]


def weights_of_stage(model: Plain, layout: Plain, stage: int) -> Iterator[tuple[float, int]]:
    """Yields (weights that a GPU has, replicas that have the same), entry by entry.

    Args:
        model, layout: as `predict_memory` takes them.
        stage: of the pipeline.
    """
    hidden, tp, dp, ep = model["hidden"], layout["tp"], layout["dp"], layout["ep"]
    layers, stages = layout["stages"][stage], len(layout["stages"])
    width, keys = (model[of] * model["head_size"] for of in ("heads", "kv_heads"))
    mlp = model["matrices"] * hidden * model["mlp"]
    yield from [(layers * hidden * rows / tp, dp) for rows in (width, keys, keys, width)]
    yield layers * 2 * hidden, dp
    if model["experts"]:
        yield layers * hidden * model["experts"], dp
        yield layers * mlp * (model["experts"] // ep) / tp, dp // ep
    else:
        yield layers * mlp / tp, dp
    ends = [stage == 0, stage == stages - 1]
    tables = sum(ends) - (model["tied"] and stages == 1)
    yield tables * hidden * model["vocabulary"] / tp, dp
    yield hidden * ends[1], dp


def state_bytes(model: Plain, layout: Plain, stage: int) -> float:
    """Returns the bytes of weights, gradients and optimizer on a GPU of a stage.

    Args:
        model, layout, stage: as for `weights_of_stage`.
    """
    found = 0.0
    for weights, replicas in weights_of_stage(model, layout, stage):
        for place, size_bytes in enumerate(STATE_BYTES.values()):
            found += weights * size_bytes / (replicas if place < layout["zero"] else 1)
    return found


def layer_bytes_of_token(model: Plain, layout: Plain, sequence: int) -> float:
    """Returns the activations that a layer keeps of each token, in bytes on one GPU.

    Args:
        model, layout: as `predict_memory` takes them.
        sequence: tokens of a sequence.
    """
    hidden, tp = model["hidden"], layout["tp"]
    if layout["recompute"] == "full":
        return 2.0 * hidden
    width, keys = (model[of] * model["head_size"] for of in ("heads", "kv_heads"))
    whole = (2 + 2) * hidden + (2 + 2) * hidden + (1 + 1) * hidden  # norms, products, masks
    shared = 2 * (width + keys + keys + width)
    shared += 2 * model["matrices"] * model["mlp"] * max(model["top_k"], 1)
    if layout["recompute"] == "none":
        shared += (2 + 1 + 2) * model["heads"] * sequence
    return float(whole / (tp if layout["sp"] else 1) + shared / tp)


def activation_bytes(model: Plain, layout: Plain, batch: Plain, stage: int) -> float:
    """Returns the bytes of activations on a GPU of a stage, at their most with 1F1B.

    Args:
        model, layout, batch: as `predict_memory` takes them.
        stage: of the pipeline.
    """
    stages = len(layout["stages"])
    tokens = batch["sequence"] * batch["microbatch"]
    cut = layout["tp"] if layout["sp"] else 1
    under_way = min(stages - stage, microbatches(layout, batch))
    layers = layout["stages"][stage] * layer_bytes_of_token(model, layout, batch["sequence"])
    found = tokens * under_way * layers
    if stage == 0:
        found += tokens * under_way * model["hidden"] / cut
    if stage == stages - 1:
        found += tokens * (4 * model["hidden"] / cut + 4 * model["vocabulary"] / layout["tp"])
    return found


def microbatches(layout: Plain, batch: Plain) -> int:
    """Returns how many microbatches a replica takes in a step."""
    return int(batch["sequences"] // (layout["dp"] * batch["microbatch"]))


def illegal(model: Plain, layout: Plain, batch: Plain) -> str:
    """Returns why a layout cannot be, in a few words; or "".

    Args:
        model, layout, batch: as `predict_memory` takes them.
    """
    dp, tp, ep, stages = (layout[name] for name in ("dp", "tp", "ep", "stages"))
    counts = [dp, tp, ep, *stages, *(batch[of] for of in ("sequences", "microbatch", "sequence"))]
    if any(each < 1 for each in counts):
        return "something is below 1"
    if layout["zero"] not in range(len(STATE_BYTES) + 1) or layout["recompute"] not in RECOMPUTED:
        return "an unknown word"
    if math.fsum(stages) != model["layers"]:
        return "stages that are not all layers"
    cut = {name: model[name] for name in ("heads", "kv_heads", "mlp", "vocabulary")}
    if layout["sp"]:
        cut["sequence"] = batch["sequence"]
    for name, size in cut.items():
        if size % tp:
            return f"tp over {name}"
    if not model["experts"]:
        if ep != 1:
            return "ep without experts"
    elif model["experts"] % ep or dp % ep:
        return "ep over experts or dp"
    return "dp over the batch" if batch["sequences"] % (dp * batch["microbatch"]) else ""
