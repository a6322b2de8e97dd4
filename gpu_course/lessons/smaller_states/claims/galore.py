"""Memory of GaLore: table 2 and the abstract of Zhao et al. 2024, and two runs of its code."""

from __future__ import annotations

from gpu_course.claims.models import model as register
from gpu_course.lessons.smaller_states.galore_formulas import BF16, adam_numbers, galore_numbers
from gpu_course.measure.llama_shapes import LLAMA_7B, LLAMAS, Llama
from gpu_course.units import GIB

RANKS = {"60M": 128, "130M": 256, "350M": 256, "1B": 512}
"""Source: table 2."""
RANK_7B = 1024
"""Source: the README of github.com/jiaweizzhao/GaLore."""

MODELS = {name: (LLAMAS[name], rank) for name, rank in RANKS.items()}
SIZES = LLAMAS | {"7B": LLAMA_7B}


@register(model=SIZES)
def plain_gib(model: Llama) -> float:
    """Returns GiB of parameters and Adam's moments."""
    return BF16 * (model.parameters + adam_numbers(model).all) / GIB


@register(model=SIZES)
def galore_gib(model: Llama, rank: int) -> float:
    """Returns GiB of parameters, small moments and bases."""
    return BF16 * (model.parameters + galore_numbers(model, rank).all) / GIB


@register(model=SIZES)
def percent_saved(model: Llama, rank: int, state_bytes: int) -> float:
    """Returns what GaLore's states save of Adam's in bfloat16, in percent.

    Args:
        model, rank: as for galore_gib.
        state_bytes: of each number of GaLore, moments and bases: 2, or 1 in eight bits.
    """
    return 100 * (
        1 - state_bytes * galore_numbers(model, rank).all / (BF16 * adam_numbers(model).all)
    )


@register(model=SIZES)
def total_saved(model: Llama, rank: int, tokens: int) -> float:
    """Returns what 8-bit GaLore with one gradient at a time saves of all memory, in percent.

    Against plain Adam in bfloat16 with all gradients. As in percent_saved, moments and bases take a
    byte per number; the activations are the same in both.
    """
    from gpu_course.lessons.smaller_states.one_card import by_kind, on_one_card

    plain = on_one_card(model, None, tokens, eight_bits=False, one_gradient=False)
    small = {
        **by_kind(on_one_card(model, None, tokens)),
        "optimizer states": galore_numbers(model, rank).all,
    }
    return 100 * (1 - sum(small.values()) / sum(term.bytes for term in plain))


@register("memory", model=SIZES)
def one_card_gib(model: Llama, rank: int, tokens: int, checkpointed: bool) -> float:
    """Returns GiB of all that 8-bit GaLore holds with one gradient at a time."""
    from gpu_course.lessons.smaller_states.one_card import on_one_card

    terms = on_one_card(model, rank, tokens, checkpointed=checkpointed)
    return sum(term.bytes for term in terms) / GIB
