"""What lesson 27 shows: a backward pass in two, orders that use it, a search, and real ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from gpu_course.claims.published import rows
from gpu_course.errors import CourseError
from gpu_course.lessons.zero_bubble.leaderboard import (
    BY_HAND,
    LIMITS,
    by_hand,
    rate_bound,
    searched,
)
from gpu_course.measure.pipelines.actions import (
    BACKWARD,
    INPUT,
    WEIGHT,
    Action,
    Schedule,
    v_shaped,
)
from gpu_course.measure.pipelines.orders import dualpipe
from gpu_course.measure.pipelines.profiles import PROFILES, Profile
from gpu_course.measure.pipelines.rules import in_flight
from gpu_course.measure.pipelines.search import search
from gpu_course.measure.pipelines.timing import Costs, Run, simulate
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import telling
from gpu_course.notebook.own.pipelines import (
    beside_one_process,
    own_schedule,
    picture_of,
    steps_of,
)
from gpu_course.notebook.pictures import Picture

if TYPE_CHECKING:
    from torch.utils._python_dispatch import TorchDispatchMode

    from gpu_course.notebook.interactive.pipeline_board import Board

LESSON = "27_zero_bubble"
SEARCHED = "bubble rates of the paper's search"
THROUGHPUT = "Table 4, throughput"
RULES: Mapping[str, Callable[[int, int], Schedule]] = {**BY_HAND, "DualPipe": dualpipe}
"""The orders of this lesson that are made by a rule."""
FEW_TRIES = 12
"""Enough for an explorer, which has to answer while a slider is dragged."""


def matmuls(*calls: Callable[[], Any]) -> int:
    """Returns how many matrix products PyTorch does in all of the calls.

    Args:
        calls: functions without arguments.

    >>> import torch
    >>> matmuls(lambda: torch.eye(2) @ torch.eye(2))
    1
    """
    with _counter() as counter:
        for call in calls:
            call()
    return int(counter.products)  # type: ignore[attr-defined]


def _counter() -> TorchDispatchMode:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Counter(TorchDispatchMode):
        products = 0

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            self.products += func.overloadpacket.__name__ in ("mm", "addmm", "bmm")
            return func(*args, **(kwargs or {}))

    return Counter()


def schedule_of(order: str, ranks: int, microbatches: int) -> Schedule:
    """Returns an order by its name.

    Args:
        order: a key of RULES, or the name of one of PyTorch's schedules.
        ranks, microbatches: of the pipeline.

    Raises:
        CourseError: no order has this name, or PyTorch refuses these numbers.
    """
    from gpu_course.measure.pipelines.pytorch import SCHEDULES, pytorch_schedule

    if order in RULES:
        return RULES[order](ranks, microbatches)
    if order in SCHEDULES:
        return pytorch_schedule(order, ranks, microbatches)
    known = ", ".join(dict.fromkeys((*RULES, *SCHEDULES)))
    raise CourseError(f"no order is called {order!r}", f"there are {known}")


def taken_apart(ranks: int = 4, microbatches: int = 8) -> Schedule:
    """Returns 1F1B with I and W where each B was, W right after I.

    Args:
        ranks, microbatches: of the pipeline.
    """
    whole = BY_HAND["1F1B"](ranks, microbatches)
    orders = tuple(tuple(part for each in order for part in _parts(each)) for order in whole.orders)
    return Schedule(whole.placement, orders, microbatches, "1F1B, taken apart")


def _parts(action: Action) -> tuple[Action, ...]:
    if action.kind != BACKWARD:
        return (action,)
    stage, each = action.stage, action.microbatch
    return Action(stage, INPUT, each), Action(stage, WEIGHT, each)


def waiting(order: str | Schedule, ranks: int = 4, microbatches: int = 8) -> float:
    """Returns for how long the busiest rank waits, where F, I and W of a rank take 1 each.

    Args:
        order: a name as for `schedule_of`, or a schedule.
        ranks, microbatches: of a named one.
    """
    made = order if isinstance(order, Schedule) else schedule_of(order, ranks, microbatches)
    run = _timed(made)
    return run.cost - max(run.busy)


@telling
def by_hand_board(ranks: int = 4, microbatches: int = 6) -> Board:
    """Returns 1F1B, taken apart, on a board where actions are moved by hand or by keys.

    A microbatch is held until its W, and a rank may hold as many as there are ranks.

    Args:
        ranks, microbatches: of the pipeline.
    """
    from gpu_course.notebook.interactive.pipeline_board import board

    return board(taken_apart(ranks, microbatches), Costs(kept=1.0), float(ranks))


def run_of(order: str, ranks: int, microbatches: int, weight: float = 1.0) -> Run:
    """Returns an order as it runs where F and I of a whole rank take 1 each, and messages nothing.

    Args:
        order, ranks, microbatches: as for `schedule_of`.
        weight: what W takes.
    """
    return _timed(schedule_of(order, ranks, microbatches), weight)


def _timed(schedule: Schedule, weight: float = 1.0) -> Run:
    part = schedule.stages // schedule.ranks // schedule.ways
    return simulate(schedule, Costs(1 / part, 1 / part, weight / part, 0.0, 1 / part, 0.5 / part))


@telling
def pipeline(
    order: str = "1F1B", ranks: int = 4, microbatches: int = 8, weight: float = 1.0
) -> Picture:
    """Returns a picture of an order: who does what when, who waits, and what is held.

    Args:
        order, ranks, microbatches, weight: as for `run_of`.
    """
    return picture_of(run_of(order, ranks, microbatches, weight))


@asks_for_answers
@telling
def own(puzzle: str, ranks: int = 4, microbatches: int = 8, weight: float = 1.0) -> Picture:
    """Returns a picture of the orders that your answer gives.

    Args:
        puzzle: "zb_h1", "zb_h2" or "dualpipe".
        ranks, microbatches, weight: as for `run_of`.
    """
    return picture_of(_timed(_own(puzzle, ranks, microbatches), weight))


def _own(puzzle: str, ranks: int, microbatches: int) -> Schedule:
    if puzzle == "dualpipe":
        return own_schedule(puzzle, microbatches, v_shaped(ranks), ways=2, ranks=ranks)
    return own_schedule(puzzle, microbatches, ranks=ranks)


@asks_for_answers
@telling
def own_on_ranks(puzzle: str = "zb_h1", ranks: int = 2, microbatches: int = 4) -> str:
    """Returns what becomes of your orders on real ranks, followed by the course and by PyTorch.

    Args:
        puzzle, ranks, microbatches: as for `own`.
    """
    return beside_one_process(_own(puzzle, ranks, microbatches))


# A search, and what it is held against


@telling
def filled(
    ranks: int = 4, microbatches: int = 12, weight: float = 0.5, room: float = 2.0
) -> Picture:
    """Returns what a short search finds, where F and I take 1 each and messages nothing.

    Args:
        ranks, microbatches: of the pipeline.
        weight: what W takes.
        room: the memory limit, in microbatches for each rank; 1 is what 1F1B holds.
    """
    costs = Costs(1.0, 1.0, weight)
    return picture_of(search(ranks, microbatches, costs, room * ranks, FEW_TRIES).run)


@asks_for_answers
@telling
def leaderboard(pipeline: str = "1.5B, m=32") -> str:
    """Returns orders of a measured pipeline by the share in which ranks wait: yours, and others.

    Args:
        pipeline: a key of PROFILES.
    """
    profile = _profile(pipeline)
    times = (f"{profile.forward_ms:g}", f"{profile.input_ms:g}", f"{profile.weight_ms:g}")
    lines = [
        f"{pipeline}: {profile.ranks} ranks; F, I, W take {', '.join(times)} ms",
        f"{'':<38}{'waits':>9}{'held':>8}",
    ]
    for name in BY_HAND:
        lines.append(_entry(name, by_hand(pipeline, name)))
    for name, share in LIMITS.items():
        room = share * profile.ranks
        lines.append(f"room for {room} microbatches")
        if (rate := _published(pipeline, name)) is not None:
            lines.append(f"  {'published, ' + name:<36}{rate:>9.2%}")
        lines.append(_entry("  yours", _own_search(profile, room)))
        lines.append(_entry("  the search of the course", searched(pipeline, share).run))
        lines.append(f"  {'no order can wait less than':<36}{rate_bound(pipeline, share):>9.2%}")
    return "\n".join(lines)


def _profile(pipeline: str) -> Profile:
    if pipeline not in PROFILES:
        raise CourseError(
            f"no pipeline {pipeline!r} was measured", f"there are {'; '.join(PROFILES)}"
        )
    return PROFILES[pipeline]


def _entry(name: str, run: Run) -> str:
    return f"{name:<38}{run.bubble_rate:>9.2%}{max(run.peaks):>8.1f}"


def _own_search(profile: Profile, room: int) -> Run:
    """Returns how the orders of the learner's search run on a measured pipeline."""
    costs = profile.costs
    schedule = own_schedule(
        "beat_zb_2p",
        profile.microbatches,
        ranks=profile.ranks,
        times=(profile.forward_ms, profile.input_ms, profile.weight_ms),
        comm=profile.comm_ms,
        memory=(costs.activation, costs.kept),
        limit=float(room),
    )
    return simulate(schedule, costs)


