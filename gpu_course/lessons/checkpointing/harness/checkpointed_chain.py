"""Harness of `checkpoint` and `rng_safe`: the answer calls every stage of a real chain."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gpu_course.lessons.checkpointing.recompute import noisy_chain, run_wrapped, smooth_chain
from gpu_course.puzzle.harness import Unusable, name_of

if TYPE_CHECKING:
    from torch import Tensor, nn

CALLED_INSTEAD = "__dynamo_disable"
"""The attribute in which torch.utils.checkpoint.checkpoint keeps the form of itself it calls."""
STOPPED = {
    "does not require grad": "no-graph",
    "backward through the graph a second time": "not-cut-off",
    "incorrect number of gradients": "one-per-argument",
    "a gradient different than None": "one-per-argument",
    "an invalid gradient": "one-per-argument",
    "created only for scalar outputs": "nothing-to-start-from",
    "modified by an inplace operation": "restored-too-early",
    "must have the same dtype": "other-precision",
    "should be the same": "other-precision",
}
"""What autograd says where a backward of one's own has gone wrong, and the diagnosis."""


def run(
    answer: ModuleType,
    function: str,
    blocks: int,
    width: int,
    seed: int,
    rows: int | None = None,
    spectral: int = 0,
    autocast: int = 0,
    half: int = 0,
    begun: int = 0,
    again: int = 0,
) -> dict[str, Any]:
    """Returns what the chain left behind and took, with `function` of the answer in between.

    Args:
        answer: the learner's module.
        function: "checkpoint" or "rng_safe"; it decides on the chain, too.
        blocks, width: of the chain.
        seed: of parameters, data and dropout.
        rows: of the batch; default the chain's own number.
        spectral: 1 for outputs that depend on buffers (rng_safe alone).
        autocast: 1 to run the forward pass under autocast.
        half: 1 for autocast in float16 instead of bfloat16.
        begun: 1 for gradients that hold those of an earlier part of the batch.
        again: 1 for a chain in which one block stands in two places.
    """
    more = {} if rows is None else {"rows": rows}
    if function == "checkpoint":
        stages, batch = smooth_chain(blocks, width, seed, **more, again=bool(again))
    else:
        stages, batch = noisy_chain(
            blocks, width, seed, **more, spectral=bool(spectral), again=bool(again)
        )
    own = getattr(answer, function)

    def wrap(stage: nn.Module, x: Tensor) -> Tensor:
        y = own(stage, x)
        if not isinstance(y, type(x)):
            raise Unusable(f"{function} returned {name_of(y)}, not a tensor")
        if stage is stages[-1] and y.dim():
            fact = (
                f"{function} returned {tuple(y.shape)} for the last stage, whose output is a number"
            )
            raise Unusable(fact, "other-output")
        return y

    try:
        with _without_the_library(function):
            found = run_wrapped(
                stages,
                batch,
                wrap,
                seed,
                autocast=bool(autocast),
                half=bool(half),
                begun=bool(begun),
            )
    except RuntimeError as error:
        for words, key in STOPPED.items():
            if words in str(error):
                first = str(error).partition(". ")[0]
                raise Unusable(f"backward() stopped: {first}", key) from error
        raise
    return {
        "loss": found.loss,
        "gradients": found.gradients.numpy(),
        "batch_gradient": found.batch_gradient.numpy(),
        "buffers": found.buffers.numpy(),
        "next_random": found.next_random.numpy(),
        "forward_passes": list(found.forward_passes),
        "kept_bytes": found.kept_bytes,
        "peak_bytes": found.peak_bytes,
    }


@contextmanager
def _without_the_library(function: str) -> Iterator[None]:
    """PyTorch's own checkpoint is what the puzzle asks to build: calling it is refused by name."""

    def refuse(*args: object, **options: object) -> None:
        fact = f"{function} calls torch.utils.checkpoint, which is what it is to be"
        raise Unusable(fact, "library")

    from torch.utils import checkpoint as library

    # A name imported early still leads here: the function looks up on itself what it is to call.
    inside = library.checkpoint.__wrapped__  # type: ignore[attr-defined]
    before = getattr(inside, CALLED_INSTEAD, None)
    setattr(inside, CALLED_INSTEAD, refuse)
    try:
        yield
    finally:
        setattr(inside, CALLED_INSTEAD, before)
