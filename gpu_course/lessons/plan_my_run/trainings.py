"""Models, layouts and batches that the puzzles of lesson 30 are checked with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Plain = dict[str, Any]


@dataclass(frozen=True)
class Training:
    """A model, the layout of its GPUs and a batch, as plain values that an answer gets."""

    model: Plain
    layout: Plain
    batch: Plain


def model_of(layers: int, hidden: int, heads: int, **others: Any) -> Plain:
    """Returns the plain values of a model; what is not given is as in GPT-3.

    >>> model_of(2, 64, 4)["mlp"]
    256
    """
    plain: Plain = {
        "layers": layers,
        "hidden": hidden,
        "heads": heads,
        "kv_heads": heads,
        "head_size": hidden // heads,
        "mlp": 4 * hidden,
        "matrices": 2,
        "experts": 0,
        "top_k": 0,
        "vocabulary": 51_200,
        "tied": False,
    }
    return plain | others


def layout_of(stages: list[int], **others: Any) -> Plain:
    """Returns the plain values of a layout; what is not given divides nothing."""
    plain: Plain = {"dp": 1, "tp": 1, "ep": 1, "sp": False, "zero": 0, "recompute": "none"}
    return plain | others | {"stages": stages}


def batch_of(sequences: int, microbatch: int = 1, sequence: int = 2048) -> Plain:
    """Returns the plain values of a batch."""
    return {"sequences": sequences, "microbatch": microbatch, "sequence": sequence}


GPT3 = model_of(96, 12_288, 96, tied=True)
LLAMA_3_70B = model_of(
    80, 8_192, 64, kv_heads=8, mlp=28_672, matrices=3, vocabulary=128_256
)  # fmt: skip
MIXTRAL = model_of(
    32, 4_096, 32, kv_heads=8, mlp=14_336, matrices=3, experts=8, top_k=2, vocabulary=32_000
)
SMALL = model_of(6, 64, 4, kv_heads=2, mlp=192, matrices=3, vocabulary=640)
SMALL_TIED = {**SMALL, "tied": True}
SMALL_MOE = model_of(
    4, 64, 8, kv_heads=4, head_size=12, mlp=96, matrices=3, experts=8, top_k=2, vocabulary=320
)

KORTHIKANTI = {
    "22B": Training(
        model_of(48, 6_144, 64, tied=True), layout_of([48], tp=8), batch_of(4, microbatch=4)
    ),
    "175B": Training(GPT3, layout_of([12] * 8, tp=8), batch_of(64)),
    "530B": Training(
        model_of(105, 20_480, 128, tied=True), layout_of([3] * 35, tp=8), batch_of(280)
    ),
    "1T": Training(model_of(128, 25_600, 160, tied=True), layout_of([2] * 64, tp=8), batch_of(512)),
}
"""Table 3 of Korthikanti and others 2022, without the interleaving of 175B and 530B."""


def drawn(rng: np.random.Generator) -> Training:
    """Returns a small training drawn at random, every part of it legal."""
    tp, kv_heads = (int(each) for each in rng.choice([1, 2], 2))
    kv_heads *= tp
    experts = int(rng.choice([0, 4]))
    ep = int(rng.choice([1, 2])) if experts else 1
    dp = ep * int(rng.choice([1, 2, 3]))
    stages = [int(each) for each in rng.integers(1, 5, int(rng.integers(1, 5)))]
    microbatch = int(rng.integers(1, 4))
    model = model_of(
        sum(stages),
        int(rng.integers(3, 20)) * 8,
        kv_heads * int(rng.choice([1, 2, 3])),
        kv_heads=kv_heads,
        head_size=int(rng.choice([4, 8, 20])),
        mlp=int(rng.integers(4, 30)) * 4,
        matrices=int(rng.choice([2, 3])),
        experts=experts,
        top_k=int(rng.integers(1, experts + 1)) if experts else 0,
        vocabulary=int(rng.integers(20, 90)) * 4,
        tied=bool(rng.integers(2)),
    )
    layout = layout_of(
        stages,
        dp=dp,
        tp=tp,
        ep=ep,
        sp=bool(rng.integers(2)),
        zero=int(rng.integers(4)),
        recompute=str(rng.choice(["none", "selective", "full"])),
    )
    batch = batch_of(dp * microbatch * int(rng.integers(1, 7)), microbatch, 16)
    return Training(model, layout, batch)


def machine_of(
    flop_per_s: float, link: float, card: float, host_s: float = 0.0, node: int = 8
) -> Plain:
    """Returns the plain values of a machine.

    Args:
        flop_per_s: of one GPU in large products.
        link, card: what a GPU sends to its node, and through its network card, in bytes/s.
        host_s: the least time of a layer and microbatch.
        node: GPUs of a node.
    """
    return {
        "flop_per_s": flop_per_s,
        "node": node,
        "link_bytes_per_s": link,
        "card_bytes_per_s": card,
        "host_s": host_s,
    }


A100 = machine_of(2.0e14, 300e9, 25e9, 1e-3)
H100 = machine_of(6.5e14, 450e9, 50e9, 2e-3)
"""Machines with round numbers, near to what two clusters reach."""