def _published(pipeline: str, order: str) -> float | None:
    for row in rows(LESSON, SEARCHED):
        if row.arguments == {"pipeline": pipeline, "order": order}:
            return row.published
    return None


# What memory is counted in


def kept_by_w(pipeline: str, fused: bool) -> float:
    """Returns the share of F's activations that W needs.

    Args:
        pipeline: a key of PROFILES.
        fused: whether attention keeps no scores.
    """
    profile = _profile(pipeline)
    return profile.kept_without_scores if fused else profile.kept


@telling
def without_scores(pipeline: str = "1.5B, m=24") -> str:
    """Returns what the search finds where attention keeps no scores, in the same memory by count
    and by bytes.

    Args:
        pipeline: a key of PROFILES.
    """
    profile = _profile(pipeline)
    room = 2 * profile.ranks
    smaller = profile.kept / profile.kept_without_scores
    kept = profile.kept_without_scores
    more = search(
        profile.ranks, profile.microbatches, profile.costs_keeping(kept), room / smaller, 40
    )
    gigabytes = room * profile.stage_activation_bytes / 1e9
    found = (
        ("scores kept", room, gigabytes, searched(pipeline, 2).run),
        ("fused attention", room, gigabytes * smaller, searched(pipeline, 2, kept).run),
        ("fused attention", room / smaller, gigabytes, more.run),
    )
    lines = [f"{pipeline:<20}{'microbatches':>14}{'GB':>8}{'waits':>10}"]
    for name, count, size, run in found:
        lines.append(f"{name:<20}{count:>14.0f}{size:>8.1f}{run.bubble_rate:>10.2%}")
    return "\n".join(lines)


