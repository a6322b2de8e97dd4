"""Puzzle `flops`: FLOP of a training step, the model's and the machine's."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.lessons.counting.configs import GPT2_124M, GPT_174B, LITGPT
from gpu_course.lessons.counting.parameters import drawn_shape
from gpu_course.measure.transformer_shapes import AGAIN, Transformer
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

SMALL = Transformer(
    3, 24, 6, 2, head_size=5, mlp=40, gated=True, experts=5, top_k=2, vocabulary=50, tied=True
)
"""Here every way of the diagnoses comes to a count of its own."""

KNOWN: dict[str, Transformer] = {
    "visible example": SMALL,
    "GPT-2 124M": GPT2_124M,
    "Llama 3 70B": LITGPT["Llama 3 70B"],
    "Mixtral 8x7B": LITGPT["Mixtral 8x7B"],
    "Qwen2.5 0.5B": LITGPT["Qwen2.5 0.5B"],
    "GPT 174.6B": GPT_174B,
    "one of everything": Transformer(1, 1, 1, 1, head_size=1, mlp=1, vocabulary=1),
    "one expert of three": Transformer(
        2, 7, 4, 4, head_size=3, mlp=11, experts=3, top_k=1, vocabulary=9
    ),
}
WORDS = tuple(AGAIN)

_CASES = (
    ("visible example", 2, 7, "layers"),
    ("GPT-2 124M", 64, 1024, "none"),
    ("GPT-2 124M", 1, 1024, "attention"),
    ("Llama 3 70B", 4, 8192, "layers"),
    ("Llama 3 70B", 1, 131_072, "attention"),
    ("Mixtral 8x7B", 3, 4096, "none"),
    ("Qwen2.5 0.5B", 5, 512, "layers"),
    ("GPT 174.6B", 1536, 2048, "layers"),
    ("one of everything", 1, 1, "attention"),
    ("one expert of three", 2, 5, "attention"),
)


def config_of(shape: Transformer) -> dict[str, Any]:
    """Returns a shape as the puzzle gives it: what has to do with products."""
    return {
        "layers": shape.layers,
        "hidden": shape.hidden,
        "heads": shape.heads,
        "kv_heads": shape.kv_heads or shape.heads,
        "head_size": shape.queries // shape.heads,
        "mlp": shape.inside,
        "gated": shape.gated,
        "experts": shape.experts,
        "top_k": shape.top_k,
        "vocabulary": shape.vocabulary,
        "tied": shape.tied,
    }


def _case(name: str, batch: int, sequence: int, again: str) -> Case:
    sizes = {"config": list(KNOWN).index(name), "batch": batch, "sequence": sequence}
    visible = name == "visible example"
    full = name if visible else f"{name}, {batch} x {sequence:,} tokens"
    return Case(full, sizes | {"again": WORDS.index(again)}, visible)


def _random_case(rng: np.random.Generator) -> Case:
    batch, sequence, again = (int(rng.integers(*span)) for span in ((1, 9), (1, 40), (0, 3)))
    sizes = {"config": -1, "batch": batch, "sequence": sequence, "again": again}
    return Case("a shape drawn at random", sizes)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    number = case.sizes["config"]
    shape = drawn_shape(rng) if number < 0 else list(KNOWN.values())[number]
    return {
        "config": config_of(shape),
        "batch": case.sizes["batch"],
        "sequence": case.sizes["sequence"],
        "again": WORDS[case.sizes["again"]],
    }


def counted(config: dict[str, Any], batch: int, sequence: int, again: str) -> tuple[int, int]:
    """Returns (model, machine) for a config as the puzzle gives it."""
    model, machine = Transformer.of(config).training_flop(sequence, again)
    return batch * sequence * model, batch * sequence * machine


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": counted(**inputs)}


def _called(inputs: Values) -> str:
    config = {name: value for name, value in inputs["config"].items() if value not in (0, False)}
    told = ", ".join(f"{name}={value}" for name, value in config.items())
    more = ", ".join(repr(inputs[name]) for name in ("batch", "sequence", "again"))
    return f"flops(dict({told}), {more})"


FLOPS = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=tuple(_case(*each) for each in _CASES),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    call=_called,
)
