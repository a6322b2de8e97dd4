"""Bytes on each GPU of a training run, entry by entry, and what binds.

    found = memory(model, layout, batch)           # of each stage
    found.worst.entries["activations"]             # bytes on the GPU of the fullest stage
    found.says(80 * GIB)                           # what binds, and what would change it

Of one stage: parameters, gradients and optimizer states follow from the recipe and from ZeRO;
activations from what a layer keeps, times its layers, times the microbatches under way; then come
what first and last stage have besides, what is there for a moment, and what the program and its
libraries take. `peak_bytes` takes many layouts at once.

Recomputing by plan runs the first layers of each stage again, in as few parts as the best plan of a
uniform chain within its memory: none of them needs more than the later layers have left free.

The peak is at one of two moments, and the entries are those of the higher one: when the deepest
microbatch has just gone forward, or when its backward pass has ended and its gradients are whole.

Sources: Korthikanti and others 2022, arXiv 2205.05198, section 4 (activations); Rajbhandari and
others 2019, arXiv 1910.02054 (ZeRO); Beaumont and others 2019, arXiv 1911.13214 (plans); Qi and
others 2023, arXiv 2401.10241, Table 2 (zero bubble); huggingface/nanotron 2411b02 (gradients added
up in float32, logits).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.measure.transformer_shapes import NORMS, Transformer
from gpu_course.planner.layout import Batch, Layout, Layouts, head_stage, stage_layers
from gpu_course.units import GIB

Numbers = Any
"""A number, or an array of numbers."""
NODE = 8
"""Ranks of tensor parallelism that it advises at most: what crosses nodes is slow."""


@dataclass(frozen=True)
class Footprint:
    """What a program and its libraries hold besides what the formulas count.

    Attributes:
        name: as a table names it.
        logit_bytes: for each logit, at the end of the last stage.
        bucketed: True where data parallelism copies gradients into buckets that stay.
        gathered_bytes: for each number of a layer's input, whole, that tensor parallelism holds
            for a moment: gathered, and on its way back.
        edge_bytes: for each number that a stage gets and gives, kept for each microbatch under way.
        slack: of what comes and goes, the part that the allocator holds and nobody uses.
        fixed_bytes: of libraries' workspaces, whatever the run.
        context_bytes: of CUDA, its kernels and NCCL's channels, which a program cannot see and
            nvidia-smi shows.
    """

    name: str
    logit_bytes: float = 4.0
    bucketed: bool = False
    gathered_bytes: float = 0.0
    edge_bytes: float = 0.0
    slack: float = 0.0
    fixed_bytes: float = 0.0
    context_bytes: float = 0.0


FORMULAS = Footprint("formulas alone")
"""Nothing but what the formulas count, with the logits that a loss keeps in float32."""

NANOTRON = Footprint(
    "nanotron, PyTorch's peak of reserved memory",
    logit_bytes=12.0,
    bucketed=True,
    gathered_bytes=8.0,
    edge_bytes=4.0,
    slack=0.125,
    fixed_bytes=0.25 * GIB,
)
"""Of each logit bfloat16 (2), float32 (4), the loss's softmax (4) and the gradient in bfloat16 (2).
Of a layer's whole input bfloat16 gathered, its gradient, and both again on their way through the
next collective (8). What a stage gets and gives, in bfloat16 (4). DDP's buckets. An eighth of the
moving part for fragments and for blocks rounded up, and 0.25 GiB for cuBLAS and rotary tables: both
are round, and the same for all runs."""

MEGATRON = Footprint(
    "Megatron-LM, nvidia-smi",
    logit_bytes=10.0,
    gathered_bytes=8.0,
    edge_bytes=4.0,
    slack=0.1,
    fixed_bytes=0.25 * GIB,
    context_bytes=2.5 * GIB,
)
"""As nanotron without buckets, with a tenth for fragments, and with what nvidia-smi sees: about
0.5 GiB of CUDA context and kernels, and about 2 GiB of NCCL channels for a handful of groups."""


@dataclass(frozen=True)
class Part:
    """What a layer keeps, in one part of it.

    Attributes:
        name: "norms", "attention", "scores", "MLP" or "experts".
        whole: bytes that tensor parallelism alone does not cut.
        cut: bytes that it does.
        gathered: of `whole`, those that go into products cut over tp: without sequence parallelism
            they are whole anyway, and with it whole only where they are kept.
    """

    name: str
    whole: Numbers = 0.0
    cut: Numbers = 0.0
    gathered: Numbers = 0.0


def layer_parts(
    model: Transformer, tokens: Numbers, sequences: Numbers, keys: Numbers, *, flash: bool = True
) -> tuple[Part, ...]:
    """Returns what a layer keeps for its backward pass, in 16 bit, uncut.

    A model with norms that scale and shift, and with two matrices in its MLP, is the paper's: its
    terms are those of `activation_formulas`, dropout masks included. One with RMS norms and gates
    keeps the inputs of two norms and of two products, queries, keys, values and the result of
    attention, gate and up, the gate's activation, and the input of the last product.

    Args:
        model: its shape.
        tokens: of all sequences of a microbatch, on the ranks that share them.
        sequences: of the microbatch.
        keys: tokens that each token meets.
        flash: True where scores are never written down.

    Source: Korthikanti and others 2022, section 4.1; huggingface/nanotron 2411b02, llama.py.
    """
    h, q, k, inside = model.hidden, model.queries, model.keys, model.inside
    times = model.top_k or 1
    dropout = 1 if model.norm == "layer" else 0
    rows = model.heads * tokens
    scores = 0.0 if flash else (2 + 3 * dropout) * rows * keys
    statistics = 4.0 * rows if flash and not dropout else 0.0
    # The input of each expert is a copy, one for each expert that a token goes to.
    into = 2.0 * tokens * h * times
    wide = (8 if model.gated else 4) * tokens * inside * times
    return (
        Part("norms", whole=4.0 * tokens * h),
        Part(
            "attention",
            whole=(2.0 + dropout) * tokens * h,
            cut=tokens * (4.0 * q + 4.0 * k) + statistics,
            gathered=2.0 * tokens * h,
        ),
        Part("scores", cut=scores),
        Part(
            "experts" if model.experts else "MLP",
            whole=into + dropout * tokens * h + 4.0 * tokens * model.experts,
            cut=wide,
            gathered=into,
        ),
    )


def kept_bytes(part: Part, layout: Any) -> Numbers:
    """Returns what of a part one tensor-parallel rank keeps."""
    tp = layout.tp
    cut_whole = part.whole / np.where(layout.sequence_parallel, tp, 1)
    if layout.keep_gathered:
        cut_whole = cut_whole + part.gathered * np.where(layout.sequence_parallel, 1 - 1 / tp, 0)
    return part.cut / tp + cut_whole


def parameters_of_stage(
    model: Transformer, layout: Any, layers: Numbers, first: Numbers, last: Numbers
) -> tuple[Numbers, Numbers]:
    """Returns the parameters on one GPU of a stage: (those that all ranks of dp share, experts).

    Args:
        model, layout: of the run.
        layers: of the stage.
        first, last: whether it has the embedding, and the head.
    """
    tp = layout.tp
    h, inside = model.hidden, model.inside
    up = 2 if model.gated else 1
    tables = tp if layout.cut_tables else 1
    qkv_bias = (model.queries + 2 * model.keys) * model.qkv_bias
    mlp = (model.mlp_weights + up * inside * model.bias) / tp + h * model.bias
    dense = (model.attention_weights + qkv_bias) / tp + h * model.bias
    norm = NORMS[model.norm] * h
    dense = dense + model.norms * norm + model.router_weights
    experts = layers * 0.0
    if model.experts:
        experts = layers * mlp * model.experts / layout.ep
    else:
        dense = dense + mlp
    shared = layers * dense + first * (model.table / tables + model.positions * h)
    # Where one stage has both ends, one table is enough for a model that ties them.
    head = model.table / tables * np.where(first & model.tied, 0, 1)
    return shared + last * (head + norm), experts


def in_flight(layout: Any, batch: Batch, stage: Numbers) -> Numbers:
    """Returns how many microbatches' activations a stage holds at its fullest, in whole stages.

    With chunks, each is a part of a stage. Of zero bubble's schedules, activations that only wait
    for their weight gradients count whole, as its Table 2 counts them.

    >>> in_flight(Layout(pp=4), Batch(16, 8), 0), in_flight(Layout(pp=4), Batch(16, 8), 3)
    (4.0, 1.0)
    """
    pp, chunks, m = layout.pp, layout.chunks, layout.microbatches(batch)
    found = np.minimum(pp - stage, m)
    ahead = np.minimum(2 * (pp - stage - 1) + (chunks - 1) * pp + 1, m * chunks) / chunks
    for name, value in (
        ("gpipe", m),
        ("interleaved", np.where(np.equal(chunks, 1), found, ahead)),
        ("zb-h1", np.minimum(pp, m)),
        ("zb-h2", np.minimum(2 * pp - 1, m)),
    ):
        found = np.where(np.equal(layout.schedule, name), value, found)
    return found if np.ndim(found) else found.item()


def stage_entries(
    model: Transformer,
    layout: Any,
    batch: Batch,
    stage: Numbers,
    layers: Numbers,
    first: Numbers,
    last: Numbers,
    footprint: Footprint = FORMULAS,
) -> dict[str, Numbers]:
    """Returns the bytes of one stage's GPU at its fullest, by their names.

    Args:
        model, batch: of the run.
        layout: a Layout, or many Layouts; then all that follows may be arrays.
        stage: its number.
        layers: that it has.
        first, last: whether it has the embedding, and the head.
        footprint: of the program.
    """
    recipe, h = layout.recipe, model.hidden
    shared, experts = parameters_of_stage(model, layout, layers, first, last)
    group, expert_group = layout.dp * layout.cp, layout.dp * layout.cp / layout.ep

    def over(bytes_each: float, from_zero: int) -> Numbers:
        """Bytes of each parameter, cut over ranks from a stage of ZeRO on."""
        cut = np.greater_equal(layout.zero, from_zero)
        return bytes_each * (
            shared / np.where(cut, group, 1) + experts / np.where(cut, expert_group, 1)
        )

    whole = shared + experts
    one_layer = _one_layer(model, layout)
    sums = over(recipe.accumulator, 2)
    gradients = over(recipe.gradient, 2)
    # Where they are added to a wider sum, gradients of the layers' own width come and go.
    passing = gradients * 1.0 if recipe.accumulator else 0.0 * gradients
    staying = sums + (0.0 if recipe.accumulator else gradients)
    shards = np.greater(group, 1)
    gathers = np.equal(layout.zero, 3) & shards

    # Activations of one microbatch.
    tokens = layout.microbatch * batch.tokens / layout.cp
    narrow = tokens / np.where(layout.sequence_parallel, layout.tp, 1)
    parts = layer_parts(model, tokens, layout.microbatch, batch.tokens, flash=layout.flash)
    by_part = {part.name: kept_bytes(part, layout) for part in parts}
    all_of_it = sum(by_part.values())
    selective = all_of_it - by_part["scores"]
    inputs = 2.0 * narrow * h
    full = np.equal(layout.recompute, "full")
    kept = np.where(np.equal(layout.recompute, "selective"), selective, all_of_it)
    recomputed = np.where(
        np.equal(layout.recompute, "plan"), np.minimum(layout.recomputed_layers, layers), 0
    )
    recomputed = np.where(full, layers, recomputed)
    under_way = in_flight(layout, batch, stage)
    has_layers = np.greater(layers, 0)
    dropout = 1.0 if model.norm == "layer" else 0.0
    edges = first * dropout * narrow * h
    edges = edges + np.where(np.greater(layout.pp, 1), footprint.edge_bytes * narrow * h, 0.0)
    edges = edges + last * 4.0 * narrow * h / np.maximum(under_way, 1)
    # A part that runs again while the later layers are gone is as long as these were, and keeps
    # its first input alone; where all run again, each keeps its own, and works on its own.
    later = np.maximum(layers - recomputed, 1)
    kept_inputs = np.where(recomputed < layers, np.ceil(recomputed / later), recomputed)
    layers_kept = (layers - recomputed) * kept + kept_inputs * inputs
    each = layers_kept + edges

    # What is there for a moment: at the end of the forward pass, and at that of the backward pass.
    logits = last * footprint.logit_bytes * tokens * model.vocabulary / layout.tp
    working = np.where((recomputed > 0) & (recomputed >= layers), all_of_it - inputs, 0.0)
    split = np.greater(layout.tp, 1) & has_layers
    buffers = np.where(split, footprint.gathered_bytes * tokens * h, 0.0)
    gathered_keys = np.where(np.greater(layout.cp, 1), 4.0 * tokens * layout.cp * model.keys, 0.0)
    buffers = buffers + gathered_keys / layout.tp * has_layers
    moment = np.maximum(logits, working + buffers)
    ahead = under_way * each + moment
    behind = (under_way - 1) * each + passing
    back = behind > ahead
    activations = np.where(back, under_way - 1, under_way)
    keeps_logits = (logits >= working + buffers) & ~back
    keeps_work = ~keeps_logits & ~back
    entries: dict[str, Numbers] = {
        "parameters": over(recipe.weight, 3),
        "gradients": staying + np.where(back, passing, 0.0),
        "optimizer states": over(recipe.states, 1),
        "gathered layers": np.where(gathers, (2 * recipe.weight + recipe.gradient) * one_layer, 0),
        "gradient buckets": np.where(
            shards & np.less(layout.zero, 2), recipe.gradient * whole * footprint.bucketed, 0.0
        ),
        "activations": activations * layers_kept,
        "stage ends": activations * edges,
        "logits": np.where(keeps_logits, logits, 0.0),
        "recomputed layer": np.where(keeps_work, working, 0.0),
        "buffers": np.where(keeps_work, buffers, 0.0),
    }
    moving = np.maximum(ahead, behind)
    entries["allocator"] = footprint.slack * moving
    entries["libraries"] = footprint.fixed_bytes + footprint.context_bytes + 0.0 * moving
    return entries


def _one_layer(model: Transformer, layout: Any) -> Numbers:
    """Parameters of one layer, whole over data-parallel ranks, on one rank of the others."""
    ones = parameters_of_stage(model, layout, np.float64(1), np.False_, np.False_)
    return ones[0] + ones[1]


@dataclass(frozen=True)
class StageMemory:
    """Bytes on the GPU of one stage.

    Attributes:
        stage: its number.
        layers: that it has.
        entries: bytes by name; they sum to the peak.
    """

    stage: int
    layers: int
    entries: Mapping[str, float]

    @property
    def bytes(self) -> float:
        """All of them."""
        return sum(self.entries.values())


@dataclass(frozen=True)
class Memory:
    """Bytes on the GPUs of all stages.

    Attributes:
        model, layout, batch, footprint: that it was asked for.
        stages: one after the other.
    """

    model: Transformer
    layout: Layout
    batch: Batch
    footprint: Footprint
    stages: tuple[StageMemory, ...]

    @property
    def worst(self) -> StageMemory:
        """The fullest stage, the first of several."""
        return max(self.stages, key=lambda stage: stage.bytes)

    @property
    def bytes(self) -> float:
        """On its GPU."""
        return self.worst.bytes

    def says(self, memory_bytes: float) -> str:
        """Returns what binds, and what would change it.

        Args:
            memory_bytes: of a GPU.
        """
        worst = self.worst
        name = max(worst.entries, key=lambda each: worst.entries[each])
        fits = "fits" if worst.bytes <= memory_bytes else "does not fit"
        sentences = [
            f"Stage {worst.stage} takes {_gib(worst.bytes)} and {fits} in {_gib(memory_bytes)}.",
            f"{name.capitalize()} are most of it: {_gib(worst.entries[name])}.",
        ]
        sentences += [
            f"{words} would bring it to {_gib(other.bytes)}." for words, other in self.remedies()
        ]
        return " ".join(sentences)

    def remedies(self) -> Iterator[tuple[str, Memory]]:
        """Yields single changes that need less memory on as many GPUs: the best ones first."""
        found = []
        for words, layout in _changes(self.layout, self.model):
            other = memory(self.model, layout, self.batch, self.footprint)
            if other.bytes < 0.98 * self.bytes:
                found.append((words, other))
        yield from sorted(found, key=lambda pair: pair[1].bytes)[:3]


def _changes(layout: Layout, model: Transformer) -> Iterator[tuple[str, Layout]]:
    if layout.recompute in ("none", "selective") and not layout.flash:
        yield "Fused attention", replace(layout, flash=True)
    if layout.recompute == "none" and not layout.flash:
        yield "Selective recomputing", replace(layout, recompute="selective")
    if layout.recompute != "full":
        yield "Full recomputing", replace(layout, recompute="full")
    if layout.dp * layout.cp > 1:
        for zero in range(layout.zero + 1, 4):
            yield f"ZeRO-{zero}", replace(layout, zero=zero)
    if layout.microbatch > 1 and layout.microbatch % 2 == 0:
        half = layout.microbatch // 2
        yield f"A microbatch of {half}", replace(layout, microbatch=half)
    if not layout.sequence_parallel and layout.tp > 1:
        yield "Sequence parallelism", replace(layout, sequence_parallel=True)
    heads = math.gcd(model.heads, model.kv_heads or model.heads)
    if 2 * layout.tp <= NODE and layout.dp % (2 * layout.ep) == 0 and heads % (2 * layout.tp) == 0:
        wider = replace(layout, tp=2 * layout.tp, dp=layout.dp // 2)
        yield f"TP {wider.tp} with DP {wider.dp}", wider


def memory(
    model: Transformer, layout: Layout, batch: Batch, footprint: Footprint = FORMULAS
) -> Memory:
    """Returns the bytes on each stage's GPU.

    It does not ask whether the layout is legal: `nearest.check` does.

    Args:
        model, layout, batch: of the run.
        footprint: of the program that runs it.

    >>> from gpu_course.planner.playbook import MODELS
    >>> found = memory(MODELS["80B"], Layout(dp=8, tp=8, pp=4, zero=1), Batch(256, 4096))
    >>> found.worst.stage, round(found.bytes / GIB)
    (0, 27)
    """
    counts = np.array(stage_layers(model, layout.pp, layout.split))
    stage = np.arange(layout.pp)
    last = stage == head_stage(model, layout.pp, layout.split)
    found = stage_entries(model, layout, batch, stage, counts, stage == 0, last, footprint)
    columns = {name: np.broadcast_to(value, stage.shape) for name, value in found.items()}
    stages = tuple(
        StageMemory(each, int(counts[each]), {n: float(v[each]) for n, v in columns.items()})
        for each in range(layout.pp)
    )
    return Memory(model, layout, batch, footprint, stages)


def least_recomputing(
    model: Transformer,
    layout: Layout,
    batch: Batch,
    memory_bytes: float,
    footprint: Footprint = FORMULAS,
) -> Layout:
    """Returns the layout that runs as few layers of each stage again as fit in a memory.

    It stays as it is where nothing need run again.

    Args:
        model, layout, batch, footprint: as for `memory`.
        memory_bytes: of a GPU.

    Raises:
        CourseError: it does not fit even where all layers run again.

    >>> from gpu_course.planner.playbook import MODELS
    >>> tight = Layout(dp=8, tp=8, pp=4, zero=1, microbatch=2)
    >>> least_recomputing(MODELS["80B"], tight, Batch(256, 4096), 32 * GIB).recomputed_layers
    7
    """
    plain = replace(layout, recompute="none", recomputed_layers=0)
    if peak_bytes(model, plain, batch, footprint) <= memory_bytes:
        return plain
    most = max(stage_layers(model, layout.pp, layout.split))
    for layers in range(1, most + 1):
        again = replace(layout, recompute="plan", recomputed_layers=layers)
        least = peak_bytes(model, again, batch, footprint)
        if least <= memory_bytes:
            return again
    raise CourseError(
        f"with all layers run again the fullest GPU still takes {_gib(least)}, and it has"
        f" {_gib(memory_bytes)}",
        "cut the model further: more tp or pp, a higher stage of ZeRO, or a smaller microbatch",
    )


def peak_bytes(
    model: Transformer,
    layout: Layout | Layouts,
    batch: Batch,
    footprint: Footprint = FORMULAS,
) -> Numbers:
    """Returns the bytes on the fullest GPU: a number, or an array for many layouts.

    Args:
        model, layout, batch, footprint: as for `memory`.
    """
    if isinstance(layout, Layout):
        return memory(model, layout, batch, footprint).bytes
    return _bytes_of(model, layout, batch, footprint, first_alone=False)


def first_stage_bytes(
    model: Transformer, layouts: Layouts, batch: Batch, footprint: Footprint = FORMULAS
) -> np.ndarray:
    """Returns the bytes on a GPU of the first stage, for many layouts.

    Args:
        model, layouts, batch, footprint: as for `memory`.
    """
    return _bytes_of(model, layouts, batch, footprint, first_alone=True)


def _bytes_of(
    model: Transformer, layouts: Layouts, batch: Batch, footprint: Footprint, *, first_alone: bool
) -> np.ndarray:
    found = np.zeros(len(layouts))
    for pp in np.unique(layouts.pp):
        which = np.flatnonzero(layouts.pp == pp)
        some = layouts.take(which)
        kinds = _kinds(model, int(pp), layouts.split)
        for stage, layers, first, last in kinds[:1] if first_alone else kinds:
            entries = stage_entries(
                model, some, batch, stage, layers, np.bool_(first), np.bool_(last), footprint
            )
            found[which] = np.maximum(found[which], sum(entries.values()))
    return found


def _kinds(
    model: Transformer, pp: int, split: str | tuple[int, ...]
) -> list[tuple[int, int, bool, bool]]:
    """Returns of each kind of stage the first: it has the most microbatches under way."""
    counts, head = stage_layers(model, pp, split), head_stage(model, pp, split)
    kinds: dict[tuple[int, bool, bool], int] = {}
    for stage, layers in enumerate(counts):
        kinds.setdefault((layers, stage == 0, stage == head), stage)
    return [(stage, *kind) for kind, stage in kinds.items()]


def _gib(count: float) -> str:
    return f"{count / GIB:,.1f} GiB"
