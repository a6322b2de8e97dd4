"""What `checkpoint` and `rng_safe` share: a chain run through the answer, beside the plain run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpu_course.puzzle.specification import Case, Held, Values

SLACK_BYTES = 1024
"""A number here and a small buffer there are not what these puzzles are about."""

CLOSE = 0.2
"""How far gradients may be off, as a share of their size, that belong to the right question. An
input in bfloat16 turns some numbers to the other side of a ReLU, which leaves gradients off by a
tenth; those of other dropout masks are off by two thirds and more."""


def case(name: str, blocks: int, width: int, visible: bool = False, **more: int) -> Case:
    """Returns a case: a chain of so many blocks, and the loss.

    Args:
        name, blocks, width, visible: of the case.
        more: spectral=1, autocast=1, half=1, begun=1 or again=1, as the harness takes them.
    """
    return Case(name, {"blocks": blocks, "width": width, **more}, visible)


def held(blocks: int, width: int, rows: int, mebibytes: int) -> tuple[Held, ...]:
    """Returns the large case of a puzzle, and the memory it may take."""
    sizes = {"blocks": blocks, "width": width, "rows": rows}
    return (Held(Case("a large batch", sizes), mebibytes << 20),)


def inputs_for(function: str, rng: np.random.Generator, chosen: Case) -> Values:
    """Returns what the harness needs."""
    return {"function": function, **chosen.sizes, "seed": int(rng.integers(1 << 30))}


def plain_run(inputs: Values, compared: Sequence[str]) -> Values:
    """Returns what the plain run leaves behind: the outputs that have to be equal, bit for bit."""
    from gpu_course.lessons.checkpointing.recompute import (
        noisy_chain,
        plainly,
        run_wrapped,
        smooth_chain,
    )

    sizes = [inputs[name] for name in ("blocks", "width", "seed", "rows") if name in inputs]
    again = bool(inputs.get("again"))
    if inputs["function"] == "checkpoint":
        stages, batch = smooth_chain(*sizes, again=again)
    else:
        stages, batch = noisy_chain(*sizes, spectral=bool(inputs.get("spectral")), again=again)
    more = {name: bool(inputs.get(name)) for name in ("autocast", "half", "begun")}
    found = run_wrapped(stages, batch, plainly, inputs["seed"], **more)
    return {
        name: value if isinstance(value := getattr(found, name), float) else value.numpy()
        for name in compared
    }


def zero_share(gradients: np.ndarray) -> float:
    """Returns which share of some numbers is exactly 0."""
    return float(np.mean(gradients == 0))


def is_close(got: np.ndarray, expected: np.ndarray) -> bool:
    """Whether numbers are those that are expected, but for a fifth of their size."""
    return bool(np.linalg.norm(got - expected) <= CLOSE * np.linalg.norm(expected))
