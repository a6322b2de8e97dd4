"""What running again costs: Table 4, section 5 and Table 5 of Korthikanti et al. 2022."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.claims.published import printed
from gpu_course.claims.tables.korthikanti import TABLE_3, Run
from gpu_course.measure.activation_formulas import LayerShape, layer_activation_bytes

VOCABULARY = 51_200
SHAPES = {name: run.shape for name, run in TABLE_3.items()}
TABLE_5 = {
    str(row.arguments["run"]): (str(row.arguments["model_percent"]), row.printed)
    for row in printed("Korthikanti 2022", "Table 5")
}
"""Model FLOPs utilisation and hardware FLOPs utilisation as printed, in percent."""


@model()
def full_overhead_percent(forward_ms: float, backward_ms: float) -> float:
    """Returns what one more forward pass adds to the baseline's time, in percent."""
    return 100 * forward_ms / (forward_ms + backward_ms)


@model()
def full_total_ms(forward_ms: float, backward_ms: float) -> float:
    """Returns a forward pass, another one, and the backward pass."""
    return 2 * forward_ms + backward_ms


@model(shape=SHAPES)
def selective_saving_percent(shape: LayerShape) -> float:
    """Returns which share of a layer's activations selective recomputation does not keep."""
    kept = layer_activation_bytes(shape, recompute="selective") / layer_activation_bytes(shape)
    return 100 * (1 - kept)


@model(shape=SHAPES)
def attention_share_percent(shape: LayerShape) -> float:
    """Returns the two products of the scores in percent of all products of a forward pass.

    The backward pass takes twice the FLOP of each product, so it is their share of a step as well.
    """
    scores = 4 * shape.sbh * shape.sequence
    return 100 * scores / (scores + 24 * shape.sbh * shape.hidden)


def scores_again_percent(shape: LayerShape) -> float:
    """Returns what one more forward run of the scores' two products adds to a step, in percent.

    >>> round(scores_again_percent(TABLE_3["175B"].shape), 2)
    0.9
    """
    return attention_share_percent(shape) / 3


@model(run=TABLE_3)
def hardware_percent(run: Run, model_percent: float, passes: int = 3) -> float:
    """Returns the utilisation with what runs again counted as well, in percent.

    Per layer and number of its input a step takes 72h (1 + s/6h + V/12hL) FLOP, the logits shared
    out among the layers. Running the scores' products again adds a third of 72h * s/6h a time.

    Args:
        run: the model.
        model_percent: the utilisation without it.
        passes: how often the scores' products are counted again; 3 is a forward and a backward
            pass, 1 a forward pass.
    """
    shape = run.shape
    scores = shape.sequence / (6 * shape.hidden)
    step = 1 + scores + VOCABULARY / (12 * shape.hidden * run.layers)
    return model_percent * (step + scores * passes / 3) / step
