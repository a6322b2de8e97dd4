"""Bytes that are alive when a training step is at its fullest, from the shape of the model."""

from __future__ import annotations

from gpu_course.training.activation_formulas import LayerShape, layer_activation_bytes
from gpu_course.training.state_formulas import MIXED_ADAM, Recipe, layer_parameters


def bytes_live(
    shape: LayerShape,
    layers: int,
    *,
    recipe: Recipe = MIXED_ADAM,
    recompute: str = "none",
    fused: bool = False,
) -> dict[str, float]:
    """Returns {kind: bytes} of a transformer's layers on one GPU; embeddings are left out.

    Args:
        shape: of a layer and its microbatch.
        layers: how many there are.
        recipe: what each parameter takes.
        recompute, fused: as for `layer_activation_bytes`.

    >>> shape = LayerShape(sequence=2048, batch=1, hidden=4096, heads=32)
    >>> live = bytes_live(shape, layers=32)
    >>> {kind: round(size / 2**30, 1) for kind, size in live.items()}  # GiB
    {'parameters': 12.0, 'optimizer states': 72.0, 'gradients': 12.0, 'activations': 28.5}
    >>> bytes_live(shape, layers=32, fused=True)["activations"] / 2**30
    8.5
    """
    parameters = layer_parameters(shape.hidden, layers)
    layer = layer_activation_bytes(
        shape, element_bytes=recipe.weight, recompute=recompute, fused=fused
    )
    return {
        "parameters": parameters * recipe.weight,
        "optimizer states": parameters * (recipe.master + recipe.moments),
        "gradients": parameters * (recipe.gradient + recipe.accumulator),
        "activations": layers * layer,
    }
