"""Puzzle `matmul_bias_gelu`: a layer in one kernel."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gpu_course.lessons.matmul.pieces import (
    ALL_IN_FLOAT32,
    BARRIER_FOR_ALL,
    NO_ATOMICS,
    ROUNDS,
    TILE,
    cells_of,
    drawn_sides,
    large_square,
    put_special_numbers,
    sides,
    square_grid,
    tile_bytes,
    zeros_that_meet_zeros,
)
from gpu_course.puzzle.builders import ONE_CELL_EACH, arrays, gives, with_special_numbers
from gpu_course.puzzle.specification import (
    Bonus,
    Budget,
    Case,
    Debrief,
    KernelPuzzle,
    Launch,
    Mistake,
    Values,
)

ARGUMENTS = ("out", "a", "w", "bias", "m", "n", "k")
RTOL, ATOL = 1e-5, 1e-5
WARPS = TILE * TILE // 32


def _gelu(v: np.ndarray) -> np.ndarray:
    return np.vectorize(lambda each: each / 2 * (1 + math.erf(each / math.sqrt(2))))(v)


def _with_tanh(v: np.ndarray) -> np.ndarray:
    return np.asarray(v / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3))))


def _product(a: np.ndarray, w: np.ndarray) -> np.ndarray:
    return a.astype(np.float64) @ w.astype(np.float64)


def _layer(a: np.ndarray, w: np.ndarray, bias: np.ndarray) -> np.ndarray:
    return np.asarray(_gelu(_product(a, w) + bias), dtype=np.float32)


def _row_bias(a: np.ndarray, w: np.ndarray, bias: np.ndarray) -> np.ndarray:
    rows = np.resize(bias, len(a))[:, None]
    return _gelu(_product(a, w) + rows)


_OTHERWISE: tuple[tuple[str, Callable[..., np.ndarray]], ...] = (
    ("bias-of-the-row", _row_bias),
    ("bias-behind", lambda a, w, bias: _gelu(_product(a, w)) + bias),
    ("tanh", lambda a, w, bias: _with_tanh(_product(a, w) + bias)),
    (
        "no-root",
        lambda a, w, bias: np.vectorize(lambda v: v / 2 * (1 + math.erf(v)))(_product(a, w) + bias),
    ),
)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    arguments = (inputs["a"], inputs["w"], inputs["bias"])
    for key, idea in _OTHERWISE:
        wrong = idea(*arguments)
        if np.allclose(got["out"], wrong, RTOL, ATOL) and not np.allclose(
            expected["out"], wrong, RTOL, ATOL
        ):
            return key
    return None


def _bytes(case: Case) -> int:
    """Those of the tiles, and the bias once for every warp of a block.

    A sum that begins with the bias takes it in warps below the last row as well.
    """
    return tile_bytes(case) + 4 * case.sizes["n"] * WARPS * square_grid(case)[1]


ZERO_LINES = (
    "a_tile[y, x] = a[row, start + x] if a_here else {}",
    "w_tile[y, x] = w[start + y, col] if w_here else {}",
)

DEBRIEF = Debrief(
    shows=("global_load.bytes", "global_store.bytes", "fma"),
    why=(
        "The sum is in a register when the product is done, so bias and gelu cost no memory but "
        "the bias itself. Out is written once; as three kernels it would be written three times "
        "and read twice."
    ),
    alternative=(
        "The bias may come through a tile, with a barrier, or straight from memory, where a cache "
        "has it. GPUs also have a fast tanh, which is why models were trained with that "
        "approximation."
    ),
    bonus=Bonus(
        "Load each number of the bias once for a block.",
        "global_load.bytes",
        lambda case: tile_bytes(case) + 4 * case.sizes["n"] * square_grid(case)[1],
    ),
)

MATMUL_BIAS_GELU = KernelPuzzle(
    name="06_matmul/matmul_bias_gelu",
    title="a layer in one kernel",
    difficulty="medium",
    minutes=12,
    debrief=DEBRIEF,
    statement=(
        "The first half of a transformer's MLP: out = gelu(a @ w + bias), with one bias for each "
        "column and gelu(v) = v / 2 * (1 + erf(v / sqrt(2))). The tiled product is there, and each "
        "thread writes at most one cell. What comes after the product has to happen before the sum "
        "leaves its register, and in float32. NaN and infinities go the way of the formula: gelu "
        "of minus infinity is NaN."
    ),
    parameters={"matmul_bias_gelu": ARGUMENTS},
    cases=(
        sides("visible example", 20, 40, 24, visible=True, doublings=-5),
        sides("one cell", 1, 1, 1, doublings=0),
        sides("a cell more than whole tiles", 17, 33, 17, doublings=-5),
        sides("exactly one square", 16, 16, 32, doublings=-5),
        sides("wide and shallow", 9, 70, 5, doublings=-4),
        sides("far from 0", 5, 18, 3, doublings=4),
        sides("infinities, a NaN and zeros", 5, 18, 19, doublings=-5, infinite=1),
    ),
    random_case=drawn_sides((5, 30), (31, 50), (5, 30), doublings=(-6, -4)),
    inputs=with_special_numbers(
        arrays("m", "n", "k", a="m k", w="k n", bias="n"), infinite=put_special_numbers("a", "w")
    ),
    large=large_square,
    launches=lambda case: (Launch("matmul_bias_gelu", square_grid(case), (TILE, TILE), ARGUMENTS),),
    reference=gives(_layer),
    tolerance=(RTOL, ATOL),
    budgets=(
        Budget(
            "global_store.bytes",
            lambda case, counters: 4 * cells_of(case),
            "Each store of a step that is not the last goes to memory for nothing: the next step "
            "wants the number in this very thread.",
            "bytes stored",
        ),
        Budget(
            "global_load.bytes",
            lambda case, counters: _bytes(case),
            "The numbers of a and w come through the tiles, and a cell takes one number of the "
            "bias. What else does a thread fetch?",
            "bytes loaded from global memory",
        ),
        ROUNDS,
        NO_ATOMICS,
        ALL_IN_FLOAT32,
    ),
    diagnose=_diagnose,
    diagnoses={
        "race": (
            "Several threads met at a place of a tile with nothing to order them. What is brought "
            "for others needs a barrier before others use it."
        ),
        "race in global memory": (
            "Two threads met at one cell of global memory. Which cell of out does a thread have?"
        ),
        "barrier-divergence": BARRIER_FOR_ALL,
        "out-of-bounds": (
            "Where the square sticks out, a thread has no cell of out and no number of the bias. "
            "It has filled the tiles with the others, and now has nothing left to do."
        ),
        "bias-of-the-row": (
            "Each row got one bias. A column of the weights is a neuron, and the bias is the "
            "neuron's: which index does it take?"
        ),
        "bias-behind": "The bias goes into gelu together with the sum. You added it afterwards.",
        "tanh": (
            "That is gelu as it is approximated with tanh. The two differ in the fourth digit, and "
            "a model gives other numbers with the wrong one. Here the one with erf is asked for."
        ),
        "no-root": (
            "erf got v itself. The share of a normal distribution below v is an erf of something "
            "smaller: see the formula."
        ),
    },
    share=ONE_CELL_EACH,
    hints=(
        (
            "Behind the loop, `total` is the product's cell. What is missing is two lines of "
            "arithmetic, a guard and a store."
        ),
        (
            "Add the bias of the thread's column to the sum first, then apply gelu to that. Only "
            "threads that have a cell of out do so."
        ),
        (
            "Every number you write down in the formula is a float64 unless it is made a float32, "
            "and one float64 makes the rest of the line one. Write constants at the top of the "
            "file, as in `THIRD = float32(1 / 3)`, and multiply by the root of a half."
        ),
    ),
    mistakes=(
        Mistake("no_guard", "hazard", "out-of-bounds"),
        Mistake("bias_through_a_tile", "hazard", "race"),
        Mistake("waits_behind_the_guard", "hazard", "barrier-divergence"),
        Mistake("bias_of_the_row", "wrong-result", "bias-of-the-row"),
        Mistake("bias_behind_gelu", "wrong-result", "bias-behind"),
        Mistake("with_tanh", "wrong-result", "tanh"),
        Mistake("erf_of_v", "wrong-result", "no-root"),
        Mistake("as_in_a_book", "over-budget", "over-budget"),
        Mistake("one_step_after_the_other", "over-budget", "over-budget"),
        Mistake("one_thread_finishes_a_row", "over-budget", "not-shared"),
    ),
    constants={"TILE": TILE},
    equivalent_mutants=zeros_that_meet_zeros("matmul_bias_gelu", ZERO_LINES),
    source="Hendrycks and Gimpel, Gaussian Error Linear Units, 2016, https://arxiv.org/abs/1606.08415",
)
