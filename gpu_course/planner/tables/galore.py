"""Memory of GaLore: table 2 and the abstract of Zhao et al. 2024, and two runs of its code."""

from __future__ import annotations

from functools import partial

from gpu_course.planner.published import Kind, Paper, Row
from gpu_course.training.galore_formulas import Llama, adam_numbers, galore_numbers
from gpu_course.units import GIB

PAPER = Paper(
    "GaLore 2024",
    "GaLore: Memory-Efficient LLM Training by Gradient Low-Rank Projection",
    "https://arxiv.org/abs/2403.03507",
)
CODE = Paper(
    "GaLore's code",
    "GaLore, the repository of the paper, as of March 2024",
    "https://github.com/jiaweizzhao/GaLore",
)
LESSONS = ("20_smaller_states",)
BF16 = 2

# (shape, rank). Shapes: configs/ of github.com/jiaweizzhao/GaLore; ranks: table 2, for 7B the
# project's README.
MODELS = {
    "60M": (Llama(512, 1376, 8), 128),
    "130M": (Llama(768, 2048, 12), 256),
    "350M": (Llama(1024, 2736, 24), 256),
    "1B": (Llama(2048, 5461, 24), 512),
}
LLAMA_7B = Llama(4096, 11008, 32)
RANK_7B = 1024

# Printed with a G: bfloat16 parameters and optimizer states, plain Adam and GaLore.
TABLE_2 = {
    "60M": ("0.36", "0.24"),
    "130M": ("0.76", "0.52"),
    "350M": ("2.06", "1.22"),
    "1B": ("7.80", "4.38"),
}


def plain_gib(model: Llama) -> float:
    """Returns GiB of parameters and Adam's moments."""
    return BF16 * (model.parameters + adam_numbers(model).all) / GIB


def galore_gib(model: Llama, rank: int) -> float:
    """Returns GiB of parameters, small moments and bases."""
    return BF16 * (model.parameters + galore_numbers(model, rank).all) / GIB


def percent_saved(model: Llama, rank: int, state_bytes: int) -> float:
    """Returns what GaLore's states save of Adam's in bfloat16, in percent.

    Args:
        model, rank: as for galore_gib.
        state_bytes: of each number of GaLore, moments and bases: 2, or 1 in eight bits.
    """
    return 100 * (
        1 - state_bytes * galore_numbers(model, rank).all / (BF16 * adam_numbers(model).all)
    )


RUN_TOKENS, CHECKPOINTED_TOKENS = 256, 16 * 256


def total_saved(model: Llama, rank: int, tokens: int) -> float:
    """Returns what 8-bit GaLore with one gradient at a time saves of all memory, in percent.

    Against plain Adam in bfloat16 with all gradients. As in percent_saved, moments and bases take a
    byte per number; the activations are the same in both.
    """
    from gpu_course.training.one_card import by_kind, on_one_card

    plain = on_one_card(model, None, tokens, eight_bits=False, one_gradient=False)
    small = {
        **by_kind(on_one_card(model, None, tokens)),
        "optimizer states": galore_numbers(model, rank).all,
    }
    return 100 * (1 - sum(small.values()) / sum(term.bytes for term in plain))


def one_card_gib(model: Llama, rank: int, tokens: int, checkpointed: bool) -> float:
    """Returns GiB of all that 8-bit GaLore holds with one gradient at a time."""
    from gpu_course.training.one_card import on_one_card

    terms = on_one_card(model, rank, tokens, checkpointed=checkpointed)
    return sum(term.bytes for term in terms) / GIB


_CELLS = (
    "The paper says G, and not what is in it. Read as GiB of the shapes in its repository, one "
    "cell agrees to the digit, and GaLore comes out 1 to 10 % high. Lesson 20 tries other "
    "readings. Without its unit and its terms a cell can be neither confirmed nor refuted."
)
_RUN = (
    "Printed with a G, as monitors print GiB. Ours adds up every tensor as if all were there at "
    "one moment; CUDA's own context, the workspace of the decomposition and what the allocator "
    "leaves between blocks are not tensors. How much they take is not printed."
)
_SAVED = (
    "The abstract says 'up to'. Our reading: 7B at rank 1024; in eight bits moments and bases take "
    "a byte per number, and the scales are left out. In all memory there are one gradient and the "
    "activations of 256 tokens."
)

ROWS = (
    *(
        Row(
            PAPER,
            "Table 2, memory",
            f"{name}, {method}",
            digits,
            "GiB",
            compute,
            how,
            LESSONS,
            Kind.formula,
            verdict=False,
            note=_CELLS,
        )
        for name, (model, rank) in MODELS.items()
        for method, digits, compute, how in (
            (
                "plain Adam",
                TABLE_2[name][0],
                partial(plain_gib, model),
                "2 bytes for each parameter and each number of two moments",
            ),
            (
                f"GaLore, rank {rank}",
                TABLE_2[name][1],
                partial(galore_gib, model, rank),
                "2 bytes for parameters, bases, small moments; embedding and head as ever",
            ),
        )
    ),
    Row(
        PAPER,
        "Abstract",
        "optimizer states saved",
        "65.5",
        "%",
        partial(percent_saved, LLAMA_7B, RANK_7B, BF16),
        "7B at rank 1024, all states in bfloat16",
        LESSONS,
        Kind.formula,
        verdict=False,
        note=_SAVED,
    ),
    Row(
        PAPER,
        "Abstract",
        "the same in eight bits",
        "82.5",
        "%",
        partial(percent_saved, LLAMA_7B, RANK_7B, 1),
        "7B at rank 1024, GaLore's states in eight bits against Adam's in bfloat16",
        LESSONS,
        Kind.formula,
        verdict=False,
        note=_SAVED,
    ),
    Row(
        PAPER,
        "Abstract",
        "the same of all memory",
        "63.3",
        "%",
        partial(total_saved, LLAMA_7B, RANK_7B, RUN_TOKENS),
        "7B at rank 1024: parameters, states in eight bits, one gradient, activations",
        LESSONS,
        Kind.formula,
        verdict=False,
        note=_SAVED,
    ),
    *(
        Row(
            CODE,
            "7B on one card of 24 GB",
            what,
            digits,
            "GiB",
            partial(one_card_gib, LLAMA_7B, RANK_7B, tokens, checkpointed),
            "every tensor of the run: moments in eight bits, bases in bfloat16, one gradient",
            LESSONS,
            Kind.measurement,
            verdict=False,
            note=_RUN,
        )
        for what, digits, tokens, checkpointed in (
            ("256 tokens (llama_7b.sh)", "22.72", RUN_TOKENS, False),
            ("16 x 256, checkpointed (README)", "22.8", CHECKPOINTED_TOKENS, True),
        )
    ),
)
