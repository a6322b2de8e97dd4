"""What running again costs: Table 4 and section 5 of Korthikanti et al. 2022."""

from __future__ import annotations

from functools import partial

from gpu_course.planner.published import Row
from gpu_course.planner.tables.korthikanti import PAPER, TABLE_3
from gpu_course.training.activation_formulas import LayerShape, layer_activation_bytes

# Milliseconds of a layer of the 22B model as the paper measured them without recomputation.
BASELINE_FORWARD_MS, BASELINE_BACKWARD_MS = 7.7, 11.9


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
    """Returns the two products of the scores in percent of all products of a forward pass."""
    scores = 4 * shape.sbh * shape.sequence
    return 100 * scores / (scores + 24 * shape.sbh * shape.hidden)


_TIMES = (
    "Ours is the paper's own forward time once more. Times are printed to 0.1 ms, so a sum of "
    "three may be 0.15 ms off."
)
_FLOPS = (
    "The printed share is that of the attention scores' products in a forward pass (or in a whole "
    "step, if their backward pass were run again as well). Running them forward once more adds a "
    "third of that to a step: 0.9 and 0.5 %."
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
        within=0.15,
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
            ),
            Row(
                PAPER,
                "Section 5",
                f"{name}, FLOP added",
                added,
                "%",
                partial(attention_share_percent, TABLE_3[model].shape),
                "(s/6h) / (1 + s/6h)",
                ("18_optimal_checkpointing",),
                note=_FLOPS,
            ),
        )
    ),
)
