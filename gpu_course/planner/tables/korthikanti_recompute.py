"""What running again costs: Table 4, section 5 and Table 5 of Korthikanti et al. 2022."""

from __future__ import annotations

from functools import partial

from gpu_course.planner.published import Kind, Row
from gpu_course.planner.tables.korthikanti import PAPER, TABLE_3, Run
from gpu_course.training.activation_formulas import LayerShape, layer_activation_bytes

# Milliseconds of a layer of the 22B model as the paper measured them without recomputation.
BASELINE_FORWARD_MS, BASELINE_BACKWARD_MS = 7.7, 11.9
MS_ROUNDING = PERCENT_ROUNDING = 0.05
"""Times, and the utilisations below, are printed to a tenth."""

VOCABULARY = 51_200
# Model FLOPs utilisation and hardware FLOPs utilisation, in percent.
TABLE_5 = {
    "22B": ("41.5", "43.7"),
    "175B": ("51.4", "52.8"),
    "530B": ("56.0", "57.0"),
    "1T": ("56.3", "57.0"),
}


def full_overhead_percent() -> float:
    """Returns what one more forward pass adds to the baseline's time, in percent."""
    return 100 * BASELINE_FORWARD_MS / (BASELINE_FORWARD_MS + BASELINE_BACKWARD_MS)


def full_total_ms() -> float:
    """Returns a forward pass, another one, and the backward pass."""
    return 2 * BASELINE_FORWARD_MS + BASELINE_BACKWARD_MS


def selective_saving_percent(shape: LayerShape) -> float:
    """Returns which share of a layer's activations selective recomputation does not keep."""
    kept = layer_activation_bytes(shape, recompute="selective") / layer_activation_bytes(shape)
    return 100 * (1 - kept)


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


_TIMES = (
    "Ours is the paper's own forward time once more. Times are printed to 0.1 ms, so a sum of "
    "three may be 0.15 ms off, and the printed one 0.05."
)
_FLOPS = (
    "Ours is the share that the scores' two products have in all products of a step, s/6h over "
    "1 + s/6h, and that is what the paper printed. Running them forward once more adds a third "
    "of it."
)
_UTILISATION = (
    "Ours is the printed model FLOPs utilisation, times FLOP with the scores' products counted "
    "twice over FLOP with them counted once. The first is printed to 0.1, which leaves the second "
    "0.05 more to be off."
)

ROWS = (
    Row(
        PAPER,
        "Table 4",
        "full recomputation, both passes",
        "27.2",
        "ms",
        full_total_ms,
        "forward twice and backward once, by the times of the baseline",
        ("17_checkpointing",),
        Kind.measurement,
        inputs_rounding=lambda: 3 * MS_ROUNDING,
        note=_TIMES,
    ),
    Row(
        PAPER,
        "Table 4",
        "full recomputation, added",
        "39",
        "%",
        full_overhead_percent,
        "the baseline's forward pass, over its forward and backward pass",
        ("17_checkpointing",),
        Kind.measurement,
    ),
    *(
        row
        for model, name, saved, added in (
            ("175B", "GPT-3", "70", "2.7"),
            ("530B", "MT-NLG", "65", "1.6"),
        )
        for row in (
            Row(
                PAPER,
                "Section 5",
                f"{name}, activations not kept",
                saved,
                "%",
                partial(selective_saving_percent, TABLE_3[model].shape),
                "(5as/h) / (34 + 5as/h)",
                ("18_optimal_checkpointing",),
                Kind.formula,
            ),
            Row(
                PAPER,
                "Section 5",
                f"{name}, FLOP added, their count",
                added,
                "%",
                partial(attention_share_percent, TABLE_3[model].shape),
                "(s/6h) / (1 + s/6h)",
                ("18_optimal_checkpointing",),
                Kind.formula,
                note=_FLOPS,
            ),
        )
    ),
    *(
        Row(
            PAPER,
            "Table 5",
            f"{model}, hardware FLOPs utilisation",
            hardware,
            "%",
            partial(hardware_percent, TABLE_3[model], float(utilisation)),
            "the model FLOPs utilisation, times (1 + s/3h + V/12hL) / (1 + s/6h + V/12hL)",
            ("18_optimal_checkpointing",),
            Kind.formula,
            inputs_rounding=partial(hardware_percent, TABLE_3[model], PERCENT_ROUNDING),
            note=_UTILISATION,
        )
        for model, (utilisation, hardware) in TABLE_5.items()
    ),
)
