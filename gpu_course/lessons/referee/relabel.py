"""Puzzle `relabel`: which model a run trained, told from its tokens a second and its MFU."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gpu_course.lessons.referee.credited import credited_mfu
from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.planner.playbook import MODELS, SEQUENCE
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

APART = 0.1
"""Points of MFU by which a run may be off: one of its last printed digit."""

SHAPES: dict[str, Transformer] = {
    **MODELS,
    "70.6B": replace(MODELS["80B"], kv_heads=8),
    "1.61B": replace(MODELS["1.34B"], tied=False),
    "tiny": Transformer(2, 4, 2, mlp=3, gated=True, vocabulary=5, tied=True, norm="rms"),
}
"""The Playbook's models, one with fewer heads of keys and one with a head of its own added; and
one so small that its norms show."""

GIVEN = ("layers", "hidden", "heads", "kv_heads", "mlp", "vocabulary", "tied")
"""What an answer is told of a shape."""

Run = tuple[int, int, str]
"""Stages, tokens a second on each GPU, and MFU in %, as the Playbook's file has them. Ours are the
runs of "a long sequence", and the last of "one model" and of "tied, and not"."""

KNOWN: dict[str, tuple[tuple[str, ...], tuple[Run, ...], int]] = {
    "visible example": (
        ("80B", "70.6B"),
        ((4, 285, "14.8"), (4, 282, "13.0"), (16, 665, "30.6"), (1, 308, "16.0")),
        SEQUENCE,
    ),
    "two sizes that share a table": (
        ("1.34B", "3.57B"),
        ((1, 40150, "39.2"), (2, 33677, "38.4"), (1, 36990, "36.1"), (8, 14587, "41.5"),
         (1, 11855, "30.7"), (4, 15402, "43.8")),
        SEQUENCE,
    ),
    "tied, and not": (
        ("1.34B", "1.61B"), ((1, 39006, "38.1"), (2, 33677, "38.4"), (1, 33677, "38.4")), SEQUENCE,
    ),
    "too slow to tell": (
        (*MODELS, "70.6B", "1.61B"),
        ((4, 16, "0.8"), (32, 12, "0.6"), (8, 217, "0.6"), (16, 52, "0.3")),
        SEQUENCE,
    ),
    "a run of none of them": (("80B", "70.6B"), ((4, 251, "12.8"), (8, 214, "9.9")), SEQUENCE),
    "one model": (("8.86B",), ((1, 6830, "41.2"), (16, 5170, "31.2"), (2, 5883, "15.5")), SEQUENCE),
    "a long sequence": (("3.57B", "8.86B"), ((1, 5021, "28.0"), (2, 3100, "32.8")), 32768),
    "where norms show": (("tiny",), ((1, 271_244_000_000, "50.0"),), 4),
    "no run": (("1.34B", "80B"), (), SEQUENCE),
    "no model": ((), ((1, 40150, "39.2"),), SEQUENCE),
    "nearly a tenth of a point": (
        ("1.34B", "3.57B"), ((1, 39273, "38.3"), (8, 14833, "42.2")), SEQUENCE,
    ),
}  # fmt: skip
NAMES = tuple(KNOWN)


def mfu(run: Run, shape: Transformer, sequence: int) -> float:
    """Returns the MFU in % of a run of a model, as the Playbook works it out."""
    stages, tokens, _ = run
    return credited_mfu(shape, stages, sequence, tokens)


def _shape(rng: np.random.Generator) -> Transformer:
    heads = int(rng.choice([16, 32, 64]))
    return Transformer(
        layers=int(rng.integers(12, 81)),
        hidden=128 * heads,
        heads=heads,
        kv_heads=heads // int(rng.choice([1, 4, 8])),
        mlp=256 * int(rng.integers(8, 113)),
        gated=True,
        vocabulary=int(rng.choice([32000, 65536, 131072])),
        tied=bool(rng.integers(2)),
        norm="rms",
    )


def _like(rng: np.random.Generator, shape: Transformer) -> Transformer:
    """Returns a shape that one number tells from another."""
    changes: list[dict[str, Any]] = [
        {"tied": not shape.tied}, {"kv_heads": shape.heads}, {"kv_heads": max(1, shape.heads // 8)},
        {"layers": shape.layers + 2}, {"mlp": shape.mlp + 1024}, {"vocabulary": 128256},
    ]  # fmt: skip
    return replace(shape, **changes[int(rng.integers(len(changes)))])


def _told(shape: Transformer) -> dict[str, int | bool]:
    told = {name: getattr(shape, name) for name in GIVEN}
    return told | {"kv_heads": shape.kv_heads or shape.heads}


def _drawn(rng: np.random.Generator) -> tuple[dict[str, Transformer], list[Run], int]:
    first = _shape(rng)
    shapes = [first, _like(rng, first), _like(rng, first), _shape(rng)]
    models = {f"model {name}": shape for name, shape in zip("ABCD", shapes, strict=True)}
    sequence = int(rng.choice([2048, 4096, 8192]))
    runs: list[Run] = []
    while len(runs) < 12:
        shape = shapes[int(rng.integers(4))]
        stages = int(rng.choice([1, 1, 2, 8]))
        part = float(rng.uniform(0.3, 55))
        tokens = round(part / mfu((stages, 1, ""), shape, sequence))
        value = mfu((stages, tokens, ""), shape, sequence) * float(rng.choice([1, 1, 1, 1, 1.05]))
        run = stages, tokens, f"{value:.1f}"
        # What hangs on the last bit is drawn again.
        off = [abs(abs(mfu(run, each, sequence) - float(run[2])) - APART) for each in shapes]
        if tokens and min(off) > 1e-6:
            runs.append(run)
    return models, runs, sequence


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    number = case.sizes["number"]
    if number >= 0:
        names, given, sequence = KNOWN[NAMES[number]]
        models, runs = {name: SHAPES[name] for name in names}, list(given)
    else:
        models, runs, sequence = _drawn(rng)
    return {
        "runs": [{"pp": pp, "tokens_per_s": tokens, "mfu": part} for pp, tokens, part in runs],
        "models": {name: _told(shape) for name, shape in models.items()},
        "sequence": sequence,
    }


def _reference(inputs: Values, case: Case) -> Values:
    shapes = {
        name: Transformer(gated=True, norm="rms", **told) for name, told in inputs["models"].items()
    }
    found = []
    for run in inputs["runs"]:
        numbers = run["pp"], run["tokens_per_s"], run["mfu"]
        off = {
            name: abs(mfu(numbers, shape, inputs["sequence"]) - float(run["mfu"]))
            for name, shape in shapes.items()
        }
        found.append([name for name, each in off.items() if each <= APART])
    return {"result": found}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    said = got["result"]
    if not isinstance(said, list | tuple) or len(said) != len(inputs["runs"]):
        return "form"
    if not all(isinstance(each, list | tuple) for each in said):
        return "form"
    if all(sorted(map(str, a)) == sorted(b) for a, b in zip(said, expected["result"], strict=True)):
        return "order"
    return "names"


def _call(inputs: Values) -> str:
    runs = ", ".join(
        f"(pp {run['pp']}, {run['tokens_per_s']} tokens/s, {run['mfu']} %)"
        for run in inputs["runs"]
    )
    return f"relabel([{runs}], {', '.join(inputs['models']) or 'no models'}, {inputs['sequence']})"


RELABEL = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=tuple(Case(name, {"number": n}, n == 0) for n, name in enumerate(NAMES)),
    random_case=lambda rng: Case("models and runs drawn at random", {"number": -1}),
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    call=_call,
)
