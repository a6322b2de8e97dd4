"""Bytes from the shape of a model: what is alive at the turn, and what 34 + 5as/h leaves out."""

from __future__ import annotations

from gpu_course.measure.activation_formulas import (
    LayerShape,
    end_activation_bytes,
    layer_activation_bytes,
)
from gpu_course.measure.state_formulas import MIXED_ADAM, Recipe, layer_parameters


def bytes_live(
    shape: LayerShape,
    layers: int,
    *,
    recipe: Recipe = MIXED_ADAM,
    recompute: str = "none",
    fused: bool = False,
    vocabulary: int = 0,
    tied: bool = False,
) -> dict[str, float]:
    """Returns {kind: bytes} of a transformer on one GPU.

    At the turn, when the backward pass begins: all activations are there, and of the gradients the
    room they are added up in. The gradient of the logits, which comes right after, is not counted.

    Args:
        shape: of a layer and its microbatch.
        layers: how many there are.
        recipe: what each parameter takes.
        recompute, fused: as for `layer_activation_bytes`.
        vocabulary: entries of embedding and head, whose parameters and logits are counted; 0 for
            the layers alone.
        tied: True where embedding and head are one table.

    >>> shape = LayerShape(sequence=2048, batch=1, hidden=4096, heads=32)
    >>> live = bytes_live(shape, layers=32)
    >>> {kind: round(size / 2**30, 1) for kind, size in live.items()}  # GiB
    {'parameters': 12.0, 'optimizer states': 72.0, 'gradients': 12.0, 'activations': 28.5}
    >>> bytes_live(shape, layers=32, fused=True)["activations"] / 2**30
    8.5
    >>> whole = bytes_live(shape, layers=32, vocabulary=32_000)
    >>> {kind: round((whole[kind] - live[kind]) / 2**30, 2) for kind in live}
    {'parameters': 0.49, 'optimizer states': 2.93, 'gradients': 0.49, 'activations': 0.28}
    """
    tables = 0 if not vocabulary else 1 if tied else 2
    parameters = layer_parameters(shape.hidden, layers) + tables * vocabulary * shape.hidden
    layer = layer_activation_bytes(
        shape, element_bytes=recipe.weight, recompute=recompute, fused=fused
    )
    return {
        "parameters": parameters * recipe.weight,
        "optimizer states": parameters * recipe.states,
        "gradients": parameters * (recipe.gradient + recipe.accumulator),
        "activations": layers * layer
        + (end_activation_bytes(shape, vocabulary) if vocabulary else 0),
    }


def beyond_the_formula(
    shape: LayerShape, element_bytes: int = 2, softmax_bytes: int = 0
) -> dict[str, int]:
    """Returns what PyTorch keeps on a CPU that 34 + 5as/h leaves out, in bytes by reason.

    Args:
        shape: of a causal layer with dropout, written as `measure.model.Layer` is.
        element_bytes: of one number.
        softmax_bytes: of one number of the softmax where it is wider; default the same.

    >>> beyond_the_formula(LayerShape(sequence=16, batch=3, hidden=64, heads=4))
    {'dropout masks': 9216, 'layer norm statistics': 384, 'causal mask': 256, 'wide softmax': 0}
    """
    n, scores = shape.sbh, shape.scores
    tokens = shape.sequence * shape.batch
    return {
        # One byte of each is in the formula.
        "dropout masks": (element_bytes - 1) * (scores + 2 * n),
        # A mean and an inverse deviation per token, for two layer norms.
        "layer norm statistics": 4 * element_bytes * tokens,
        "causal mask": shape.sequence**2,
        "wide softmax": max(0, softmax_bytes - element_bytes) * scores,
    }
