"""What lesson 23 shows: slices on ranks, the learner's own runs, and PyTorch's beside them."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.lessons.zero_and_fsdp.claims.zero import zero_gb
from gpu_course.lessons.zero_and_fsdp.pictures import UnitUse, draw_owners, draw_stages, draw_units
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import telling
from gpu_course.notebook.own_ranks import own_text, run_text
from gpu_course.notebook.pictures import Picture
from gpu_course.ranks.calls import Call
from gpu_course.ranks.console import console

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FLOAT64_BYTES = 8


def owners(stage: int = 0, ranks: int = 4) -> Figure:
    """Returns a picture of who holds which byte of a model of 7.5 billion parameters.

    Args:
        stage: 0 to 3 of ZeRO.
        ranks: how many, at most 8.
    """
    return draw_owners(stage, ranks)


def stages(billions: float = 7.5, gpu_gb: float = 80) -> Figure:
    """Returns the GB on each rank over the number of ranks, a line for each stage.

    Args:
        billions: of parameters.
        gpu_gb: what a GPU has.
    """
    ranks = [2**k for k in range(11)]
    curves = {
        f"stage {stage}": [(n, zero_gb(billions, n, stage)) for n in ranks] for stage in range(4)
    }
    return draw_stages(curves, gpu_gb, f"{billions:g} billion parameters")


# Runs on real ranks


_OWN_UNITS = """

