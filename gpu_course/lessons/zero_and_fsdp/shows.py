"""What lesson 23 shows: slices on ranks, the learner's own runs, and PyTorch's beside them."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.lessons.zero_and_fsdp.pictures import UnitUse, draw_owners, draw_stages, draw_units
from gpu_course.lessons.zero_and_fsdp.stage_bytes import bytes_per_parameter
from gpu_course.lessons.zero_and_fsdp.volumes import times
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import telling
from gpu_course.notebook.own.ranks import run_own
from gpu_course.notebook.pictures import Picture
from gpu_course.puzzle.on_ranks import FLOAT64_BYTES
from gpu_course.ranks.calls import Call
from gpu_course.ranks.runner import run_function
from gpu_course.ranks.traffic import booked_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
        f"stage {stage}": [(n, billions * bytes_per_parameter(stage, n)) for n in ranks]
        for stage in range(4)
    }
    return draw_stages(curves, gpu_gb, f"{billions:g} billion parameters")


# Runs on real ranks


def own_uses(ranks: int = 4) -> tuple[tuple[UnitUse, ...], int]:
    """Returns (uses on rank 0, bytes of all weights) of the learner's zero3 on the tiny GPT.

    Args:
        ranks: how many.

    Raises:
        CourseError: the answer cannot be run, or its run came to no end.
    """
    from gpu_course.lessons.zero_and_fsdp import runs

    run = run_own("zero3", runs.sharded_step, ranks)
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
    from gpu_course.lessons.zero_and_fsdp import runs

    given = {"steps": steps, "narrow": narrow, "wide": wide}
    run = run_function(runs.all_stages, ranks, given)
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
        lines.append(f"stage {stage}  {cells}{bytes_per_parameter(stage, ranks):>10.4g}")
    return "\n".join(lines)


def sent_in_stage(stage: int, ranks: int = 4) -> float:
    """Returns what a rank's calls of a step carry, in (n - 1) / n of all parameters.

    Args:
        stage: 0 to 3.
        ranks: how many.
    """
    run = stage_run(stage, ranks)
    return float(times(booked_bytes(run.calls), run.results[0]["length"], ranks))


def equal_to_one(ranks: int = 4, steps: int = 3) -> str:
    """Returns whether each stage ends with the weights of one process, in float64.

    Args:
        ranks: how many.
        steps: how many.
    """
    from gpu_course.lessons.zero_and_fsdp import runs

    one = runs.one_process(ranks, steps).numpy()
    lines = []
    for stage in range(4):
        found = stage_run(stage, ranks, steps=steps).results
        off = max(float(np.abs(each["after"] - one).max()) for each in found)
        lines.append(f"stage {stage}: {_equal(off)}")
    return "\n".join(lines)


def fairscale_text(ranks: int = 4) -> str:
    """Returns what FairScale's OSS and ShardedDataParallel come to, where they are installed.

    Args:
        ranks: how many.
    """
    from gpu_course.lessons.zero_and_fsdp import runs

    found = run_function(runs.beside_fairscale, ranks).results
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
    from gpu_course.lessons.zero_and_fsdp import runs

    with tempfile.TemporaryDirectory() as folder:
        run_function(runs.saved, saved, {"folder": folder})
        found: Sequence[Mapping[str, Any]]
        found = run_own("reshard", runs.loaded, ranks, folder=folder, saved=saved).results
    lines = [f"Adam's states of 6 units, saved on {saved} ranks, loaded on {ranks}"]
    for rank, each in enumerate(found):
        right = ["right" if each[way] else "wrong" for way in ("by hand", "by dcp")]
        lines.append(f"  rank {rank}: yours {right[0]}, dcp {right[1]}")
        lines.append(
            f"          {each['read_bytes']:,} bytes read, {each['slice_bytes']:,} in its slices"
        )
    return "\n".join(lines)
