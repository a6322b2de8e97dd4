"""Puzzle `days`: how long a GPT trains."""

from __future__ import annotations

import numpy as np

from gpu_course.measure.transformer_shapes import Transformer, training_days
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values
from gpu_course.units import MEGA, TERA

COUNTS = ("model", "machine")
_AGAIN = {"model": "none", "machine": "layers"}

SC21_TABLE_2 = (
    # layers, hidden, tokens in billions, GPUs, TFLOP/s of each: the runs with the paper's own way
    (96, 12288, 300, 384, 153),
    (96, 12288, 300, 1536, 141),
    (105, 20480, 300, 560, 171),
    (105, 20480, 300, 2240, 159),
)
"""Source: Narayanan et al. 2021, arXiv 2104.04473, Table 2."""


def _case(
    name: str,
    layers: int,
    hidden: int,
    vocabulary: int,
    sequence: int,
    million_tokens: int,
    gpus: int,
    mflops: int,
    counts: str,
    visible: bool = False,
) -> Case:
    sizes = {
        "layers": layers,
        "hidden": hidden,
        "vocabulary": vocabulary,
        "sequence": sequence,
        "million_tokens": million_tokens,
        "gpus": gpus,
        "mflops": mflops,
        "counts": COUNTS.index(counts),
    }
    return Case(name, sizes, visible)


_TERA = TERA // MEGA

_CASES = (
    # A long sequence and many tokens: what 8TP / nX leaves out is a good part here.
    _case(
        "visible example", 24, 1024, 50_257, 4096, 30_000, 8, 110 * _TERA, "machine", visible=True
    ),
    *(
        _case(
            f"SC21 Table 2, {gpus:,} GPUs",
            layers,
            hidden,
            51_200,
            2048,
            1000 * billions,
            gpus,
            rate * _TERA,
            "machine",
        )
        for layers, hidden, billions, gpus, rate in SC21_TABLE_2
    ),
    _case("a rate of the model's FLOP", 24, 1024, 50_257, 4096, 30_000, 8, 110 * _TERA, "model"),
    _case("a tiny model, nearly all head", 1, 64, 100_000, 16, 20, 1, 40_000, "machine"),
    _case("a long sequence, nearly all pairs", 2, 128, 256, 65_536, 3, 2, 900_000, "model"),
    _case("one of everything", 1, 1, 1, 1, 1, 1, 1, "machine"),
)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    s = case.sizes
    return {
        "layers": s["layers"],
        "hidden": s["hidden"],
        "vocabulary": s["vocabulary"],
        "sequence": s["sequence"],
        "tokens": MEGA * s["million_tokens"],
        "gpus": s["gpus"],
        "rate": float(MEGA * s["mflops"]),
        "counts": COUNTS[s["counts"]],
    }


def _random_case(rng: np.random.Generator) -> Case:
    spans = (
        (2, 100), (64, 9000), (500, 200_000), (128, 30_000), (100, 9000), (1, 5000),
        (_TERA, 900 * _TERA),
    )  # fmt: skip
    layers, hidden, vocabulary, sequence, tokens, gpus, rate = (
        int(rng.integers(*span)) for span in spans
    )
    counts = COUNTS[int(rng.integers(2))]
    return _case(
        "a run drawn at random", layers, hidden, vocabulary, sequence, tokens, gpus, rate, counts
    )


def counted(
    layers: int,
    hidden: int,
    vocabulary: int,
    sequence: int,
    tokens: int,
    gpus: int,
    rate: float,
    counts: str,
) -> float:
    """Returns the days by the count of the shape."""
    # How the width is cut into heads changes no product.
    shape = Transformer(layers, hidden, heads=1, vocabulary=vocabulary)
    model, machine = shape.training_flop(sequence, _AGAIN[counts])
    return training_days(machine if counts == "machine" else model, tokens, gpus, rate)


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": counted(**inputs)}


def _called(inputs: Values) -> str:
    told = ", ".join(f"{name}={value!r}" for name, value in inputs.items())
    return f"days({told})"


DAYS = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=_CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=(1e-12, 0.0),
    call=_called,
)