def course_main(ranks):
    import types
    import torch as course_torch
    from gpu_course.lessons.zero_and_fsdp.harness import zero3 as course_harness
    from gpu_course.lessons.zero_and_fsdp.units import TINY, tiny
    rank = course_torch.distributed.get_rank()
    units, weights, tokens = tiny(rank)
    shards = []
    for each in weights:
        size = -(-len(each) // ranks)
        filled = course_torch.zeros(ranks * size, dtype=each.dtype)
        filled[: len(each)] = each
        shards.append(filled[rank * size : (rank + 1) * size].clone().numpy())
    shape = {name: getattr(TINY, name) for name in
             ("hidden", "heads", "layers", "sequence", "vocabulary")}
    answer = types.SimpleNamespace(zero3=zero3)
    got = course_harness.run(answer, shards, tokens.numpy(), shape, [[0, 0]] * len(units))
    return {"uses": got["uses"], "lengths": [unit.length for unit in units]}
"""


def own_uses(ranks: int = 4) -> tuple[tuple[UnitUse, ...], int]:
    """Returns (uses on rank 0, bytes of all weights) of the learner's zero3 on the tiny GPT.

    Args:
        ranks: how many.

    Raises:
        CourseError: the answer cannot be run, or its run came to no end.
    """
    run = run_text(own_text("zero3") + _OWN_UNITS, "zero3.py", ranks, ranks=ranks)
    told = run.results[0]
    own = [call for call in run.calls if call.rank == 0]
    return uses_of(told["uses"], own, ranks), FLOAT64_BYTES * sum(told["lengths"])


def uses_of(
    uses: Sequence[tuple[str, int, int, int]], calls: Sequence[Call], ranks: int
) -> tuple[UnitUse, ...]:
    """Returns the uses of a run with the moment at which each one's gather was under way.

    A gather belongs to the next use of a unit that has not been gathered for, in order.

    Args:
        uses: (direction, unit, calls begun before it, bytes alive), in order.
        calls: of the same rank, in order.
        ranks: how many there are.
    """
    gathers = [number for number, call in enumerate(calls) if call.kind == "all_gather"]
    spare = len(uses) - len(gathers)
    turn = next((k for k, use in enumerate(uses) if use[0] == "backward"), len(uses))
    found, next_gather = [], 0
    for place, (direction, unit, _begun, held) in enumerate(uses):
        kept = ranks == 1 or (direction == "backward" and spare > place - turn)
        at = None
        if not kept and next_gather < len(gathers):
            number = gathers[next_gather]
            at = next((k for k, use in enumerate(uses) if use[2] > number), place)
            at = min(at, place)
            next_gather += 1
        found.append(UnitUse(unit, direction, at, held))
    return tuple(found)


@asks_for_answers
@telling
def own_units(ranks: int = 4) -> Picture:
    """Returns a picture of your own zero3 on the tiny GPT: gathers, uses, and the bytes alive.

    Args:
        ranks: how many.
    """
    uses, whole = own_uses(ranks)
    return Picture(draw_units(uses, whole, "your zero3"))


_STAGES = """
def course_main(steps, narrow, wide):
    import hashlib
    import torch
    from gpu_course.ranks.wire import mark
    from gpu_course.lessons.zero_and_fsdp.slices import Zero
    from gpu_course.lessons.zero_and_fsdp.units import tiny
    units, weights, tokens = tiny(torch.distributed.get_rank())
    told = []
    for stage in range(4):
        zero = Zero(units, weights, stage, getattr(torch, narrow), getattr(torch, wide))
        mark(2 * stage)
        for step in range(steps):
            zero.step(tokens)
            if step == 0:
                mark(2 * stage + 1)
        after = zero.all_weights()
        states = [each for k in range(len(units)) for each in zero.states(k)]
        held = torch.cat([after.double(), *(each.double() for each in states)])
        told.append({"after": after.double().numpy(), "held": zero.held, "length": len(after),
                     "digest": hashlib.sha256(held.numpy().tobytes()).hexdigest()})
    return told
"""


@dataclass(frozen=True)
class StageRun:
    """What some steps of one stage came to.

    Attributes:
        results: for each rank "after", all weights at the end; "held", the bytes of each kind while
            the last gradients were there; "length" of all weights; "digest" of weights and states.
        calls: of rank 0 in the first step.
    """

    results: tuple[Mapping[str, Any], ...]
    calls: tuple[Call, ...]


def stage_run(
    stage: int, ranks: int = 4, narrow: str = "float64", wide: str = "float64", steps: int = 3
) -> StageRun:
    """Returns a run of our own ZeRO on the tiny GPT; asked for again, the run that it was.

    Args:
        stage: 0 to 3.
        ranks: how many.
        narrow, wide: dtypes of weights and gradients, and of states.
        steps: how many.
    """
    return _all_stages(ranks, narrow, wide, steps)[stage]


@functools.cache
def _all_stages(ranks: int, narrow: str, wide: str, steps: int) -> tuple[StageRun, ...]:
    """Returns a run of each stage. To start ranks takes longer than to take their steps."""
    run = run_text(_STAGES, "stages.py", ranks, steps=steps, narrow=narrow, wide=wide)
    by_number = {call.number: call for call in run.calls if call.rank == 0}
    found: list[list[Call]] = [[] for _ in range(4)]
    place = -1
    for what, number in run.told[0]:
        if what == "mark":
            place = number
        elif what == "begins" and place >= 0 and place % 2 == 0:
            found[place // 2].append(by_number[number])
    return tuple(
        StageRun(tuple(told[stage] for told in run.results), tuple(found[stage]))
        for stage in range(4)
    )


def measured_stages(ranks: int = 4) -> str:
    """Returns a table of the bytes that tensors on rank 0 took, in bfloat16 and float32.

    Args:
        ranks: how many.
    """
    lines = [
        f"bytes for each parameter, measured on rank 0 of {ranks}",
        f"{'':<9}{'weights':>9}{'gradients':>11}{'states':>9}{'all':>9}{'formula':>10}",
    ]
    for stage in range(4):
        told = stage_run(stage, ranks, "bfloat16", "float32", steps=1).results[0]
        length, held = told["length"], told["held"]
        each = [held[kind] / length for kind in ("weights", "gradients", "states")]
        cells = f"{each[0]:>9.4g}{each[1]:>11.4g}{each[2]:>9.4g}{sum(each):>9.4g}"
        lines.append(f"stage {stage}  {cells}{zero_gb(1, ranks, stage):>10.4g}")
    return "\n".join(lines)


def sent_in_stage(stage: int, ranks: int = 4) -> float:
    """Returns what a rank's calls of a step carry, in (n - 1) / n of all parameters.

    Args:
        stage: 0 to 3.
        ranks: how many.
    """
    run = stage_run(stage, ranks)
    return float(_times(run.calls, run.results[0]["length"], ranks))


def _times(calls: Sequence[Call], length: int, ranks: int) -> str:
    booked = sum((call.booked_bytes for call in calls), Fraction(0))
    return f"{float(booked / (FLOAT64_BYTES * length * Fraction(ranks - 1, ranks))):.4g}"


_ONE = """
def course_main(ranks, steps):
    import torch
    from gpu_course.lessons.zero_and_fsdp.slices import Adam
    from gpu_course.lessons.zero_and_fsdp.units import tiny
    units, weights, _ = tiny()
    weights = [each.clone().requires_grad_() for each in weights]
    numbers = Adam()
    adam = torch.optim.Adam(weights, lr=numbers.rate, betas=(numbers.beta_1, numbers.beta_2),
                            eps=numbers.epsilon)
    for _ in range(steps):
        adam.zero_grad()
        for rank in range(ranks):
            units, _, x = tiny(rank)
            for unit, each in zip(units, weights):
                x = unit._call(each, x)
            (x / ranks).backward()
        adam.step()
    return torch.cat([each.detach() for each in weights]).numpy()
"""


def equal_to_one(ranks: int = 4, steps: int = 3) -> str:
    """Returns whether each stage ends with the weights of one process, in float64.

    Args:
        ranks: how many.
        steps: how many.
    """
    one = run_text(_ONE, "one.py", 1, ranks=ranks, steps=steps).results[0]
    lines = []
    for stage in range(4):
        found = stage_run(stage, ranks, steps=steps).results
        off = max(float(np.abs(each["after"] - one).max()) for each in found)
        lines.append(f"stage {stage}: {_equal(off)}")
    return "\n".join(lines)


_FAIRSCALE = """
def course_main():
    import importlib
    import torch
    from gpu_course.lessons.zero_and_fsdp.slices import steps_of
    from gpu_course.measure.model import GPT, next_token_loss
    from gpu_course.lessons.zero_and_fsdp.units import TINY, tiny

    try:
        oss = importlib.import_module("fairscale.optim.oss")
        sharded = importlib.import_module("fairscale.nn.data_parallel")
    except ImportError:
        return None
    rank = torch.distributed.get_rank()
    units, weights, tokens = tiny(rank)
    numbers = dict(lr=0.01, betas=(0.9, 0.99), eps=0.01)
    ours = [steps_of(units, weights, tokens, stage=2, steps=k)[0] for k in (1, 2)]
    found = []
    for numbers_in_a_bucket, to_none in ((0, True), (2**23, True), (2**23, False)):
        torch.manual_seed(0)
        model = GPT(TINY).double()
        optimizer = oss.OSS(model.parameters(), optim=torch.optim.Adam, **numbers)
        wrapped = sharded.ShardedDataParallel(
            model, optimizer, reduce_buffer_size=numbers_in_a_bucket
        )
        off = []
        for right in ours:
            next_token_loss(wrapped(tokens), tokens).backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=to_none)
            got = torch.cat([p.detach().flatten() for p in model.parameters()])
            off.append(float((got - right).abs().max()))
        found.append(off)
    return found
