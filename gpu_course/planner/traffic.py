"""What one GPU sends in a training step, and in how many calls, for each axis of a layout.

    sent = traffic(model, layout, batch, stage=0)
    sent["tensor"].calls, sent["tensor"].bytes

A collective is booked at the volume of a ring. Of the course's own GPT on a laptop's ranks these
are the calls and the bytes that are counted there, to the last one.

Sources: Shoeybi and others 2019 (tensor parallelism); Korthikanti and others 2022, section 4.2
(sequence parallelism); Llama Team 2024, section 3.3.2 (keys and values gathered over cp);
Rajbhandari and others 2019 (ZeRO); Narayanan and others 2021 (what stages send).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpu_course.measure.transformer_shapes import NORMS, Transformer
from gpu_course.planner.layout import Batch, Layout, head_stage, stage_layers
from gpu_course.planner.memory import parameters_of_stage

REASONS = ("tensor", "context", "experts", "pipeline", "gradients", "parameters")


@dataclass(frozen=True)
class Sent:
    """What goes over the wire for one reason.

    Attributes:
        calls: collectives that this GPU takes part in, or sends.
        bytes: that it sends.
    """

    calls: int = 0
    bytes: float = 0.0

    def __add__(self, other: Sent) -> Sent:
        return Sent(self.calls + other.calls, self.bytes + other.bytes)

    def times(self, many: int) -> Sent:
        """Returns so many of it."""
        return Sent(self.calls * many, self.bytes * many)


@dataclass(frozen=True)
class Wire:
    """How a program writes on the wire.

    Attributes:
        element_bytes: of activations and parameters.
        gradient_bytes: of gradients.
        copies: of each token that are sent to experts; 0 for top_k of the model.
        routed_cut: True where sequence parallelism cuts the tokens that go to experts.
        separate: True where ZeRO-3 gathers each weight in a call of its own, and False where it
            gathers all of a layer at once.
    """

    element_bytes: int = 2
    gradient_bytes: int = 4
    copies: int = 0
    routed_cut: bool = True
    separate: bool = False


def gathered(whole: float, ranks: int) -> Sent:
    """Returns an all-gather of so many bytes, or a reduce-scatter of them; nothing for one rank."""
    return Sent(1, whole * (ranks - 1) / ranks) if ranks > 1 else Sent()


def reduced(whole: float, ranks: int) -> Sent:
    """Returns an all-reduce of so many bytes."""
    return Sent(1, 2 * whole * (ranks - 1) / ranks) if ranks > 1 else Sent()


def traffic(
    model: Transformer, layout: Layout, batch: Batch, stage: int = 0, wire: Wire | None = None
) -> dict[str, Sent]:
    """Returns what a GPU of a stage sends in a step, by REASONS.

    Args:
        model, layout, batch: of the run.
        stage: of the GPU.
        wire: how the program writes on it.
    """
    wire = wire or Wire()
    layers = stage_layers(model, layout.pp, layout.split)[stage]
    first, last = stage == 0, stage == head_stage(model, layout.pp, layout.split)
    turns = layout.microbatches(batch)
    tokens = layout.microbatch * batch.tokens / layout.cp
    wide = tokens * model.hidden * wire.element_bytes
    again = _layers_again(layout, layers)
    found = {
        "tensor": _layer_tensor(layout, wide, layers, again) + _ends_tensor(
            layout, wide, tokens, first=first, last=last
        ),
        "context": _context(model, layout, tokens, wire).times(2 * layers + again),
        "experts": _experts(model, layout, wide, wire).times(4 * layers + 2 * again),
        "pipeline": _pipeline(layout, wide, first=first, last=last),
    }  # fmt: skip
    found = {name: sent.times(turns) for name, sent in found.items()}
    found["gradients"] = _gradients(model, layout, layers, turns, wire, first=first, last=last)
    found["parameters"] = _parameters(model, layout, layers, turns, wire, first=first, last=last)
    return found


def _layers_again(layout: Layout, layers: int) -> int:
    """How many layers of a stage run forward once more."""
    if layout.recompute == "full":
        return layers
    return min(layout.recomputed_layers, layers) if layout.recompute == "plan" else 0


def _layer_tensor(layout: Layout, wide: float, layers: int, again: int) -> Sent:
    """Of all layers and one microbatch: at two places cut work begins, and at two it ends."""
    if not layout.sequence_parallel:
        return reduced(wide, layout.tp).times(4 * layers + 2 * again)
    calls = 8 * layers + 4 * again
    if not layout.keep_gathered:
        calls += 2 * (layers - again)
    return gathered(wide, layout.tp).times(calls)


def _ends_tensor(layout: Layout, wide: float, tokens: float, *, first: bool, last: bool) -> Sent:
    """Of embedding, head and loss, where their tables are cut."""
    found = Sent()
    if not layout.cut_tables:
        return found
    one = gathered(wide, layout.tp) if layout.sequence_parallel else reduced(wide, layout.tp)
    if first:
        found += one.times(2 if layout.sequence_parallel else 1)
    if last:
        found += one.times(2 if layout.sequence_parallel else 1)
        # The loss: the largest logit, the target's, and the sum, in float32 for each token.
        found += reduced(4 * tokens, layout.tp).times(3)
    return found


def _context(model: Transformer, layout: Layout, tokens: float, wire: Wire) -> Sent:
    """One gathering of a layer's keys and values, or the scattering of their gradients."""
    whole = 2 * tokens * layout.cp * model.keys / layout.tp * wire.element_bytes
    return gathered(whole, layout.cp)


