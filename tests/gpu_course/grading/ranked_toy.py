"""A small puzzle on ranks that no lesson owns, with answers to it."""

from __future__ import annotations

import textwrap

import numpy as np

from gpu_course.puzzle import Case, Judgement, PerRank, PythonPuzzle
from gpu_course.puzzle.specification import Values

HEAD = """import ctypes, json, os, socket, sys, time
import torch
import torch.distributed as dist


def shift(x, k):
    n, r = dist.get_world_size(), dist.get_rank()
    right, left = (r + k) % n, (r - k) % n
    got = torch.empty_like(x)
"""
EXCHANGE = """
ops = [dist.P2POp(dist.isend, x, right), dist.P2POp(dist.irecv, got, left)]
for work in dist.batch_isend_irecv(ops):
    work.wait()
return got
"""


def answer(body: str, *, then: str = EXCHANGE) -> str:
    """Returns the text of an answer: these lines, and then the right ones."""
    lines = textwrap.dedent(body).strip("\n") + "\n" + textwrap.dedent(then).strip("\n")
    return HEAD + textwrap.indent(lines, "    ") + "\n"


RIGHT = answer("")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    ranks, length = case.sizes["ranks"], case.sizes["length"]
    return {"x": PerRank(tuple(rng.integers(1, 800, (ranks, length)) / 8.0)), "k": 1}


def _reference(inputs: Values, case: Case) -> Values:
    parts = inputs["x"].parts
    return {"result": tuple(parts[rank - 1] for rank in range(len(parts)))}


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    due = inputs["x"].parts[0].nbytes
    for rank, sent in enumerate(got["bytes_sent"]):
        if sent != due:
            own = [call for call in got["wire"] if call.rank == rank and call.kind == "send"]
            line = own[-1].line if own else 0
            fact = f"rank {rank} sends {sent:,} bytes; {due:,} are due"
            return Judgement("over-budget", fact, "over-budget", line)
    return None


def _case(ranks: int, length: int, name: str, visible: bool = False) -> Case:
    return Case(name, {"ranks": ranks, "length": length}, visible)


SHIFT = PythonPuzzle(
    name="92_ranked_toys/shift",
    title="everything one further",
    statement="Give rank r what rank r - 1 holds.",
    parameters={"shift": ("x", "k")},
    ranks=lambda case: case.sizes["ranks"],
    torch=True,
    cases=(
        _case(3, 4, "visible example", visible=True),
        _case(2, 5, "two ranks"),
        _case(3, 20_000, "many numbers"),
    ),
    random_case=lambda rng: _case(2, int(rng.integers(3, 9)), "at random"),
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    hints=("weak", "stronger", "strongest"),
    seconds=3.0,
    memory_bytes=256 << 20,
)