"""


def fairscale_text(ranks: int = 4) -> str:
    """Returns what FairScale's OSS and ShardedDataParallel come to, where they are installed.

    Args:
        ranks: how many.
    """
    found = run_text(_FAIRSCALE, "under_fairscale.py", ranks).results
    if found[0] is None:
        return "FairScale is not installed here: `pip install fairscale` brings it"
    lines = [f"{'FairScale beside our stage 2':<34}{'first step':>14}{'second step':>14}"]
    ways = ("no buckets", "buckets", "buckets, zero_grad to zeros")
    for number, way in enumerate(ways):
        off = [max(each[number][step] for each in found) for step in range(2)]
        told = ["equal" if each < 1e-12 else f"off by {each:.1g}" for each in off]
        lines.append(f"{way:<34}{told[0]:>14}{told[1]:>14}")
    return "\n".join(lines)


def _equal(off: float) -> str:
    return "as one process, but for rounding" if off < 1e-12 else f"off by {off:.2g}"


def calls_text(parameters: int, calls: Sequence[Call] | None = None) -> str:
    """Returns what the ranks called in the latest `%%ranks` cell, kind by kind.

    Args:
        parameters: of the model, in float64: what the volume is measured in.
        calls: of all ranks; default those of the latest cell.
    """
    given = list(_latest() if calls is None else calls)
    if not given:
        return "the latest %%ranks cell called nothing"
    ranks = len(given[0].group)
    lines = [f"{'calls of a rank':<18}{'number':>8}{'times (n - 1) / n of the parameters':>38}"]
    for kind in sorted({call.kind for call in given}):
        some = [call for call in given if call.kind == kind]
        lines.append(f"{kind:<18}{len(some) // ranks:>8}{_mean_times(some, parameters, ranks):>38}")
    lines.append(f"{'all':<18}{len(given) // ranks:>8}{_mean_times(given, parameters, ranks):>38}")
    return "\n".join(lines)


def axes_text(parameters: int, per_node: int) -> str:
    """Returns what rank 0 called in the latest `%%ranks` cell, within its node and beyond.

    Args:
        parameters: of the model, in float64: what the volume is measured in.
        per_node: ranks of a node, which have neighbouring numbers.
    """
    lines = [f"{'calls of rank 0':<16}{'among':<12}{'number':>7}{'times the parameters':>22}"]
    own = [call for call in _latest() if call.rank == 0]
    for kind, group in sorted({(call.kind, call.group) for call in own}):
        some = [call for call in own if (call.kind, call.group) == (kind, group)]
        where = " and ".join(map(str, group))
        share = f"{_booked(some) / (FLOAT64_BYTES * parameters):.2f}"
        lines.append(f"{kind:<16}{where:<12}{len(some):>7}{share:>22}")
    share = f"{to_other_nodes(parameters, per_node):.2f}"
    lines.append(f"{'to other nodes':<35}{share:>22}")
    return "\n".join(lines)


def to_other_nodes(parameters: int, per_node: int) -> float:
    """Returns what rank 0's calls of the latest `%%ranks` cell carry beyond its node.

    A group that reaches beyond the node is a ring through all nodes; its bytes leave the node over
    one rank of each node, and rank 0 is taken for that one.

    Args:
        parameters: of the model, in float64: the volume is in all of them.
        per_node: ranks of a node, which have neighbouring numbers.
    """
    own = [call for call in _latest() if call.rank == 0]
    leaving = [call for call in own if any(rank >= per_node for rank in call.group)]
    return _booked(leaving) / (FLOAT64_BYTES * parameters)


def _booked(calls: Sequence[Call]) -> float:
    return float(sum((call.booked_bytes for call in calls), Fraction(0)))


def number_of(kind: str) -> int:
    """Returns how many calls of a kind rank 0 made in the latest `%%ranks` cell.

    Args:
        kind: such as "all_gather".
    """
    return sum((call.rank, call.kind) == (0, kind) for call in _latest())


def volume(parameters: int) -> float:
    """Returns what the calls of the latest `%%ranks` cell carry, rank by rank on average.

    Args:
        parameters: of the model, in float64; the volume is in (n - 1) / n of them.
    """
    given = _latest()
    return float(_mean_times(given, parameters, len(given[0].group))) if given else 0.0


def _latest() -> tuple[Call, ...]:
    last = console().last
    return last.calls if last is not None else ()


def _mean_times(calls: Sequence[Call], length: int, ranks: int) -> str:
    """What calls of all ranks carry, divided by the ranks."""
    booked = sum((call.booked_bytes for call in calls), Fraction(0)) / ranks
    return f"{float(booked / (FLOAT64_BYTES * length * Fraction(ranks - 1, ranks))):.4g}"


_SAVE = """
def course_main(folder):
    import torch
    from gpu_course.lessons.zero_and_fsdp.saving import save
    from gpu_course.lessons.zero_and_fsdp.units import tiny
    units, weights, tokens = tiny(torch.distributed.get_rank())
    save(folder, units, weights, tokens)