def _experts(model: Transformer, layout: Layout, wide: float, wire: Wire) -> Sent:
    """One exchange of a layer."""
    if not model.experts:
        return Sent()
    cut = layout.tp if wire.routed_cut and layout.sequence_parallel else 1
    return gathered(wide * (wire.copies or model.top_k) / cut, layout.ep)


def _pipeline(layout: Layout, wide: float, *, first: bool, last: bool) -> Sent:
    """What a stage sends on and back, of one microbatch."""
    narrow = wide / (layout.tp if layout.sequence_parallel else 1)
    if layout.pp == 1:
        return Sent()
    calls = 2 * layout.chunks - first - last
    return Sent(calls, calls * narrow)


@dataclass(frozen=True)
class _Weights:
    """Weights of a stage whose gradients are summed over the same ranks.

    Attributes:
        numbers: on this GPU, before ZeRO cuts them.
        spread: how many data-parallel and context-parallel ranks hold the same.
        beside: on how many further ranks the sum goes: of tp, and of the two ends that share a
            table.
        name: of the kind.
    """

    numbers: float
    spread: int
    beside: tuple[int, int] = (1, 1)
    name: str = ""


def _kinds(
    model: Transformer, layout: Layout, layers: int, *, first: bool, last: bool
) -> Iterator[_Weights]:
    shared, experts = parameters_of_stage(model, layout, layers, first, last)
    group = layout.dp * layout.cp
    each = NORMS[model.norm] * model.hidden
    norms = (layers * model.norms + last) * each
    routers = layers * model.router_weights
    tables = layout.tp if layout.cut_tables else 1
    copies = min(first + last, 1) if model.tied else first + last
    table = copies * model.table / tables
    places = first * model.positions * model.hidden
    ends = 2 if model.tied and layout.pp > 1 and table else 1
    # With sequence parallelism, what tp does not cut has seen only its own tokens.
    apart = layout.tp if layout.sequence_parallel else 1
    yield _Weights(float(experts), group // layout.ep, name="experts")
    rest = float(shared) - norms - routers - table - places
    yield _Weights(rest, group, name="layers")
    yield _Weights(norms + places, group, (apart, 1), "norms")
    yield _Weights(routers, group, (layout.tp, 1), "routers")
    yield _Weights(table, group, (1 if layout.cut_tables else apart, ends), "tables")


def _gradients(
    model: Transformer, layout: Layout, layers: int, turns: int, wire: Wire, *, first: bool,
    last: bool,
) -> Sent:  # fmt: skip
    """The sums of gradients; those of the same ranks in one call."""
    over: dict[tuple[int, tuple[int, int]], float] = {}
    for kind in _kinds(model, layout, layers, first=first, last=last):
        if kind.numbers:
            key = (kind.spread, kind.beside)
            over[key] = over.get(key, 0.0) + kind.numbers * wire.gradient_bytes
    found = Sent()
    for (spread, beside), size in over.items():
        others = beside[0] * beside[1]
        if layout.zero < 1:
            found += reduced(size, spread * others)
            continue
        if layout.zero < 3:
            found += gathered(size, spread).times(turns if layout.zero == 2 else 1)
        found += reduced(size / spread, others)
    return found


def _parameters(
    model: Transformer, layout: Layout, layers: int, turns: int, wire: Wire, *, first: bool,
    last: bool,
) -> Sent:  # fmt: skip
    """What ZeRO gathers; under ZeRO-3 its gradients are scattered here, layer by layer."""
    found = Sent()
    if not layout.zero:
        return found
    each = [kind for kind in _kinds(model, layout, layers, first=first, last=last) if kind.numbers]
    if layout.zero < 3:
        sizes: dict[int, float] = {}
        for kind in each:
            sizes[kind.spread] = sizes.get(kind.spread, 0.0) + kind.numbers * wire.element_bytes
        for spread, size in sizes.items():
            found += gathered(size, spread)
        return found
    uses = layers * (_weights_of_layer(model) if wire.separate else 1)
    whole = 0.0
    for kind in each:
        scattered = kind.numbers * (2 * wire.element_bytes + wire.gradient_bytes)
        times = first + last if kind.name == "tables" and model.tied else 1
        whole += times * gathered(scattered, kind.spread).bytes
    ends = first + last
    if wire.separate:
        ends = first * (1 + bool(model.positions)) + 2 * last
    return Sent(3 * (uses + ends) * (layout.dp * layout.cp > 1), whole).times(turns)


def _weights_of_layer(model: Transformer) -> int:
    """How many tensors a layer has, biases left out."""
    return model.norms + 2 + (3 if model.experts else 2)
