"""Bytes a transformer layer keeps for its backward pass, as a published formula counts them.

Source: Korthikanti et al. 2022, arXiv 2205.05198, section 4 and Table 2.
"""

from __future__ import annotations

from dataclasses import dataclass

RECOMPUTE = ("none", "selective", "full")


@dataclass(frozen=True)
class LayerShape:
    """The numbers a layer's activations depend on.

    Attributes:
        sequence: tokens in a sequence (s in the paper).
        batch: sequences in a microbatch (b).
        hidden: width of the layer (h).
        heads: attention heads (a).
    """

    sequence: int
    batch: int
    hidden: int
    heads: int

    @property
    def sbh(self) -> int:
        """How many numbers the layer's input has."""
        return self.sequence * self.batch * self.hidden

    @property
    def scores(self) -> int:
        """How many attention scores there are: a table of s by s for each head and sequence."""
        return self.heads * self.sequence**2 * self.batch


@dataclass(frozen=True)
class Term:
    """One thing the layer keeps.

    Attributes:
        part: "attention", "mlp" or "layer norm".
        name: what it is.
        bytes: how much.
        split_always: True for what tensor parallelism alone divides among its ranks; the rest
            takes sequence parallelism.
        recomputed: True for what selective recomputation does not keep.
    """

    part: str
    name: str
    bytes: int
    split_always: bool
    recomputed: bool = False


def layer_terms(shape: LayerShape, element_bytes: int = 2) -> tuple[Term, ...]:
    """Returns what a layer keeps, term by term; in 16 bit they add up to sbh (34 + 5as/h).

    The paper counts for 16-bit numbers and masks of one byte. With another width the masks stay and
    the rest grows.

    Args:
        shape: of the layer.
        element_bytes: of one number.

    Source: Korthikanti et al. 2022, section 4.1.

    >>> shape = LayerShape(sequence=2048, batch=1, hidden=12288, heads=96)
    >>> sum(term.bytes for term in layer_terms(shape)) / shape.sbh  # 5as/h is 80 here
    114.0
    """
    n, scores, w = shape.sbh, shape.scores, element_bytes
    return (
        Term("layer norm", "inputs of both layer norms", 2 * w * n, split_always=False),
        Term("attention", "input of the Q, K, V products", w * n, split_always=False),
        Term("attention", "Q and K", 2 * w * n, split_always=True),
        Term("attention", "softmax output", w * scores, split_always=True, recomputed=True),
        Term("attention", "softmax dropout mask", scores, split_always=True, recomputed=True),
        Term("attention", "softmax dropout output", w * scores, split_always=True, recomputed=True),
        Term("attention", "V", w * n, split_always=True),
        Term("attention", "input of the output product", w * n, split_always=True),
        Term("attention", "output dropout mask", n, split_always=False),
        Term("mlp", "input of the first product", w * n, split_always=False),
        Term("mlp", "input of GELU", 4 * w * n, split_always=True),
        Term("mlp", "input of the second product", 4 * w * n, split_always=True),
        Term("mlp", "output dropout mask", n, split_always=False),
    )


def layer_activation_bytes(
    shape: LayerShape,
    *,
    element_bytes: int = 2,
    tensor_parallel: int = 1,
    sequence_parallel: bool = False,
    recompute: str = "none",
    fused: bool = False,
) -> float:
    """Returns the bytes one layer keeps on each rank.

    Args:
        shape: of the whole layer.
        element_bytes: of one number.
        tensor_parallel: ranks that share the layer (t).
        sequence_parallel: True where layer norms and dropouts are shared too.
        recompute: "none"; "selective", which keeps nothing of the scores; "full", which keeps the
            layer's input alone.
        fused: True for an attention that never writes the scores down, as FlashAttention; it keeps
            what selective recomputation keeps, but for two numbers per row of scores.

    Raises:
        ValueError: another word for `recompute`.

    Source: Korthikanti et al. 2022, Table 2.
    """
    if recompute not in RECOMPUTE:
        raise ValueError(f"recompute={recompute!r} is none of {', '.join(RECOMPUTE)}")
    if recompute == "full":
        # The input of the layer, whole on every rank.
        return float(element_bytes * shape.sbh)
    kept = [
        term
        for term in layer_terms(shape, element_bytes)
        if not (term.recomputed and (fused or recompute == "selective"))
    ]
    return sum(
        term.bytes / (tensor_parallel if term.split_always or sequence_parallel else 1)
        for term in kept
    )


def end_activation_bytes(shape: LayerShape, vocabulary: int) -> int:
    """Returns what embedding and end of a 16-bit model keep beside its layers.

    The mask of the dropout behind the embedding, the inputs of the last norm and of the head, and
    the logits, which the loss keeps in 32 bits: sbh + 4sbh (1 + v/h). The embedding itself keeps
    the tokens alone. Whether embedding and head share their table makes no difference here.

    Args:
        shape: of the layers and the microbatch.
        vocabulary: entries (v).

    Source: Korthikanti et al. 2022, section 4.3.

    >>> end_activation_bytes(LayerShape(sequence=2048, batch=1, hidden=4096, heads=32), 32_000)
    304087040
    """
    tokens = shape.sequence * shape.batch
    return shape.sbh + 4 * shape.sbh + 4 * tokens * vocabulary


def first_stage_activation_bytes(
    layer_bytes: float, layers: int, *, pipeline: int = 1, interleave: int = 1
) -> float:
    """Returns what the first stage of a 1F1B pipeline keeps at its fullest.

    It has `layers / pipeline` layers and as many microbatches under way as there are stages, so it
    keeps as much as the whole model for one microbatch; with several chunks of layers per stage,
    some more microbatches are under way.

    Args:
        layer_bytes: of one layer and microbatch, on one rank.
        layers: of the whole model (L).
        pipeline: stages (p).
        interleave: chunks of layers per stage (m).

    Source: Korthikanti et al. 2022, section 4.2.3.
    """
    ahead = 1 + (pipeline - 1) / (pipeline * interleave) if interleave > 1 else 1.0
    return layer_bytes * layers * ahead