"""
_LOAD = """

def course_main(folder, saved):
    from gpu_course.lessons.zero_and_fsdp.saving import load
    from gpu_course.lessons.zero_and_fsdp.units import tiny
    return load(folder, tiny()[0], saved, reshard)
"""


@asks_for_answers
def saved_and_loaded(saved: int = 4, ranks: int = 2) -> str | Any:
    """Returns what ranks loaded by your `reshard`, and by PyTorch, of what others had saved.

    Args:
        saved: ranks that train the tiny GPT for two steps, and save Adam's states.
        ranks: ranks that load, in new processes.
    """
    return _saved_and_loaded(saved, ranks)


@telling
def _saved_and_loaded(saved: int, ranks: int) -> str:
    text = own_text("reshard") + _LOAD
    with tempfile.TemporaryDirectory() as folder:
        run_text(_SAVE, "save.py", saved, folder=folder)
        found: Sequence[Mapping[str, Any]]
        found = run_text(text, "reshard.py", ranks, folder=folder, saved=saved).results
    lines = [f"Adam's states of 6 units, saved on {saved} ranks, loaded on {ranks}"]
    for rank, each in enumerate(found):
        right = ["right" if each[way] else "wrong" for way in ("by hand", "by dcp")]
        lines.append(f"  rank {rank}: yours {right[0]}, dcp {right[1]}")
        lines.append(
            f"          {each['read_bytes']:,} bytes read, {each['slice_bytes']:,} in its slices"
        )
    return "\n".join(lines)
