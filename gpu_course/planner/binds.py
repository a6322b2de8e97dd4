"""What binds a step, and which single change of the layout would make it shorter.

print(says(model, layout, Batch(2048, 2048), A100, MEGATRON))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.planner.layout import Batch, Layout, broken_rules
from gpu_course.planner.machines import Machine
from gpu_course.planner.programs import Program
from gpu_course.planner.step_time import step_time

REASONS = {
    "compute": "the layers' own work",
    "tensor": "what tensor-parallel ranks send in every layer",
    "context": "keys and values on their way between context-parallel ranks",
    "experts": "tokens on their way to experts and back",
    "host": "waits for the host, which starts kernels more slowly than the card runs them",
    "head": "logits and loss",
    "sends": "activations on their way from stage to stage",
    "uneven": "waits for the slowest stage, which has the head or more layers than others",
    "bubble": "filling and draining the pipeline",
    "data": "gradients and parameters of data-parallel ranks",
    "update": "the optimizer's pass over its states",
}
"""A part of a step -> what it is, as a sentence goes on."""
GAIN = 0.02
"""The least part of a step that a change must save to be named."""


def says(model: Transformer, layout: Layout, batch: Batch, card: Machine, program: Program) -> str:
    """Returns what binds a step besides its work, and the two best single changes.

    Memory is not asked: a change may need more of it.

    Args:
        model, layout, batch, card, program: of the run.
    """
    time = step_time(model, layout, batch, card, program)
    total = float(time.total)
    parts = {name: float(value) for name, value in time.parts().items()}
    work = parts.pop("compute")
    name = max(parts, key=lambda each: parts[each])
    sentences = [
        f"A step takes {_seconds(total)}, and {work / total:.0%} of it is the layers' own work.",
        f"Next comes {parts[name] / total:.0%} for {REASONS[name]}.",
    ]
    better = sorted(
        (float(step_time(model, other, batch, card, program).total), words)
        for words, other in changes(layout)
        if not broken_rules(model, other, batch)
    )
    useful = [(took, words) for took, words in better if took < (1 - GAIN) * total][:2]
    sentences += [f"{words}, it would take {_seconds(took)}." for took, words in useful]
    if not useful:
        sentences.append(f"No single change saves {GAIN:.0%}: a faster card would.")
    return " ".join(sentences)


def changes(layout: Layout) -> Iterator[tuple[str, Layout]]:
    """Yields layouts on as many cards that differ in one thing, and words for it."""
    size = layout.microbatch
    for other in (2 * size, size // 2):
        if other:
            yield f"With microbatches of {other}", replace(layout, microbatch=other)
    for axis in ("tp", "pp", "cp"):
        ranks, name = getattr(layout, axis), axis.upper()
        one_stage: dict[str, Any] = {}
        if axis == "pp" and ranks == 2:
            one_stage = {"chunks": 1, "schedule": "1f1b"}
        if ranks % 2 == 0:
            changed = {axis: ranks // 2, "dp": 2 * layout.dp, **one_stage}
            yield f"With {name} {ranks // 2} and DP {2 * layout.dp}", replace(layout, **changed)
        if layout.dp % 2 == 0:
            changed = {axis: 2 * ranks, "dp": layout.dp // 2}
            yield f"With {name} {2 * ranks} and DP {layout.dp // 2}", replace(layout, **changed)
    if layout.pp > 1 and layout.schedule in ("1f1b", "interleaved"):
        chunks = 2 * layout.chunks
        yield (
            f"With {chunks} chunks of each stage",
            replace(layout, chunks=chunks, schedule="interleaved"),
        )
    lighter = {"full": "selective", "plan": "selective", "selective": "none"}
    if layout.recompute in lighter:
        word = lighter[layout.recompute]
        yield f"With recomputation {word}", replace(layout, recompute=word)
    if not layout.flash:
        yield "With fused attention", replace(layout, flash=True)


def _seconds(time: float) -> str:
    return f"{time:.3g} s" if time < 100 else f"{time:.0f} s"
