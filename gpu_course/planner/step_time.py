"""Time of a training step: what each part of it takes on a described machine, for many layouts.

    parts = step_time(model, layout, Batch(2048, 2048), A100, MEGATRON)
    parts.total, parts.bubble, parts.data

A layer's work comes from `layer_time`. Around it stand what tensor, context and expert parallelism
send, the host that starts the kernels, the pipeline with its sends, its bubble and its uneven
stages, the head on the last stage, what data-parallel ranks send, and the optimizer. The parts sum
to the step. `layout` may be a `Layout`, or many `Layouts`, and then each part is an array.

Source: Narayanan and others 2021, arXiv 2104.04473 (pipeline, interleaving, scatter and gather);
Rajbhandari and others 2019, arXiv 1910.02054 (what ZeRO sends); Korthikanti and others 2022.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from gpu_course.planner.layer_time import Numbers, layer_time, product_s, uneven
from gpu_course.planner.layout import stage_layers
from gpu_course.planner.machines import Machine
from gpu_course.planner.programs import Program

LATE = 0.03
"""How much later each further rank of a tensor-parallel group makes the last of their hosts: set on
vTrain's open rows of one node as a whole."""


@dataclass(frozen=True)
class StepTime:
    """Seconds of a step, part by part. Numbers, or arrays with one for each layout.

    Attributes:
        compute: of the layers of a stage at the mean, recomputing included.
        tensor: what tensor-parallel ranks send and nothing hides.
        context: what context-parallel ranks send.
        experts: what expert-parallel ranks send.
        host: waits for the host to start kernels.
        head: logits and loss, their share of a stage at the mean.
        sends: between stages.
        uneven: waits for the slowest stage, which has more layers than the mean, or the head.
        bubble: filling and draining the pipeline.
        data: what data-parallel ranks send and nothing hides.
        update: of the optimizer.
    """

    compute: Numbers
    tensor: Numbers
    context: Numbers
    experts: Numbers
    host: Numbers
    head: Numbers
    sends: Numbers
    uneven: Numbers
    bubble: Numbers
    data: Numbers
    update: Numbers

    @property
    def total(self) -> Numbers:
        """The whole step."""
        return sum(self.parts().values())

    def parts(self) -> dict[str, Numbers]:
        """Returns each part by its name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


def ring_s(size: Numbers, ranks: Numbers, in_node: Numbers, card: Machine) -> Numbers:
    """Returns the seconds of an all-gather or a reduce-scatter; an all-reduce takes two.

    Args:
        size: bytes of the whole, gathered or not yet scattered.
        ranks: of the group.
        in_node: members of it that share a node: each brings its own network card.
        card: one of them.
    """
    network = in_node * card.network_bytes_per_s
    rate = np.where(
        ranks > in_node, np.minimum(card.nvlink_bytes_per_s, network), card.nvlink_bytes_per_s
    )
    return np.where(ranks > 1, (ranks - 1) / ranks * size / rate + card.hop_s, 0.0)


def in_node(ranks: Numbers, stride: Numbers, card: Machine) -> Numbers:
    """Returns how many ranks of a group, each `stride` after the last, share a node."""
    return np.clip(card.node // np.minimum(stride, card.node), 1, ranks)


def step_time(model: Any, layout: Any, batch: Any, card: Machine, program: Program) -> StepTime:
    """Returns what a step takes.

    Args:
        model: a Transformer, or anything with its names.
        layout: a Layout, or many Layouts.
        batch: sequences of a step, and tokens of each.
        card: the machine.
        program: that runs on it.
    """
    tp, pp, cp, dp, ep, chunks = (
        layout.tp, layout.pp, layout.cp, layout.dp, layout.ep, layout.chunks,
    )  # fmt: skip
    microbatches = batch.sequences / (dp * layout.microbatch)
    tokens = layout.microbatch * batch.tokens / cp
    full = _share(layout, "full")
    full = full + _share(layout, "plan") * layout.recomputed_layers * pp / model.layers
    selective = _share(layout, "selective")
    work = layer_time(model, layout, batch.tokens, card, program)
    again = work.products * program.selective + (0.0 if layout.flash else work.scores)
    compute = work.forward * (1 + full) + work.backward + selective * again

    wide = 2.0 * tokens * model.hidden
    calls = np.where(tp > 1, 8 + 4 * full, 0.0)
    once = ring_s(wide, tp, in_node(tp, 1, card), card)
    tensor = once * calls * (1 - program.tensor_hidden)
    keys = 2 * 2.0 * tokens * cp * model.keys / tp
    context = ring_s(keys, cp, in_node(cp, tp, card), card) * (2 + full)
    routed = wide * model.top_k / np.where(layout.sequence_parallel, tp, 1)
    experts = ring_s(routed, np.where(model.experts > 0, ep, 1), in_node(ep, tp * cp, card), card)
    experts = experts * (4 + 2 * full)

    busy = compute + tensor + context + experts
    host = (2 + full) * card.host_s * (1 + LATE * (tp - 1)) + calls / 2 * card.hop_s
    host = host + np.where(pp > 1, program.staged_host_s * tp, 0.0)
    # Ranks that wait for each other feel the delays of both; one alone runs ahead of its card.
    apart = np.maximum(busy, host)
    layer = np.where((tp > 1) & program.in_step, np.hypot(busy, host), apart)

    head = _head_s(model, tokens, tp, card, program)
    sends = _sends_s(wide, layout, card, program)
    longest, last = _stage_layers(model, layout)
    average = (model.layers * layer + head) / pp + sends
    slowest = np.maximum(longest * layer, last * layer + head) + sends
    full_fill = (pp * average - slowest) / chunks
    bubble = full_fill * _filled(layout, work.forward * (1 + full), work.backward)
    run = microbatches * slowest + bubble
    data, update = _data_s(model, layout, microbatches, run, slowest, card, program)
    layers = microbatches * model.layers / pp
    return StepTime(
        compute=layers * compute,
        tensor=layers * tensor,
        context=layers * context,
        experts=layers * experts,
        host=layers * (layer - busy),
        head=microbatches * head / pp,
        sends=microbatches * sends,
        uneven=microbatches * (slowest - average),
        bubble=bubble,
        data=data,
        update=update,
    )


def _share(layout: Any, word: str) -> Numbers:
    return np.equal(layout.recompute, word) * 1.0


def _stage_layers(model: Any, layout: Any) -> tuple[Numbers, Numbers]:
    """Returns how many layers the longest stage has, and how many the last one."""
    pp = layout.pp
    if layout.split != "even":
        found = {int(each): stage_layers(model, int(each), layout.split) for each in np.unique(pp)}
        longest = np.vectorize(lambda each: max(found[int(each)]), otypes=[float])(pp)
        return longest, np.vectorize(lambda each: found[int(each)][-1], otypes=[float])(pp)
    each, over = model.layers // pp, model.layers % pp
    # Stages in the middle are the first to get one more, then the last, as `stage_layers` has it.
    last = each + np.where(pp > 1, over > pp - 2, over > 0)
    return each + np.where(pp > 2, over > 0, last > each), last


def _filled(layout: Any, forward: Numbers, backward: Numbers) -> Numbers:
    """Returns which part of the bubble a schedule leaves, of that of 1F1B.

    Zero bubble's handcrafted orders put weight gradients where others wait: (F + I - W) and
    (F + I - 2 W) against (F + I + W), with W half of the backward pass.
    """
    weight = backward / 2
    whole = forward + backward
    h1, h2 = (np.maximum(whole - each * weight, 0.0) / whole for each in (2, 3))
    return np.where(
        np.equal(layout.schedule, "zb-h1"), h1, np.where(np.equal(layout.schedule, "zb-h2"), h2, 1)
    )


def _head_s(model: Any, tokens: Numbers, tp: Numbers, card: Machine, program: Program) -> Numbers:
    """Logits and loss of a microbatch, forward and backward."""
    words = np.ceil(model.vocabulary / tp)
    penalty = 1.0 if program.padded else np.where(tp > 1, 1.0, uneven(model.vocabulary))
    work_s = 3 * product_s(tokens, words, model.hidden, card) * penalty
    return work_s + program.logit_bytes * tokens * words / card.hbm_bytes_per_s


def _sends_s(wide: Numbers, layout: Any, card: Machine, program: Program) -> Numbers:
    """What a stage waits for sends of one microbatch, forward and backward."""
    size = wide / layout.tp
    far = layout.tp * layout.cp * layout.dp >= card.node
    rate = np.where(far, card.network_bytes_per_s, card.nvlink_bytes_per_s)
    each = (size / rate + card.hop_s) * (1 - program.sends_hidden)
    return np.where(layout.pp > 1, (2 * each + program.stage_s) * layout.chunks, 0.0)


def _data_s(
    model: Any,
    layout: Any,
    microbatches: Numbers,
    run: Numbers,
    last: Numbers,
    card: Machine,
    program: Program,
) -> tuple[Numbers, Numbers]:
    """What data-parallel ranks send besides the work, and what the optimizer takes."""
    group = layout.dp * layout.cp
    near = in_node(group, layout.tp, card)
    shared = np.maximum(model.experts, 1) / layout.ep
    layers = model.attention_weights + shared * model.mlp_weights
    held = (layers * model.layers / layout.pp + model.table) / layout.tp
    scatter = ring_s(program.gradient_bytes * held, group, near, card)
    forth = np.where(layout.zero > 0, 2.0, program.gradient_bytes)
    gather = ring_s(forth * held, group, near, card)
    once = np.maximum(scatter + gather - program.gradients_hidden * last, 0.0)
    each = np.maximum(microbatches * (2 * gather + scatter) - program.gradients_hidden * run, 0.0)
    data = np.where(layout.zero == 3, each, once)
    owned = np.where(layout.zero > 0, held / group, held)
    return data, program.update_bytes * owned / card.hbm_bytes_per_s
