"""What a rank holds of each parameter in a stage of ZeRO: the kinds of bytes, and which are cut.

Source: Rajbhandari and others 2019, "ZeRO: Memory Optimizations Toward Training Trillion Parameter
Models", section 3.1 and Figure 1.
"""

from __future__ import annotations

from gpu_course.measure.state_formulas import MIXED_ADAM

KINDS = (
    ("weights", MIXED_ADAM.weight, 3),
    ("gradients", MIXED_ADAM.gradient, 2),
    ("states", MIXED_ADAM.states, 1),
)
"""(kind, bytes of a parameter, the stage from which on it is cut)."""
WHOLE = MIXED_ADAM.bytes_per_parameter


def bytes_of_stage(stage: float, ranks: float) -> dict[str, float]:
    """Returns {kind: bytes for each parameter} that a rank holds.

    >>> bytes_of_stage(2, 4)
    {'weights': 2.0, 'gradients': 0.5, 'states': 3.0}
    """
    return {kind: size / ranks if stage >= cut else float(size) for kind, size, cut in KINDS}
