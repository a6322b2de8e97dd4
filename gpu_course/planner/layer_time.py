"""Time of one layer on one card, forward and backward: products, attention, and plain traffic.

A product is cut into tiles, and tiles go to the processors of a card in waves: the last wave takes
as long as a full one. A short inner dimension pays the start of each tile. What is between the
products (norms, biases, masks, residuals) takes the bytes that it moves. Every argument may be a
NumPy array: one call then answers for many layouts.

Rates of tiles, their start, what an odd dimension costs and how often scores are moved were set on
the open half of vTrain's runs as a whole, all on A100, and hold for every card.

Source: NVIDIA, "Matrix Multiplication Background User's Guide" (tiles, waves, multiples of 64);
Korthikanti and others 2022, arXiv 2205.05198 (what a layer holds between its products).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_course.planner.machines import Machine
from gpu_course.planner.programs import Program

Numbers = Any
"""A number, or an array of numbers."""

TILES = ((128, 256, 1.0), (128, 128, 0.95), (64, 128, 0.9), (64, 64, 0.75))
"""Rows, columns and rate of the tiles that a library chooses among, against the largest."""
START = 80
"""Numbers of the inner dimension that the start and the end of a tile are worth."""
SLOW, ODD, NO_TENSOR_CORES = 1.25, 2.75, 12.0
"""How much longer a product takes where its inner or its output dimension is no multiple of 64; of
8; and of 8 where there is one small product for each head. BigScience's hidden size of 14,400 on 8
ranks, 1,800 to a rank, took 1.29 times as long as its FLOP say, and its heads of 108 made attention
many times slower. vTrain's 50,257 words are seen in every run without tensor ranks."""
SCORE_BYTES = (10.0, 12.0)
"""Bytes of each score that unfused attention moves besides its products, forward and backward: a
masked softmax reads and writes (4), dropout reads, writes and keeps a mask (5 to 6); backward,
dropout reads twice and writes (5), the softmax too (6)."""
CAUSAL = 0.5
"""Which part of all pairs of tokens fused attention works on under a causal mask."""
FUSED_BACK = 2.5
"""Products of fused attention's backward pass, over those of its forward pass: five over two."""


def product_s(
    rows: Numbers, columns: Numbers, inner: Numbers, card: Machine, batch: Numbers = 1.0
) -> Numbers:
    """Returns the seconds of (rows x inner) @ (inner x columns), as many times as `batch` says."""
    least = None
    for tall, wide, rate in TILES:
        tiles = np.ceil(rows / tall) * np.ceil(columns / wide) * batch
        worth = np.ceil(tiles / card.processors) * (tall * wide / rate)
        least = worth if least is None else np.minimum(least, worth)
    work_s = least * (inner + START) * (2.0 * card.processors / card.gemm_flop_per_s)
    moved = 2.0 * batch * (rows * inner + inner * columns + rows * columns)
    return np.maximum(work_s, moved / card.hbm_bytes_per_s)


def uneven(dimension: Numbers) -> Numbers:
    """Returns how much longer a product takes for one of its dimensions."""
    return np.where(dimension % 64 == 0, 1.0, np.where(dimension % 8 == 0, SLOW, ODD))


@dataclass(frozen=True)
class LayerTime:
    """Seconds of a layer for one microbatch on one card.

    Attributes:
        products: with weights, forward.
        scores: between queries, keys, values and output, forward.
        moved: what lies between the products, forward.
        backward: all of the backward pass, recomputing not counted.
    """

    products: Numbers
    scores: Numbers
    moved: Numbers
    backward: Numbers

    @property
    def forward(self) -> Numbers:
        """All of the forward pass."""
        return self.products + self.scores + self.moved


def layer_time(
    model: Any, layout: Any, sequence: Numbers, card: Machine, program: Program
) -> LayerTime:
    """Returns what a layer takes for one microbatch, without anything that is sent.

    Args:
        model: a Transformer, or anything with its names; arrays where each run has its own.
        layout: a Layout, or many.
        sequence: tokens of a sequence.
        card: that works.
        program: that runs.
    """
    tp, cp, ep = layout.tp, layout.cp, layout.ep
    tokens = layout.microbatch * sequence / cp
    up = np.where(model.gated, 2, 1) * model.inside
    experts, top = np.maximum(model.experts, 1), np.maximum(model.top_k, 1)
    here = experts / ep
    rows = tokens * top / here
    cut, wide = model.queries / tp, model.inside / tp
    products = (
        _pair(tokens, (model.queries + 2 * model.keys) / tp, model.hidden, cut, card),
        _pair(tokens, model.hidden, cut, cut, card),
        _pair(rows, up / tp, model.hidden, wide, card, here),
        _pair(rows, model.hidden, wide, wide, card, here),
    )
    ahead, back = (sum(part) / program.products for part in zip(*products, strict=True))
    scores, scores_back = _scores(model, layout, sequence, card, program)
    spread = np.where(layout.sequence_parallel, tp, 1)
    across = tokens * model.hidden / spread
    within = tokens * (top * (up + model.inside) + 4 * (model.queries + model.keys)) / tp
    moved, moved_back = (
        (one * across + other * within) / card.hbm_bytes_per_s for one, other in program.traffic
    )
    return LayerTime(ahead, scores, moved, back + scores_back + moved_back)


def _pair(
    rows: Numbers,
    columns: Numbers,
    inner: Numbers,
    cut: Numbers,
    card: Machine,
    batch: Numbers = 1.0,
) -> tuple[Numbers, Numbers]:
    """A product forward; and backward, one for its input and one for its weights."""
    penalty = uneven(cut)
    ahead = product_s(rows, columns, inner, card, batch)
    back = product_s(rows, inner, columns, card, batch)
    back = back + product_s(inner, columns, rows, card, batch)
    return ahead * penalty, back * penalty


def _scores(
    model: Any, layout: Any, sequence: Numbers, card: Machine, program: Program
) -> tuple[Numbers, Numbers]:
    head = model.queries / model.heads
    batch = model.heads / layout.tp * layout.microbatch
    mine = sequence / layout.cp
    pairs = batch * sequence * mine
    if layout.flash:
        flop = 4 * head * pairs * CAUSAL
        forward = flop / (card.gemm_flop_per_s * program.attention)
        return forward, FUSED_BACK * forward
    both = product_s(mine, sequence, head, card, batch) + product_s(
        mine, head, sequence, card, batch
    )
    both = both * np.where(head % 8 == 0, 1.0, NO_TENSOR_CORES)
    ahead, back = (each * pairs / card.hbm_bytes_per_s for each in SCORE_BYTES)
    return both + ahead, 2 * both + back
