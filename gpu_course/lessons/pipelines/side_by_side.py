"""What lesson 26 sets side by side, as tables: schedules, cuts, recomputation, stale weights."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_course.lessons.pipelines.cuts import best_cut, block_partition, stage_costs
from gpu_course.lessons.pipelines.layer_costs import LayerCost, measured_layer_costs
from gpu_course.lessons.pipelines.recompute import bubble_share, hidden
from gpu_course.lessons.pipelines.shows import ORDERS, costs_of, schedule_of
from gpu_course.lessons.pipelines.staleness import POLICIES, train
from gpu_course.measure.pipelines.actions import Schedule
from gpu_course.measure.pipelines.megatron import megatron
from gpu_course.measure.pipelines.pytorch import SCHEDULES, pytorch_schedule
from gpu_course.measure.pipelines.rules import faults, in_flight
from gpu_course.measure.pipelines.timing import simulate
from gpu_course.notebook.note import telling

NAME = 25
"""Columns for the name of a schedule."""


@telling
def schedules(ranks: int = 4, microbatches: int = 8, chunks: int = 2) -> str:
    """Returns a table of this lesson's orders and of those that PyTorch writes down.

    A rank has the same layers in each: F takes 1, I and W 1 each, shared out among its stages.

    Args:
        ranks, microbatches: of the pipeline.
        chunks: stages on each rank, where the order lets one choose.
    """
    lines = [
        f"{ranks} ranks, {microbatches} microbatches",
        f"{'':<{NAME}}{'stages':>8}{'bubble':>9}{'held':>7}{'passes':>9}",
        "this lesson's",
    ]
    for name in ORDERS:
        lines += _rows(name, schedule_of(name, ranks, microbatches, chunks))
    lines.append("PyTorch's")
    for name in SCHEDULES:
        lines += _rows(name, pytorch_schedule(name, ranks, microbatches, chunks))
    return "\n".join(lines)


def _rows(called: str, schedule: Schedule) -> list[str]:
    """Returns the row of a schedule; of one that cannot run, what the rules say in its place."""
    part = schedule.stages // schedule.ranks
    first = f"  {called:<{NAME - 2}}{part:>8}"
    if found := faults(schedule):
        return [f"{first}  cannot run as written:", f"    {found[0].sentence}"]
    run = simulate(schedule, costs_of(schedule))
    held, passes = max(run.peaks), max(in_flight(schedule))
    return [f"{first}{run.bubble_rate:>9.1%}{held:>7.3g}{passes:>9}"]


@telling
def beside_megatron(ranks: int = 4, microbatches: int = 8, chunks: int = 2) -> str:
    """Returns whether Megatron-LM's counts give the orders of this lesson, action by action.

    Args:
        ranks, microbatches, chunks: of the pipeline.
    """
    lines = [f"{ranks} ranks, {microbatches} microbatches"]
    for name, each in (("1F1B", 1), ("interleaved", chunks)):
        ours = schedule_of(name, ranks, microbatches, each)
        theirs = megatron(ranks, ours.microbatches, each)
        count = sum(map(len, ours.orders))
        same = sum(
            a == b
            for one, other in zip(ours.orders, theirs.orders, strict=True)
            for a, b in zip(one, other, strict=True)
        )
        lines.append(f"  {name:<12}{same} of {count} actions are the same")
    return "\n".join(lines)


@telling
def recomputing(ranks: int = 8, most: int = 8) -> str:
    """Returns a table of GPipe's bubble where stages are computed forward a second time.

    Args:
        ranks: of the pipeline, K.
        most: the most microbatches of a row, in multiples of K.
    """
    lines = [
        f"{ranks} ranks, all stages equal, a backward pass takes two forward passes",
        f"{'microbatches':<16}{'all kept':>10}{'again, late':>14}{'again, early':>14}{'free':>8}",
    ]
    multiples = [1, *(each for each in (2, 4, 8) if each <= most)]
    for each in multiples:
        count = each * ranks
        bubbles = [bubble_share(ranks, count, how) for how in ("none", "waiting", "early")]
        late = f"{bubbles[0]:>10.1%}{bubbles[1]:>14.1%}{bubbles[2]:>14.1%}"
        lines.append(f"{count:>4} = {each} K{'':<6}{late}{hidden(ranks, count):>8.0%}")
    lines.append("free: the part of what is computed again that costs no time")
    return "\n".join(lines)


@telling
def cuts(ranks: int = 4, costs: Sequence[LayerCost] | None = None) -> str:
    """Returns a table of cuts of a small GPT whose parts were timed on this machine.

    Args:
        ranks: how many stages there are to be.
        costs: of its parts; default they are timed now, which takes a second.
    """
    found = measured_layer_costs() if costs is None else list(costs)
    times = [each.us for each in found]
    mean = sum(times) / ranks
    layers = [each.us for each in found[1:-1]]
    between = f"{len(layers)} layers {min(layers)} to {max(layers)} us"
    lines = [
        f"embedding {found[0].us} us, {between}, head {found[-1].us} us",
        f"{'':<17}{'parts of each stage':<22}{'slowest':>10}{'over the mean':>15}",
    ]
    even = [len(times) // ranks + (stage < len(times) % ranks) for stage in range(ranks)]
    ways = {
        "as many parts": even,
        "torchgpipe's": block_partition(times, ranks, shifted=True),
        "the best": best_cut(times, ranks),
    }
    for name, cut in ways.items():
        slowest = max(stage_costs(times, cut))
        parts = " ".join(map(str, cut))
        lines.append(f"{name:<17}{parts:<22}{slowest:>7} us{slowest / mean - 1:>15.0%}")
    return "\n".join(lines)


@telling
def never_draining(stages: int = 4, microbatches: int = 80, rate: float = 0.3) -> str:
    """Returns a table of what becomes of a model whose pipeline never drains.

    Args:
        stages: one on each rank.
        microbatches: one step of the weights for each.
        rate: how far a step goes.
    """
    head = f"{'weights on the way back':<26}{'gradient off':>13}{'copies':>10}"
    lines = [
        f"{stages} stages, {microbatches} microbatches, one after the other",
        f"{head}{'moved':>8}{'loss':>9}",
    ]
    names = {
        "newest": "the newest",
        "stashed": "put aside (PipeDream)",
        "vertical": "one version throughout",
        "predicted": "predicted (SpecTrain)",
        "drained": "drained (GPipe)",
    }
    assert set(names) == set(POLICIES)
    for policy, name in names.items():
        run = train(policy, stages, microbatches, rate)
        error = max(run.gradient_error)
        off = "0" if error < 1e-9 else f"{error:.1%}"
        # The last eight alone: the first ones are those of weights nobody has trained.
        loss = sum(run.losses[-8:]) / len(run.losses[-8:])
        copies = " ".join(map(str, run.versions))
        lines.append(f"{name:<26}{off:>13}{copies:>10}{max(run.drift):>8.1%}{loss:>9.4f}")
    return "\n".join(lines)