# The last barrier


@telling
def two_steps(together: bool = True, ranks: int = 4, microbatches: int = 8) -> Picture:
    """Returns two training steps by ZB-H2, one after the other.

    Args:
        together: whether all ranks wait for the last before they step.
        ranks, microbatches: of the pipeline.
    """
    from gpu_course.draw.training.pipelines import draw_pipeline

    run = run_of("ZB-H2", ranks, microbatches)
    later = run.end if together else run.cost
    first = steps_of(run)
    second = [step._replace(start=step.start + later, end=step.end + later) for step in first]
    name = f"Two steps of ZB-H2, {'all ranks at once' if together else 'each rank when it can'}"
    return Picture(draw_pipeline([*first, *second], name, until=run.end + run.end))


def longer_percent(pipeline: str) -> float:
    """Returns by how many per cent an iteration is longer if all ranks wait for the last one.

    Args:
        pipeline: a key of PROFILES.
    """
    _profile(pipeline)
    run = searched(pipeline, LIMITS["ZB-2p"]).run
    return 100 * (run.end / run.cost - 1)


# Other placements


@telling
def seven(ranks: int = 4, microbatches: int = 8) -> str:
    """Returns the schedules that PyTorch brings, by simulation, beside those of this lesson.

    Args:
        ranks, microbatches: of the pipeline.
    """
    lines = [
        f"{ranks} ranks, {microbatches} microbatches; F, I, W of a rank take 1 each",
        f"{'':<26}{'stages':>7}{'waits':>9}{'held':>7}{'held by the last':>18}",
    ]
    lines += [_row(name, run) for name, run in _all(ranks, microbatches)]
    return "\n".join(lines)


