"""Puzzle `one_model_every_axis`: one GPT under every mix of axes; its gradients and its bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.lessons.meshes.one_step import own_gradients, said
from gpu_course.measure.every_axis import parts
from gpu_course.measure.every_axis.configuration import Configuration, Shape
from gpu_course.puzzle.on_ranks import ranks_of
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PerRank, PythonPuzzle, Values

LINES = (
    "dp=2 tp=2 sp",
    "",
    "dp=2",
    "tp=2",
    "tp=2 sp",
    "cp=2",
    "pp=2",
    "ep=2",
    "dp=3 zero3",
    "pp=3",
    "dp=2 zero3 tp=2",
    "dp=2 zero3 pp=2",
    "pp=2 tp=2 sp",
    "cp=2 ep=2",
    "tp=2 ep=2",
)
DRAWN = (
    "dp=4", "dp=2 cp=2", "dp=2 ep=2", "dp=2 pp=2", "tp=2 cp=2", "tp=2 cp=2 sp", "tp=2 ep=2 sp",
    "tp=2 pp=2", "cp=2 pp=2", "ep=2 pp=2", "dp=2 zero3 ep=2", "dp=2 zero3 cp=2",
    "dp=2 zero3 tp=2 sp", "tp=4", "tp=4 sp", "cp=4", "ep=4", "dp=4 zero3",
)  # fmt: skip
EVERY = (*LINES, *DRAWN)


def _case(line: str, name: str = "", visible: bool = False, drawn: int = 0) -> Case:
    sizes = {"ranks": Configuration.read(line).ranks, "line": EVERY.index(line), "drawn": drawn}
    return Case(name or line or "one rank", sizes, visible)


def _random_case(rng: np.random.Generator) -> Case:
    return _case(str(rng.choice(DRAWN)), "a mix drawn at random", drawn=1)


def configuration_of(case: Case) -> Configuration:
    """Returns the configuration of a case."""
    return Configuration.read(EVERY[case.sizes["line"]])


def shape_of(rng: np.random.Generator, case: Case) -> Shape:
    """Returns the model of a case: no two of its sizes alike, and ZeRO's slices do not divide."""
    if not case.sizes["drawn"]:
        return Shape(layers=max(2, configuration_of(case).pp))
    heads = 4
    return Shape(
        hidden=heads * int(rng.integers(3, 6)), heads=heads, layers=2, sequence=8,
        vocabulary=int(rng.integers(17, 40)), inside=4 * int(rng.integers(6, 10)), experts=8,
        top_k=int(rng.integers(1, 4)), batch=8, microbatches=int(rng.choice([1, 2])),
    )  # fmt: skip


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    shape = shape_of(rng, case)
    weights = parts.drawn(rng, shape)
    asked = {k: getattr(shape, k) for k in Shape.__dataclass_fields__}
    return {
        "config": configuration_of(case).as_dict(),
        "shape": asked,
        "weights": [weights[name] for name in parts.NAMES],
        "tokens": rng.integers(0, shape.vocabulary, (shape.batch, shape.sequence + 1)),
        "rank": PerRank(tuple(range(ranks_of(case)))),
    }


def _whole(inputs: Values) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Returns every token's loss, (sequence, batch), and all gradients, in one process."""
    from gpu_course.lessons.meshes.whole_model import losses_and_gradients

    weights = dict(zip(parts.NAMES, inputs["weights"], strict=True))
    return losses_and_gradients(Shape(**inputs["shape"]), weights, inputs["tokens"])


def _reference(inputs: Values, case: Case) -> Values:
    from gpu_course.measure.every_axis.model import own_sequences, own_tokens

    configuration, shape = configuration_of(case), Shape(**inputs["shape"])
    losses, gradients = _whole(inputs)
    found: dict[str, list[Any]] = {"loss": [], "gradients": [], "said": []}
    for rank in range(configuration.ranks):
        place = configuration.mesh.coords(rank)
        tokens = own_tokens(configuration, shape, place)
        own = losses[tokens, own_sequences(configuration, shape, place)].sum() / losses.size
        found["loss"].append(float(own) if place["pp"] == configuration.pp - 1 else 0.0)
        found["gradients"].append(own_gradients(gradients, configuration, shape, place))
        found["said"].append(said(configuration, shape, place))
    return {name: tuple(each) for name, each in found.items()}


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    """Holds what was said against what was counted."""
    for rank, each in enumerate(got["said"]):
        sent = float(got["booked_bytes"][rank])
        if abs(sent - each["wire"]) > 0.5:
            fact = f"rank {rank} sends {sent:,.0f} bytes, and {each['wire']:,.0f} were foretold"
            return Judgement("wire-differs", fact)
        for name, held in zip(("weights", "gradients", "states"), got["held"][rank], strict=True):
            if held != each[name]:
                told = f"{each[name]:,.0f} were foretold"
                fact = f"rank {rank} holds {held:,} bytes of {name}, and {told}"
                return Judgement("held-differs", fact)
    return None


def _call(inputs: Values) -> str:
    return f'the step of "{Configuration(**inputs["config"])}"'


ONE_MODEL_EVERY_AXIS = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.meshes.harness.every_axis",
    ranks=ranks_of,
    torch=True,
    cases=tuple(_case(line, visible=not number) for number, line in enumerate(LINES)),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    tolerance=(1e-9, 1e-12),
    call=_call,
)
