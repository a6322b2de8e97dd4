"""What a LLaMA holds in training, term by term: does it fit into one card?"""

from __future__ import annotations

from dataclasses import dataclass

from gpu_course.lessons.smaller_states.galore_formulas import BF16, adam_numbers, galore_numbers
from gpu_course.lessons.smaller_states.quantised_states import BLOCK
from gpu_course.measure.llama import kept_per_token
from gpu_course.measure.llama_shapes import Llama

FLOAT32 = 4


@dataclass(frozen=True)
class Term:
    """One part of the memory.

    Attributes:
        kind: of the ledger.
        name: what it is.
        bytes: its size.
    """

    kind: str
    name: str
    bytes: int


def on_one_card(
    model: Llama,
    rank: int | None,
    tokens: int,
    *,
    eight_bits: bool = True,
    one_gradient: bool = True,
    checkpointed: bool = False,
) -> tuple[Term, ...]:
    """Returns all that a training run holds, in bfloat16, largest first within each kind.

    The terms are added up as if all were there at the same moment, which no moment of a run has.
    The sum is no bound for all that: what the driver takes, and what an allocator leaves unused
    between blocks, is not among them, and the runs that were published held a tenth more.

    Args:
        model: its shape.
        rank: of GaLore's projections; None for plain Adam.
        tokens: in the batch.
        eight_bits: True for moments of one byte a number and a float32 scale for each BLOCK of
            them. The bases stay in bfloat16.
        one_gradient: True to update every parameter as soon as its gradient is there.
        checkpointed: True to keep the inputs of the layers alone, and one layer at a time in full.

    Source: `scripts/single_gpu` of github.com/jiaweizzhao/GaLore runs the 7B model in this way.
    """
    numbers = adam_numbers(model) if rank is None else galore_numbers(model, rank)
    layer, end = kept_per_token(model)
    kept = model.layers * layer
    if checkpointed:
        kept = model.layers * BF16 * model.hidden + layer
    gradients = model.largest if one_gradient else model.parameters
    states = [Term("optimizer states", "moments", (1 if eight_bits else BF16) * numbers.moments)]
    if eight_bits:
        scales = FLOAT32 * numbers.moments // BLOCK
        states.append(Term("optimizer states", "scales of the moments", scales))
    work = []
    if rank is not None:
        states.append(Term("optimizer states", "bases", BF16 * numbers.bases))
        work.append(Term("temporaries", "a decomposition, float32", FLOAT32 * model.decomposed))
    return (
        Term("parameters", "parameters", BF16 * model.parameters),
        *sorted(states, key=lambda term: -term.bytes),
        Term("gradients", "gradients", BF16 * gradients),
        Term("activations", "of the layers", tokens * kept),
        Term("activations", "of logits and loss", tokens * end),
        *work,
    )


def by_kind(terms: tuple[Term, ...]) -> dict[str, int]:
    """Returns {kind: bytes}."""
    sizes: dict[str, int] = {}
    for term in terms:
        sizes[term.kind] = sizes.get(term.kind, 0) + term.bytes
    return sizes
