"""Puzzle `parameters`: how many a transformer has, and how many a token meets."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.lessons.counting.configs import GPT2_124M, LITGPT, NEOX_20B
from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.puzzle.harness.refusing import REFUSED
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

SMALL = Transformer(
    3, 24, 6, 2, head_size=5, mlp=40, gated=True, experts=5, top_k=2, vocabulary=50, positions=11,
    qkv_bias=True, bias=True,
)  # fmt: skip
"""Here every way of the diagnoses comes to a count of its own."""

KNOWN: dict[str, Transformer] = {
    "visible example": SMALL,
    "GPT-2 124M": GPT2_124M,
    **LITGPT,
    "GPT-NeoX 20B": NEOX_20B,
    "a head size of its own": Transformer(
        2, 30, 7, 1, head_size=4, mlp=11, vocabulary=13, tied=True, bias=True, norm="rms"
    ),
    "one norm a layer": Transformer(4, 12, 3, 3, mlp=48, vocabulary=9, norms=1, qkv_bias=True),
    "one of everything": Transformer(1, 1, 1, 1, mlp=1, vocabulary=1, norm="rms", norms=1),
    "one expert for each token": Transformer(
        2, 6, 3, 1, mlp=5, gated=True, experts=4, top_k=1, vocabulary=7, norm="rms"
    ),
    "all experts": Transformer(2, 8, 4, 2, mlp=6, experts=3, top_k=3, vocabulary=5, bias=True),
}
NAMES = tuple(KNOWN)

ODD: tuple[tuple[str, dict[str, Any]], ...] = (
    ("no layers", {"layers": 0}),
    ("heads that do not divide hidden", {"heads": 5, "kv_heads": 5, "head_size": None}),
    ("KV heads that do not divide heads", {"kv_heads": 4}),
    ("more KV heads than heads", {"kv_heads": 12}),
    ("more experts chosen than there are", {"top_k": 6}),
    ("a token that goes through no expert", {"top_k": 0}),
    ("an expert chosen where there is one MLP", {"experts": 0, "top_k": 1}),
)
"""What cannot be: changes to the visible example."""


def config_of(shape: Transformer) -> dict[str, Any]:
    """Returns a shape as the puzzle gives it."""
    plain = not shape.head_size
    return {
        "layers": shape.layers,
        "hidden": shape.hidden,
        "heads": shape.heads,
        "kv_heads": shape.kv_heads or shape.heads,
        "head_size": None if plain else shape.head_size,
        "mlp": shape.inside,
        "gated": shape.gated,
        "experts": shape.experts,
        "top_k": shape.top_k,
        "vocabulary": shape.vocabulary,
        "positions": shape.positions,
        "tied": shape.tied,
        "qkv_bias": shape.qkv_bias,
        "bias": shape.bias,
        "norm": shape.norm,
        "norms": shape.norms,
    }


def drawn_shape(rng: np.random.Generator) -> Transformer:
    """Returns a small shape in which nothing is like anything else by accident."""
    kv_heads, group, head_size = (int(n) for n in rng.integers(1, 5, size=3))
    own_size = bool(rng.integers(2))
    experts = int(rng.integers(2, 7)) if rng.integers(2) else 0
    yes = [bool(n) for n in rng.integers(2, size=4)]
    heads = kv_heads * group
    return Transformer(
        layers=int(rng.integers(1, 6)),
        hidden=int(rng.integers(5, 40)) if own_size else heads * (head_size + 3),
        heads=heads,
        kv_heads=kv_heads,
        head_size=head_size + 2 if own_size else 0,
        mlp=int(rng.integers(3, 60)),
        gated=yes[0],
        experts=experts,
        top_k=int(rng.integers(1, experts)) if experts else 0,
        vocabulary=int(rng.integers(3, 90)),
        positions=int(rng.integers(0, 2)) * int(rng.integers(1, 20)),
        tied=yes[1],
        qkv_bias=yes[2],
        bias=yes[3],
        norm=str(rng.choice(["layer", "rms"])),
        norms=int(rng.integers(0, 4)),
    )


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    number = case.sizes["config"]
    if "odd" in case.sizes:
        config = config_of(SMALL) | ODD[case.sizes["odd"]][1]
    else:
        config = config_of(drawn_shape(rng) if number < 0 else KNOWN[NAMES[number]])
    names = ("total", "active")
    return {"function": "parameters", "names": names, "arguments": {"config": config}}


def _reference(inputs: Values, case: Case) -> Values:
    total, active = counted(inputs["arguments"]["config"])
    return {"total": total, "active": active}


def counted(config: dict[str, Any]) -> tuple[Any, Any]:
    """Returns (total, active) for a config as the puzzle gives it, or its word for none."""
    try:
        shape = Transformer.of(config | {"head_size": config["head_size"] or 0})
    except CourseError:
        return REFUSED, REFUSED
    return shape.parameters, shape.active


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    said, right = got.get("total"), expected["total"]
    if right == REFUSED:
        return "not-refused"
    return "refused" if said == REFUSED else None


def called(inputs: Values) -> str:
    """Returns the call of a case for messages: what the shape has, and nothing that it has not."""
    config = inputs["arguments"]["config"]
    told = [f"{name}={value}" for name, value in config.items() if value not in (0, None, False)]
    return f"parameters(dict({', '.join(told)}))"


PARAMETERS = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.puzzle.harness.refusing_once",
    cases=(
        *(Case(name, {"config": number}, number == 0) for number, name in enumerate(NAMES)),
        *(Case(name, {"config": 0, "odd": number}) for number, (name, _) in enumerate(ODD)),
    ),
    random_case=lambda rng: Case("a shape drawn at random", {"config": -1}),
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    call=called,
)
