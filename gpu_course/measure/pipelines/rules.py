"""Whether a pipeline schedule can run, and if not, the first reasons in words.

    faults(schedule)                     # [] where it can run
    faults(schedule, most=4)             # and no rank holds more than 4 microbatches' activations

Each fault has a key, a place and a sentence. A deadlock is told as its circle: who stands where,
and for what of whom.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gpu_course.measure.pipelines.actions import (
    BACKWARD,
    FORWARD,
    INPUT,
    KINDS,
    WEIGHT,
    Action,
    Schedule,
)


@dataclass(frozen=True)
class Fault:
    """One reason why a schedule cannot run.

    Attributes:
        key: "unknown", "wrong-rank", "wrong-way", "doubled", "missing", "both-backwards",
            "bad-pair", "too-early", "too-many" or "deadlock".
        rank, step: where it is; a missing action has step None.
        sentence: what is wrong, in words.
        circle: of a deadlock, for each rank in it what it stands at and what it waits for.
    """

    key: str
    rank: int
    step: int | None
    sentence: str
    circle: tuple[tuple[Action, Action], ...] = ()


def needs(action: Action, stages: int, ways: int = 1) -> tuple[Action, ...]:
    """Returns what must be done before an action can be, by whichever rank.

    Args:
        action: of a schedule of this many stages.
        stages: how many there are.
        ways: how many pipelines they make up, each of equally many.

    A backward pass is named by its gradient to the input, I; a B stands for it where a schedule
    has one.
    """
    stage, microbatch = action.stage, action.microbatch
    each_way = stages // ways
    if action.kind == FORWARD:
        return (Action(stage - 1, FORWARD, microbatch),) if stage % each_way else ()
    if action.kind == WEIGHT:
        return (Action(stage, INPUT, microbatch),)
    own = Action(stage, FORWARD, microbatch)
    after = (Action(stage + 1, INPUT, microbatch),) if (stage + 1) % each_way else ()
    return (own, *after)


def needs_at(schedule: Schedule, rank: int, step: int) -> tuple[Action, ...]:
    """Returns what must be done before a rank can take a step, or the pair that begins with it."""
    order = schedule.orders[rank]
    done = order[step : step + 2] if schedule.begins_pair(rank, step) else order[step : step + 1]
    return tuple(need for action in done for need in needs(action, schedule.stages, schedule.ways))


def as_needed(action: Action) -> Action:
    """Returns the name under which others wait for an action: a B is waited for as an I."""
    if action.kind == BACKWARD:
        return Action(action.stage, INPUT, action.microbatch)
    return action


def faults(schedule: Schedule, most: int | None = None) -> list[Fault]:
    """Returns why a schedule cannot run; an empty list where it can.

    What is found first hides what would follow from it: places are judged before what is missing,
    that before the order on one rank, and that before what ranks wait for.

    Args:
        schedule: any table of actions.
        most: the most microbatches whose activations a rank may hold at a time, counted per stage.
    """
    for check in (_placed, _whole, _paired, _ordered):
        if found := list(check(schedule)):
            return found
    if circle := deadlock(schedule):
        return [circle]
    return [] if most is None else list(_in_flight(schedule, most))


def _steps(schedule: Schedule) -> Iterator[tuple[int, int, Action]]:
    for rank, order in enumerate(schedule.orders):
        for step, action in enumerate(order):
            yield rank, step, action


def _placed(schedule: Schedule) -> Iterator[Fault]:
    for stage, rank in enumerate(schedule.placement):
        if not 0 <= rank < schedule.ranks:
            yield Fault(
                "unknown",
                rank,
                None,
                f"stage {stage} lies on rank {rank}, and there are {schedule.ranks} ranks",
            )
    for rank, step, action in _steps(schedule):
        where = f"rank {rank}, step {step}: {action}"
        if action.kind not in KINDS:
            yield Fault("unknown", rank, step, f"{where} is none of {' '.join(KINDS)}")
        elif not 0 <= action.stage < schedule.stages:
            yield Fault(
                "unknown",
                rank,
                step,
                f"{where} names stage {action.stage}, and there are {schedule.stages}",
            )
        elif not 0 <= action.microbatch < schedule.microbatches:
            yield Fault(
                "unknown",
                rank,
                step,
                f"{where} names microbatch {action.microbatch}, and there are "
                f"{schedule.microbatches}",
            )
        elif schedule.placement[action.stage] != rank:
            yield Fault(
                "wrong-rank",
                rank,
                step,
                f"{where} belongs to rank {schedule.placement[action.stage]}, which holds stage "
                f"{action.stage}",
            )
        elif not _goes_through(schedule, action.stage, action.microbatch):
            per_way = schedule.stages // schedule.ways
            first = schedule.way_of_microbatch(action.microbatch) * per_way
            yield Fault(
                "wrong-way",
                rank,
                step,
                f"{where} is on the wrong way: microbatch {action.microbatch} goes through stages "
                f"{first} to {first + per_way - 1}",
            )


def _goes_through(schedule: Schedule, stage: int, microbatch: int) -> bool:
    return schedule.way_of_stage(stage) == schedule.way_of_microbatch(microbatch)


def _whole(schedule: Schedule) -> Iterator[Fault]:
    first: dict[Action, int] = {}
    for rank, step, action in _steps(schedule):
        if action in first:
            yield Fault(
                "doubled",
                rank,
                step,
                f"rank {rank} does {action} at step {first[action]} and at step {step} once more",
            )
        first.setdefault(action, step)
    for stage, rank in enumerate(schedule.placement):
        for microbatch in range(schedule.microbatches):
            if not _goes_through(schedule, stage, microbatch):
                continue
            yield from _one_pass(schedule, first, rank, stage, microbatch)


def _one_pass(
    schedule: Schedule, first: dict[Action, int], rank: int, stage: int, microbatch: int
) -> Iterator[Fault]:
    there = {kind: Action(stage, kind, microbatch) in first for kind in KINDS}
    split = there[INPUT] or there[WEIGHT]
    if there[BACKWARD] and split:
        kind = INPUT if there[INPUT] else WEIGHT
        yield Fault(
            "both-backwards",
            rank,
            first[Action(stage, kind, microbatch)],
            f"rank {rank} takes the backward pass of microbatch {microbatch} through stage {stage} "
            f"whole, by {Action(stage, BACKWARD, microbatch)}, and in part once more, by "
            f"{Action(stage, kind, microbatch)}",
        )
    wanted = [FORWARD, *([INPUT, WEIGHT] if split else [] if there[BACKWARD] else [BACKWARD])]
    for kind in wanted:
        if not there[kind]:
            action = Action(stage, kind, microbatch)
            yield Fault(
                "missing",
                rank,
                None,
                f"rank {rank} never does {action}, {_in_words(action)}",
            )


def _in_words(action: Action) -> str:
    """Returns an action in words."""
    of = f"microbatch {action.microbatch}"
    if action.kind in (FORWARD, BACKWARD):
        return f"{KINDS[action.kind]} of {of} through stage {action.stage}"
    whose = "input" if action.kind == INPUT else "weights"
    gradient = "gradient" if action.kind == INPUT else "gradients"
    return f"the {gradient} of {of} to stage {action.stage}'s {whose}"


def _paired(schedule: Schedule) -> Iterator[Fault]:
    for rank, pairs in enumerate(schedule.pairs):
        order = schedule.orders[rank]
        for step in sorted(pairs):
            one, other = order[step], order[step + 1]
            of = {(each.stage, each.microbatch) for each in (one, other)}
            if (one.kind, other.kind) != (FORWARD, BACKWARD) or len(of) == 1:
                yield Fault(
                    "bad-pair",
                    rank,
                    step,
                    f"rank {rank} does {one} and {other} together, at step {step}; a pair is the F "
                    "of one microbatch and the B of another",
                )


def _ordered(schedule: Schedule) -> Iterator[Fault]:
    for rank, order in enumerate(schedule.orders):
        at = {as_needed(action): step for step, action in enumerate(order)}
        for step, action in enumerate(order):
            for need in needs(action, schedule.stages, schedule.ways):
                if need.stage == action.stage and at[need] > step:
                    before = order[at[need]]
                    yield Fault(
                        "too-early",
                        rank,
                        step,
                        f"rank {rank} does {action} at step {step}, before the {before} it needs, "
                        f"at step {at[need]}",
                    )


def deadlock(schedule: Schedule) -> Fault | None:
    """Returns the circle in which ranks wait for each other, None where all can be done.

    Sends wait for nobody: a rank stops only before an action for which something has not come.

    Args:
        schedule: one whose actions are all there, each on its rank.
    """
    at, done = [0] * schedule.ranks, set[Action]()

    def missing(rank: int) -> Action | None:
        for need in needs_at(schedule, rank, at[rank]):
            if need not in done:
                return need
        return None

    moved = True
    while moved:
        moved = False
        for rank, order in enumerate(schedule.orders):
            while at[rank] < len(order) and missing(rank) is None:
                done.add(as_needed(order[at[rank]]))
                at[rank] += 1
                moved = True
    waiting = [rank for rank, order in enumerate(schedule.orders) if at[rank] < len(order)]
    if not waiting:
        return None
    path = [waiting[0]]
    while (holder := _holder(schedule, missing(path[-1]))) not in path:
        path.append(holder)
    circle = path[path.index(holder) :]
    sentence = _told(schedule, circle, at, missing)
    waits = tuple(
        (schedule.orders[rank][at[rank]], _written_as(schedule, need))
        for rank in circle
        if (need := missing(rank)) is not None
    )
    return Fault("deadlock", circle[0], at[circle[0]], sentence, waits)


def _holder(schedule: Schedule, needed: Action | None) -> int:
    assert needed is not None, "a rank that stands waits for something"
    return schedule.placement[needed.stage]


def _told(
    schedule: Schedule,
    circle: list[int],
    at: list[int],
    missing: Callable[[int], Action | None],
) -> str:
    """Returns the circle as one sentence: who stands at what, and waits for what of whom."""
    parts = []
    for number, rank in enumerate(circle):
        need = missing(rank)
        assert need is not None, "a rank of the circle waits for something"
        written = _written_as(schedule, need)
        stands = schedule.orders[rank][at[rank]]
        who = f"rank {rank} stands at {stands}" if not number else f"which stands at {stands}"
        of = circle[(number + 1) % len(circle)]
        parts.append(f"{who} and waits for {written} of rank {of}")
    last = schedule.orders[circle[0]][at[circle[0]]]
    return f"{', '.join(parts)}, which stands at {last}: a circle"


def _written_as(schedule: Schedule, needed: Action) -> Action:
    """Returns an action that is waited for under the name that the schedule has for it."""
    whole = Action(needed.stage, BACKWARD, needed.microbatch)
    order = schedule.orders[schedule.placement[needed.stage]]
    return whole if needed.kind == INPUT and whole in order else needed


def in_flight(schedule: Schedule) -> tuple[int, ...]:
    """Returns for each rank the most activations it holds at a time, counted per stage.

    They are held from F until the backward pass is over: B, or both I and W.
    """
    most = []
    for order in schedule.orders:
        held = peak = 0
        parts: Counter[tuple[int, int]] = Counter()
        for action in order:
            if action.kind == FORWARD:
                held += 1
                peak = max(peak, held)
            elif action.kind == BACKWARD:
                held -= 1
            else:
                parts[action.stage, action.microbatch] += 1
                held -= parts[action.stage, action.microbatch] == 2
        most.append(peak)
    return tuple(most)


def _in_flight(schedule: Schedule, most: int) -> Iterator[Fault]:
    for rank, order in enumerate(schedule.orders):
        held = 0
        parts: Counter[tuple[int, int]] = Counter()
        for step, action in enumerate(order):
            if action.kind == FORWARD:
                held += 1
                if held > most:
                    yield Fault(
                        "too-many",
                        rank,
                        step,
                        f"rank {rank} holds {held} microbatches' activations from {action} at step "
                        f"{step} on, and may hold {most}",
                    )
                    break
            elif action.kind == BACKWARD:
                held -= 1
            else:
                parts[action.stage, action.microbatch] += 1
                held -= parts[action.stage, action.microbatch] == 2