def _all(ranks: int, microbatches: int) -> Iterator[tuple[str, Run]]:
    from gpu_course.measure.pipelines.pytorch import SCHEDULES

    for name in RULES:
        yield name, run_of(name, ranks, microbatches)
    for name in SCHEDULES:
        if name not in RULES:
            yield f"PyTorch {name}", run_of(name, ranks, microbatches)


def _row(name: str, run: Run) -> str:
    stages = run.schedule.stages // run.schedule.ranks
    return (
        f"{name:<30}{stages:>3}{run.bubble_rate:>9.1%}{max(run.peaks):>7.3g}{run.peaks[-1]:>18.3g}"
    )


@telling
def formulas(ranks: int = 8, microbatches: int = 20) -> str:
    """Returns the bubbles that DeepSeek-V3's Table 2 gives by formula, beside simulation.

    Args:
        ranks: PP there, an even number. F, I and W take 1 each, a forward and a backward pass at
            once take 3.
        microbatches: of the simulation, an even number, at least 2 ranks.
    """
    f, b, w, both = 1, 2, 1, 3
    bubbles = {
        "1F1B": (ranks - 1) * (f + b),
        "ZB-H1": (ranks - 1) * (f + b - 2 * w),
        "DualPipe": (ranks // 2 - 1) * (both + b - 3 * w),
    }
    lines = [
        f"{ranks} ranks, {microbatches} microbatches",
        f"{'':<12}{'waits by formula':>18}{'simulated':>12}{'stages':>9}{'held':>7}",
    ]
    for name, waits in bubbles.items():
        run = run_of(name, ranks, microbatches)
        stages = run.schedule.stages // ranks
        lines.append(
            f"{name:<12}{waits:>18}{run.cost - max(run.busy):>12g}{stages:>9}"
            f"{max(in_flight(run.schedule)):>7}"
        )
    return "\n".join(lines)


# What the machine says


@telling
def messages_at_work() -> str:
    """Returns throughput as measured, and as simulated: messages free, or keeping GPUs busy."""
    lines = [
        f"{'samples/GPU/s':<24}{'measured':>10}{'messages free':>16}{'GPUs busy':>12}",
    ]
    for row in rows(LESSON, THROUGHPUT):
        pipeline, order = row.arguments["pipeline"], row.arguments["order"]
        busy = _with_busy_messages(PROFILES[pipeline], searched(pipeline, LIMITS[order]).run)
        lines.append(
            f"{pipeline + ', ' + order:<24}{row.published:>10.2f}"
            f"{row.mine:>8.2f}{row.mine / row.published - 1:>+8.1%}"
            f"{busy / row.published - 1:>+12.1%}"
        )
    return "\n".join(lines)


def _with_busy_messages(profile: Profile, run: Run) -> float:
    """Returns samples/GPU/s if each F and each I is at work while it receives and sends."""
    c = profile.costs
    both = 2 * profile.comm_ms
    costs = Costs(profile.forward_ms + both, profile.input_ms + both, c.weight, c.comm, 1.0, c.kept)
    return profile.samples_per_gpu_s(simulate(run.schedule, costs).cost)
