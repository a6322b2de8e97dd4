"""The bytes a real layer keeps against the formula 34 + 5as/h, term by term, to the last byte."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import torch

from gpu_course.errors import CourseError
from gpu_course.measure.activation_formulas import LayerShape, layer_terms
from gpu_course.measure.model import Layer
from gpu_course.measure.saved import Saved, saved_by

STATISTICS = "statistics of both layer norms"
CAUSAL_MASK = "causal mask"
LOG_SUMS = "log-sum-exp of each row of scores"
_QK, _V, _QKV = "Q and K", "V", "Q, K and V"


@dataclass(frozen=True)
class Line:
    """One term: what the paper counts for it, and what the real layer keeps.

    Attributes:
        name: the paper's term, or one that the paper leaves out.
        paper_bytes, kept_bytes: both in bytes.
        why: the reason for a difference.
    """

    name: str
    paper_bytes: int
    kept_bytes: int
    why: str = ""

    @property
    def difference(self) -> int:
        """Kept less counted, in bytes."""
        return self.kept_bytes - self.paper_bytes


def explain(layer: Layer, shape: LayerShape, seed: int = 0) -> tuple[Line, ...]:
    """Returns where each byte that a real layer keeps belongs; the lines add up to all it keeps.

    Args:
        layer: in training mode, its parameters of one dtype.
        shape: of the batch it is run on; hidden and heads are the layer's.
        seed: of the batch.

    Raises:
        CourseError: the layer kept something no line is known for, or not what was expected.
    """
    parameter = next(layer.parameters())
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(shape.batch, shape.sequence, shape.hidden, generator=generator)
    x = x.to(parameter.device, parameter.dtype).requires_grad_()
    with torch.random.fork_rng(devices=[]):
        kept = saved_by(layer, x)
    return _lines(layer, shape, kept, parameter.dtype.itemsize)


def paper_bytes(lines: tuple[Line, ...]) -> int:
    """Returns what the formula gives for the whole layer."""
    return sum(line.paper_bytes for line in lines)


def kept_bytes(lines: tuple[Line, ...]) -> int:
    """Returns what the real layer keeps."""
    return sum(line.kept_bytes for line in lines)


def ratio(lines: tuple[Line, ...]) -> float:
    """Returns kept over counted."""
    return kept_bytes(lines) / paper_bytes(lines)


def as_text(lines: tuple[Line, ...]) -> str:
    """Returns the lines as a table in bytes, with the reasons for what differs."""
    width = max(len(line.name) for line in lines)
    counted, kept = paper_bytes(lines), kept_bytes(lines)
    rows = [(line.name, line.paper_bytes, line.kept_bytes) for line in lines]
    told = [("", "paper", "kept", "difference")]
    for name, paper, real in (*rows, ("sum", counted, kept)):
        told.append(
            (name, f"{paper:,}", f"{real:,}", f"{real - paper:+,}" if real - paper else "0")
        )
    wide = max(13, 2 + max(len(number) for _, *numbers in told for number in numbers))
    out = [f"{name:<{width}}" + "".join(f"{n:>{wide}}" for n in numbers) for name, *numbers in told]
    out.append(f"{kept / counted:.4f} times the formula")
    reasons = {line.why: None for line in lines if line.why and line.difference}
    for reason in reasons:
        out += textwrap.wrap(reason, 70, initial_indent="* ", subsequent_indent="  ")
    return "\n".join(out)


def _lines(
    layer: Layer, shape: LayerShape, kept: tuple[Saved, ...], element_bytes: int
) -> tuple[Line, ...]:
    terms = {_key(term.part, term.name): term for term in layer_terms(shape, element_bytes)}
    bytes_by_key = dict.fromkeys(terms, 0)
    owners = [saved.owner for saved in kept]
    fitting = (_roles(layer, copied) for copied in (True, False))
    roles = next((r for r in fitting if [owner for owner, _ in r] == owners), None)
    if roles is None:
        raise CourseError(
            f"the layer keeps {[(saved.owner, saved.shape) for saved in kept]}, which is not what "
            "this explanation knows",
            "run it on a CPU, in training mode, with a dropout above 0",
        )
    for saved, (_, key) in zip(kept, roles, strict=True):
        for part, share in ((_QK, 2), (_V, 1)) if key == _QKV else ((key, 3),):
            bytes_by_key[part] = bytes_by_key.get(part, 0) + saved.bytes * share // 3
    return tuple(
        Line(key, terms[key].bytes if key in terms else 0, size, _why(key, layer))
        for key, size in bytes_by_key.items()
    )


def _key(part: str, name: str) -> str:
    # Both dropouts of a layer have the same name in the paper's count.
    return f"{part} {name}" if name == "output dropout mask" else name


def _roles(layer: Layer, copied: bool) -> list[tuple[str, str]]:
    """Returns (module, term) of each storage in the order in which a layer saves them.

    Args:
        layer: any.
        copied: False where Q, K and V stay views of what their linear layer made, as they can with
            one head or one sequence. It is the same number of bytes.
    """
    first_norm = "norm_attention"
    norm = "inputs of both layer norms"
    if layer.attention.fused:
        inside = [
            ("attention", _QKV),  # three views of one storage, split again by `_lines`
            ("attention", LOG_SUMS),
            ("attention", "input of the output product"),
        ]
    else:
        products = [("attention", _QK), ("attention", _QK)] if copied else [("attention", _QKV)]
        inside = [
            *products,
            ("attention", CAUSAL_MASK),
            ("attention", "softmax output"),
            ("attention.score_dropout", "softmax dropout mask"),
            # The product of the two saves its right factor first.
            *([("attention", _V)] if copied else []),
            ("attention", "softmax dropout output"),
            ("attention.out", "input of the output product"),
        ]
    return [
        (first_norm, norm),
        (first_norm, STATISTICS),
        (first_norm, STATISTICS),
        ("attention.qkv", "input of the Q, K, V products"),
        *inside,
        ("attention.dropout", "attention output dropout mask"),
        ("norm_mlp", norm),
        ("norm_mlp", STATISTICS),
        ("norm_mlp", STATISTICS),
        ("mlp.up", "input of the first product"),
        ("mlp.gelu", "input of GELU"),
        ("mlp.down", "input of the second product"),
        ("mlp.dropout", "mlp output dropout mask"),
    ]


def _why(key: str, layer: Layer) -> str:
    if layer.attention.fused and (key == LOG_SUMS or key.startswith("softmax")):
        return (
            "Fused attention keeps no scores: it works them out again in its backward pass, from "
            "Q, K, V, its output and one number per row of scores."
        )
    if key.endswith("dropout mask"):
        return (
            "Dropout masks: the paper counts a byte per number. On a CPU PyTorch multiplies by the "
            "mask, which has the width of the numbers it is for."
        )
    if key == STATISTICS:
        return (
            "Layer norms: a mean and the inverse of a deviation for each token; the paper leaves "
            "them out as small beside sbh."
        )
    if key == CAUSAL_MASK:
        return "Causal mask: a byte for each pair of places, shared by all heads and sequences."
    if key == "softmax output" and layer.attention.softmax_float32:
        return "Softmax in float32: its output is kept at 4 bytes per score."
    return ""
