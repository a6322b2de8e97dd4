"""How a training run is laid out over GPUs, and which layouts are legal.

    model = Transformer(layers=80, hidden=8192, heads=64, kv_heads=8, mlp=28672, gated=True, ...)
    layout = Layout(dp=64, tp=8, pp=2, zero=1, microbatch=1)
    broken_rules(model, layout, Batch(1024, 8192), cluster)   # what it breaks, each in a sentence

`Layout` is one layout. `Layouts` is many of them at once, with the same names, each an array: a
formula that reads `layout.tp` and uses NumPy's functions takes either.

Axes are Megatron-LM's: dp x tp x cp x pp GPUs, and the experts of a layer are dealt out among ep of
the dp ranks.

Sources: Narayanan and others 2021 (tp, pp, dp); Llama Team 2024, section 3.3.2 (cp, two chunks of a
sequence to each rank; stages of unlike length); NVIDIA/Megatron-LM d98e8a6, arguments.py (what it
refuses).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.measure.state_formulas import MIXED_ADAM, Recipe
from gpu_course.measure.transformer_shapes import Transformer

RECOMPUTE = ("none", "selective", "full", "plan")
"""What runs forward once more: nothing, the products with all pairs of tokens, each layer, or so
many whole layers of each stage as `recomputed_layers` says, the plan of a budget."""
SCHEDULES = ("1f1b", "gpipe", "interleaved", "zb-h1", "zb-h2")
SPLITS = ("even", "compute")
"""How layers are dealt out to stages: equally many, with the odd ones in the middle; or by the work
of layers and head, as nanotron does it."""
AXES = ("dp", "tp", "pp", "cp", "ep")
NUMBERS = (*AXES, "microbatch", "chunks")
"""What a search for another plan may change."""


@dataclass(frozen=True)
class Batch:
    """What a step trains on.

    Attributes:
        sequences: of all GPUs together, in one step.
        tokens: of each sequence.
    """

    sequences: int
    tokens: int

    def __post_init__(self) -> None:
        for name in ("sequences", "tokens"):
            _whole(name, getattr(self, name), 1)


@dataclass(frozen=True)
class Layout:
    """A layout of a run.

    Attributes:
        dp: copies of the model, each with its own sequences.
        tp: ranks among which heads and the insides of MLPs are cut.
        pp: pipeline stages.
        cp: ranks among which each sequence is cut.
        ep: how many of the dp ranks share the experts of a layer.
        zero: what is cut over dp x cp: nothing (0), optimizer states (1), gradients too (2),
            parameters too (3).
        sequence_parallel: True where tp also cuts the tokens between the products.
        keep_gathered: True where what tp gathers for a product stays for its backward pass; False
            where it is gathered once more.
        recompute: one of RECOMPUTE.
        recomputed_layers: of each stage, where recompute is "plan".
        microbatch: sequences that go through the model at once.
        schedule: one of SCHEDULES.
        chunks: parts of the model on each stage, where the schedule is interleaved.
        recipe: bytes of each parameter.
        split: one of SPLITS, or the layers of each stage.
        flash: True where attention never writes its scores down.
        cut_tables: True where tp cuts embedding and head too.

    Raises:
        CourseError: a value is none of those.

    >>> Layout(dp=4, tp=2, pp=2).gpus
    16
    """

    dp: int = 1
    tp: int = 1
    pp: int = 1
    cp: int = 1
    ep: int = 1
    zero: int = 0
    sequence_parallel: bool = True
    keep_gathered: bool = False
    recompute: str = "none"
    recomputed_layers: int = 0
    microbatch: int = 1
    schedule: str = "1f1b"
    chunks: int = 1
    recipe: Recipe = MIXED_ADAM
    split: str | tuple[int, ...] = "even"
    flash: bool = True
    cut_tables: bool = True

    def __post_init__(self) -> None:
        for name in NUMBERS:
            _whole(name, getattr(self, name), 1)
        _whole("recomputed_layers", self.recomputed_layers, 0)
        if self.zero not in (0, 1, 2, 3) or isinstance(self.zero, bool):
            raise CourseError(f"zero is {self.zero!r}", "ZeRO has the stages 0, 1, 2 and 3")
        for name, value, known in (
            ("recompute", self.recompute, RECOMPUTE),
            ("schedule", self.schedule, SCHEDULES),
        ):
            if value not in known:
                raise CourseError(f"{name} is {value!r}", f"choose {', '.join(known)}")
        if isinstance(self.split, str) and self.split not in SPLITS:
            raise CourseError(
                f"split is {self.split!r}",
                f"choose {', '.join(SPLITS)}, or give a tuple with the layers of each stage",
            )

    @property
    def gpus(self) -> int:
        """How many GPUs it takes."""
        return self.dp * self.tp * self.pp * self.cp

    def microbatches(self, batch: Batch) -> int:
        """Returns how many microbatches each rank runs in a step, rounded down."""
        return batch.sequences // (self.dp * self.microbatch)

    def alike(self) -> dict[str, Any]:
        """Returns what says how the program works: the same for all of many `Layouts`."""
        return {name: getattr(self, name) for name in _ALIKE}

    def __str__(self) -> str:
        """Its numbers, those of 1 left out but dp, tp and pp.

        >>> str(Layout(dp=8, tp=2, cp=2, zero=1))
        'dp=8 tp=2 pp=1 cp=2 zero=1 microbatch=1'
        """
        words = [f"{axis}={getattr(self, axis)}" for axis in ("dp", "tp", "pp")]
        words += [f"{axis}={n}" for axis in ("cp", "ep") if (n := getattr(self, axis)) > 1]
        words += [f"zero={self.zero}"] if self.zero else []
        words += [f"microbatch={self.microbatch}"]
        words += [f"chunks={self.chunks}"] if self.chunks > 1 else []
        words += [f"recompute={self.recompute}"] if self.recompute != "none" else []
        return " ".join(words)


@dataclass(frozen=True)
class Layouts:
    """Many layouts: what is a number, a truth or a word of `Layout` is an array here.

    What says how a program works (`recipe`, `split`, `flash` and so on) is the same for all.

    >>> many = Layouts.of([Layout(dp=2), Layout(tp=4)])
    >>> many.gpus.tolist(), many.at(1).tp
    ([2, 4], 4)
    """

    dp: np.ndarray
    tp: np.ndarray
    pp: np.ndarray
    cp: np.ndarray
    ep: np.ndarray
    zero: np.ndarray
    sequence_parallel: np.ndarray
    recompute: np.ndarray
    recomputed_layers: np.ndarray
    microbatch: np.ndarray
    schedule: np.ndarray
    chunks: np.ndarray
    recipe: Recipe = MIXED_ADAM
    split: str | tuple[int, ...] = "even"
    flash: bool = True
    keep_gathered: bool = False
    cut_tables: bool = True

    @classmethod
    def of(cls, layouts: list[Layout]) -> Layouts:
        """Returns these layouts, which agree in all that is no array here."""
        first = layouts[0]
        columns: dict[str, Any] = {
            name: np.array([getattr(each, name) for each in layouts]) for name in ARRAYS
        }
        return cls(**columns, **first.alike())

    def __len__(self) -> int:
        return len(self.dp)

    @property
    def gpus(self) -> np.ndarray:
        """How many GPUs each takes."""
        found: np.ndarray = self.dp * self.tp * self.pp * self.cp
        return found

    def microbatches(self, batch: Batch) -> np.ndarray:
        """Returns how many microbatches each rank runs in a step, rounded down."""
        found: np.ndarray = batch.sequences // (self.dp * self.microbatch)
        return found

    def at(self, index: int) -> Layout:
        """Returns one of them."""
        values = {name: getattr(self, name)[index].item() for name in ARRAYS}
        return Layout(**values, **{name: getattr(self, name) for name in _ALIKE})

    def take(self, which: np.ndarray) -> Layouts:
        """Returns those that a mask or an array of indices names."""
        return replace(self, **{name: getattr(self, name)[which] for name in ARRAYS})


_ALIKE = ("recipe", "split", "flash", "keep_gathered", "cut_tables")
ARRAYS = tuple(each.name for each in fields(Layouts) if each.name not in _ALIKE)
"""The names in `Layouts` of what may differ from layout to layout."""


class ClusterLike(Protocol):
    """What legality asks of a cluster.

    Attributes:
        gpus: how many there are.
        gpus_per_node: how many share a node.
        memory_bytes: of each GPU.
        node_link_bytes_per_s: of a GPU to the others of its node; 0 where there is no link.
        network_bytes_per_s: of a network card to other nodes; 0 where there is none.
    """

    @property
    def gpus(self) -> int: ...
    @property
    def gpus_per_node(self) -> int: ...
    @property
    def memory_bytes(self) -> float: ...
    @property
    def node_link_bytes_per_s(self) -> float: ...
    @property
    def network_bytes_per_s(self) -> float: ...


def stage_layers(
    model: Transformer, pp: int, split: str | tuple[int, ...] = "even"
) -> tuple[int, ...]:
    """Returns how many layers each stage has.

    Args:
        model: whose layers.
        pp: stages.
        split: one of SPLITS, or the answer itself.

    Source: of "compute", huggingface/nanotron 2411b02, models/base.py, `build_model`, and
    `get_block_compute_costs` of its Llama: a stage takes blocks until it has more than its share of
    the work, for which layers and head alone count.

    >>> tall = Transformer(layers=6, hidden=8, heads=2, vocabulary=96)
    >>> stage_layers(tall, 4), stage_layers(tall, 2, "compute")
    ((1, 2, 2, 1), (4, 2))
    """
    if isinstance(split, tuple):
        return split
    if split == "even":
        each, over = divmod(model.layers, pp)
        # The ends hold embedding and head: they are the last to get one more.
        order = [*range(1, pp - 1), pp - 1, 0][:over] if pp > 1 else [0][:over]
        return tuple(each + (stage in order) for stage in range(pp))
    return _by_work(model, pp)[0]


def head_stage(model: Transformer, pp: int, split: str | tuple[int, ...] = "even") -> int:
    """Returns the stage that has the head: the last, or an earlier one where work is dealt out.

    >>> head_stage(Transformer(layers=6, hidden=8, heads=2, vocabulary=24), 4, "compute")
    3
    """
    return _by_work(model, pp)[1] if split == "compute" else pp - 1


@functools.lru_cache(maxsize=1024)
def _by_work(model: Transformer, pp: int) -> tuple[tuple[int, ...], int]:
    """Returns the layers of each stage, and the stage of the head, as nanotron deals them out."""
    # It counts four square products of attention and three of the MLP.
    layer = 4 * model.queries * model.hidden + model.mlp_weights
    whole = layer * model.layers + model.table
    counts, stage = [0] * pp, 0
    for index in range(model.layers):
        counts[stage] += 1
        if layer * (index + 1) * pp > whole * (stage + 1):
            stage += 1
    return tuple(counts), stage


@dataclass(frozen=True)
class Rule:
    """What a layout may not be.

    Attributes:
        broken: of model, layout or layouts, batch, cluster or None: whether it is broken.
        says: of the same, one layout: the sentence that names the limit.
    """

    broken: Callable[[Transformer, Any, Batch, Any], Any]
    says: Callable[[Transformer, Layout, Batch, Any], str]


def _few_layers(model: Transformer, layout: Any, _batch: Batch, _cluster: Any) -> Any:
    split = layout.split
    if isinstance(split, tuple):
        return (
            (layout.pp != len(split)) | (sum(split) != model.layers) | (min(split, default=0) < 1)
        )
    over = layout.pp * layout.chunks > model.layers
    if split == "compute":
        # One stage may hold the head alone.
        bare = {
            pp: 0 in stage_layers(model, pp, split)[: max(pp - 1, 1)]
            or head_stage(model, pp, split) < pp - 1
            for pp in {int(each) for each in np.unique(layout.pp)}
        }
        return over | np.vectorize(bare.__getitem__, otypes=[bool])(layout.pp)
    return over


def _says_layers(model: Transformer, layout: Layout, _batch: Batch, _cluster: Any) -> str:
    if isinstance(layout.split, tuple):
        return (
            f"stages of {', '.join(map(str, layout.split))} layers are not {layout.pp} stages, none"
            f" of them empty, of {model.layers} layers"
        )
    parts = f"{layout.pp} stages"
    if layout.chunks > 1:
        parts += f" of {layout.chunks} chunks"
    return f"PP over layers: {parts} would leave some without any of the {model.layers} layers"


def _units(cluster: Any, layout: Any) -> Any:
    """Whether tp ranks fill parts of a node, or whole nodes."""
    node = cluster.gpus_per_node
    return np.where(layout.tp <= node, node % np.minimum(layout.tp, node), layout.tp % node) != 0


def _unlinked(cluster: Any, gpus: Any) -> Any:
    in_node = (not cluster.node_link_bytes_per_s) & (gpus > 1) & (cluster.gpus_per_node > 1)
    between = (not cluster.network_bytes_per_s) & (gpus > cluster.gpus_per_node)
    return in_node | between


RULES: dict[str, Rule] = {
    "gpus": Rule(
        lambda _m, lay, _b, cluster: lay.gpus != (cluster.gpus if cluster else lay.gpus),
        lambda _m, lay, _b, cluster: (
            f"dp {lay.dp} x tp {lay.tp} x pp {lay.pp} x cp {lay.cp} takes {lay.gpus:,} GPUs, and"
            f" the cluster has {cluster.gpus:,}"
        ),
    ),
    "links": Rule(
        lambda _m, lay, _b, cluster: _unlinked(cluster, lay.gpus) if cluster else lay.dp < 1,
        lambda _m, lay, _b, cluster: (
            f"{lay.gpus:,} GPUs must talk to each other, and no link joins "
            + (
                f"nodes of {cluster.gpus_per_node} GPUs"
                if cluster.node_link_bytes_per_s and cluster.gpus_per_node > 1
                else "the GPUs of a node"
            )
        ),
    ),
    "heads": Rule(
        lambda model, lay, _b, _c: (
            (model.heads % lay.tp != 0) | ((model.kv_heads or model.heads) % lay.tp != 0)
        ),
        lambda model, lay, _b, _c: (
            f"TP over heads: {lay.tp} ranks do not divide "
            + (
                f"the {model.heads} heads"
                if model.heads % lay.tp
                else f"the {model.kv_heads} KV heads"
            )
        ),
    ),
    "inside": Rule(
        lambda model, lay, _b, _c: model.inside % lay.tp != 0,
        lambda model, lay, _b, _c: (
            f"TP over the MLP: {lay.tp} ranks do not divide the {model.inside:,} numbers inside it"
        ),
    ),
    "node": Rule(
        lambda _m, lay, _b, cluster: _units(cluster, lay) if cluster else lay.dp < 1,
        lambda _m, lay, _b, cluster: (
            f"a tensor-parallel group of {lay.tp} does not fit nodes of {cluster.gpus_per_node}"
            " GPUs: some groups would lie in one node and some across two"
        ),
    ),
    "layers": Rule(_few_layers, _says_layers),
    "experts": Rule(
        lambda model, lay, _b, _c: max(model.experts, 1) % lay.ep != 0,
        lambda model, lay, _b, _c: (
            f"EP over experts: {lay.ep} ranks do not divide "
            + (f"the {model.experts} experts" if model.experts else "one MLP: there are no experts")
        ),
    ),
    "expert ranks": Rule(
        lambda _m, lay, _b, _c: lay.dp % lay.ep != 0,
        lambda _m, lay, _b, _c: (
            f"the ep {lay.ep} ranks that share experts are some of the data-parallel ranks, and"
            f" they do not divide dp {lay.dp}"
        ),
    ),
    "batch": Rule(
        lambda _m, lay, batch, _c: batch.sequences % (lay.dp * lay.microbatch) != 0,
        lambda _m, lay, batch, _c: (
            f"a batch of {batch.sequences:,} sequences is no multiple of dp {lay.dp} x microbatch"
            f" {lay.microbatch}; {_neighbours(batch.sequences, lay.dp * lay.microbatch)}"
        ),
    ),
    "chunks": Rule(
        lambda _m, lay, _b, _c: (lay.chunks > 1) & ((lay.schedule != "interleaved") | (lay.pp < 2)),
        lambda _m, lay, _b, _c: (
            f"{lay.chunks} chunks of a stage are for the interleaved schedule with two stages or"
            f" more, and this is {lay.schedule} with {lay.pp}"
        ),
    ),
    "groups": Rule(
        lambda _m, lay, batch, _c: (
            (lay.schedule == "interleaved")
            & (lay.chunks > 1)
            & (lay.microbatches(batch) % lay.pp != 0)
        ),
        lambda _m, lay, batch, _c: (
            f"the interleaved schedule sends microbatches in groups of pp {lay.pp}, and"
            f" {lay.microbatches(batch)} are no multiple of it"
        ),
    ),
    "tokens": Rule(
        lambda _m, lay, batch, _c: batch.tokens % _token_parts(lay) != 0,
        lambda _m, lay, batch, _c: (
            f"sequences of {batch.tokens:,} tokens cannot be cut into"
            + (f" the {2 * lay.cp} chunks of cp {lay.cp}" if lay.cp > 1 else "")
            + (" and" if lay.cp > 1 and lay.sequence_parallel and lay.tp > 1 else "")
            + (
                f" the {lay.tp} parts of sequence parallelism"
                if lay.sequence_parallel and lay.tp > 1
                else ""
            )
        ),
    ),
}
"""Each by its name, in the order in which they are said."""


def _token_parts(layout: Any) -> Any:
    """Into how many equal parts a sequence is cut."""
    chunks = np.where(np.equal(layout.cp, 1), 1, 2 * np.asarray(layout.cp))
    ranks = layout.cp * np.where(layout.sequence_parallel, layout.tp, 1)
    return np.lcm(chunks, ranks)


def _neighbours(number: int, of: int) -> str:
    below, above = number // of * of, -(-number // of) * of
    return f"{below:,} and {above:,} are" if below else f"{above:,} is"


def broken_rules(
    model: Transformer, layout: Layout, batch: Batch, cluster: ClusterLike | None = None
) -> dict[str, str]:
    """Returns the rules that a layout breaks, each with its sentence; none where it is legal."""
    return {
        name: rule.says(model, layout, batch, cluster)
        for name, rule in RULES.items()
        if bool(rule.broken(model, layout, batch, cluster))
    }


def legal(
    model: Transformer, layouts: Layouts, batch: Batch, cluster: ClusterLike | None = None
) -> np.ndarray:
    """Returns for each layout whether it breaks no rule."""
    good = np.ones(len(layouts), dtype=bool)
    for rule in RULES.values():
        good &= ~np.asarray(rule.broken(model, layouts, batch, cluster), dtype=bool)
    return good


def _whole(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise CourseError(f"{name} is {value!r}", f"{name} is a whole number of {least} or more")
