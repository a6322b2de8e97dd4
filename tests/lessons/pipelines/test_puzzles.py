"""The puzzles of lesson 26: every order there is for small pipelines, and what others are told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gpu_course import check
from gpu_course.lessons.pipelines.balance import BALANCE
from gpu_course.lessons.pipelines.breadth_first import BREADTH_FIRST
from gpu_course.lessons.pipelines.gpipe_order import GPIPE_ORDER
from gpu_course.lessons.pipelines.in_flight import IN_FLIGHT, wandering
from gpu_course.lessons.pipelines.interleaved import INTERLEAVED
from gpu_course.lessons.pipelines.one_f_one_b import ONE_F_ONE_B
from gpu_course.lessons.pipelines.stash_bug import STASH_BUG
from gpu_course.measure.pipelines import orders as named
from gpu_course.measure.pipelines.actions import Action, Schedule
from gpu_course.measure.pipelines.rules import in_flight
from gpu_course.measure.pipelines.timing import Costs, simulate
from gpu_course.puzzle import index, pipeline_orders
from gpu_course.puzzle.harness import Unusable
from gpu_course.puzzle.pipeline_orders import case
from gpu_course.puzzle.specification import Case, PythonPuzzle
from tests.course.puzzles.python_rules import cases_and_random, solution_of

pytestmark = pytest.mark.long(20)

LESSON = index.lesson("pipelines")
Orders = Sequence[Sequence[str]]


def test_the_lesson_is_found_by_its_number_and_its_topic() -> None:
    assert index.lesson("26") is LESSON
    assert [puzzle.short_name for puzzle in LESSON.puzzles] == [
        "gpipe_order", "one_f_one_b", "in_flight", "interleaved", "breadth_first", "balance",
        "stash_bug",
    ]  # fmt: skip
    assert sum(puzzle.minutes for puzzle in LESSON.puzzles) < LESSON.minutes


# Orders, followed by nothing but what an action needs


def ends(orders: Orders, chunks: int) -> dict[str, float] | None:
    """Returns when each action ends, by looking again and again until nothing changes.

    None where it never comes to an end: an action waits for itself, or for one that nobody does.
    """
    stages = len(orders) * chunks
    found = {action: 0.0 for order in orders for action in order}
    for _ in range(len(found) + 1):
        before = dict(found)
        for order in orders:
            free = 0.0
            for action in order:
                stage, kind, each = _read(action)
                wanted = [f"{stage - 1}F{each}"] if kind == "F" and stage else []
                if kind == "B":
                    wanted = [f"{stage}F{each}"]
                    wanted += [f"{stage + 1}B{each}"] if stage < stages - 1 else []
                if any(need not in found for need in wanted):
                    return None
                start = max([free, *(found[need] for need in wanted)])
                free = found[action] = start + (1 if kind == "F" else 2) / chunks
        if found == before:
            return found
    return None


def most_held(order: Sequence[str]) -> int:
    """Returns the largest number of passes that went down and have not come back."""
    return max(
        sum(1 if _read(action)[1] == "F" else -1 for action in order[: step + 1])
        for step in range(len(order))
    )


def _read(action: str) -> tuple[int, str, int]:
    kind = "F" if "F" in action else "B"
    stage, each = action.split(kind)
    return int(stage), kind, int(each)


def is_good(puzzle: PythonPuzzle, orders: Orders, microbatches: int, chunks: int) -> bool:
    """Whether orders keep to a statement, read from nothing but its words."""
    ranks = len(orders)
    done = ends(orders, chunks)
    if done is None or max(done.values()) > 3 * (microbatches + (ranks - 1) / chunks) + 1e-9:
        return False
    for rank, order in enumerate(orders):
        ways = [action[: action.index("FB"["B" in action]) + 1] for action in order]
        held = most_held(order)
        if puzzle is GPIPE_ORDER and "".join(way[-1] for way in ways).strip("F").strip("B"):
            return False
        if puzzle is ONE_F_ONE_B and held > min(ranks - rank, microbatches):
            return False
        if puzzle is INTERLEAVED and held > 2 * (ranks - rank - 1) + (chunks - 1) * ranks + 1:
            return False
        turns = 1 + sum(one != other for one, other in pairwise(ways))
        if puzzle is BREADTH_FIRST and turns > 2 * chunks:
            return False
    return True


def passes(puzzle: PythonPuzzle, orders: Orders, case: Case) -> bool:
    """Whether the grader takes orders."""
    assert puzzle.follow is not None and puzzle.judge is not None
    inputs = dict(case.sizes)
    try:
        got = puzzle.follow(inputs, case, {"result": [list(order) for order in orders]})
    except Unusable:
        return False
    return puzzle.judge(inputs, case, got) is None


def of_rank(rank: int, ranks: int, microbatches: int, chunks: int = 1) -> list[str]:
    return [
        f"{chunk * ranks + rank}{kind}{each}"
        for chunk in range(chunks)
        for kind in "FB"
        for each in range(microbatches)
    ]


def down_before_up(actions: list[str]) -> list[tuple[str, ...]]:
    """Returns every order in which each microbatch goes forward through a stage before back."""

    def extended(done: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if len(done) == len(actions):
            yield done
        for action in actions:
            if action not in done and ("F" in action or action.replace("B", "F") in done):
                yield from extended((*done, action))

    return list(extended(()))


SMALL = [(1, 3), (2, 1), (2, 2), (3, 1), (2, 3), (3, 2)]


@pytest.mark.parametrize("puzzle", [GPIPE_ORDER, ONE_F_ONE_B], ids=lambda each: each.short_name)
@pytest.mark.parametrize(("ranks", "microbatches"), SMALL)
def test_of_all_orders_exactly_the_good_ones_pass(
    puzzle: PythonPuzzle, ranks: int, microbatches: int
) -> None:
    """With one and two microbatches on two ranks all orders at all; else each pass down first."""
    actions = [of_rank(rank, ranks, microbatches) for rank in range(ranks)]
    every = ranks * microbatches <= 4
    ways = [list(permutations(each)) if every else down_before_up(each) for each in actions]
    this, good = case("brute force", ranks, microbatches), 0
    for orders in product(*ways):
        expected = is_good(puzzle, orders, microbatches, 1)
        good += expected
        assert passes(puzzle, orders, this) == expected, orders
    assert good


@pytest.mark.parametrize(("ranks", "microbatches"), SMALL)
def test_no_order_takes_less_than_filling_and_draining(ranks: int, microbatches: int) -> None:
    ways = [down_before_up(of_rank(rank, ranks, microbatches)) for rank in range(ranks)]
    times = (max(found.values()) for orders in product(*ways) if (found := ends(orders, 1)))
    assert min(times) == pipeline_orders.least_time(case("brute force", ranks, microbatches))


@pytest.mark.parametrize("puzzle", [INTERLEAVED, BREADTH_FIRST], ids=lambda each: each.short_name)
def test_of_all_orders_of_two_stages_on_one_rank_exactly_the_good_ones_pass(
    puzzle: PythonPuzzle,
) -> None:
    this, good = case("brute force", 1, 2, 2), 0
    for order in down_before_up(of_rank(0, 1, 2, 2)):
        expected = is_good(puzzle, [order], 2, 2)
        good += expected
        assert passes(puzzle, [order], this) == expected, order
    assert good


@pytest.mark.parametrize("puzzle", [INTERLEAVED, BREADTH_FIRST], ids=lambda each: each.short_name)
def test_of_orders_near_the_solution_exactly_the_good_ones_pass(puzzle: PythonPuzzle) -> None:
    """Neighbours change places here and there: some do no harm, some hold more, some are late."""
    rng = np.random.default_rng(26)
    answer = solution_of(puzzle)[puzzle.short_name]
    kinds = {True: 0, False: 0}
    for _ in range(400):
        ranks, chunks = int(rng.integers(2, 4)), int(rng.integers(1, 4))
        microbatches = ranks * int(rng.integers(1, 3))
        orders = answer(ranks, microbatches, chunks)
        for _ in range(int(rng.integers(1, 4))):
            order = orders[int(rng.integers(ranks))]
            at = int(rng.integers(len(order) - 1))
            order[at : at + 2] = order[at : at + 2][::-1]
        expected = is_good(puzzle, orders, microbatches, chunks)
        this = case("near the solution", ranks, microbatches, chunks)
        assert passes(puzzle, orders, this) == expected, orders
        kinds[expected] += 1
    assert min(kinds.values()) >= 5


@pytest.mark.parametrize(
    "puzzle", [GPIPE_ORDER, ONE_F_ONE_B, INTERLEAVED, BREADTH_FIRST], ids=lambda p: p.short_name
)
def test_solutions_are_good_by_their_statements(puzzle: PythonPuzzle) -> None:
    answer = solution_of(puzzle)[puzzle.short_name]
    for each in cases_and_random(puzzle, 20):
        given = puzzle.inputs(np.random.default_rng(0), each)
        assert is_good(puzzle, answer(**given), given["microbatches"], each.sizes["chunks"])


# What is held


def test_what_is_held_is_what_the_simulation_says() -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        schedule = wandering(rng, *(int(each) for each in rng.integers(1, 4, 3)))
        sizes = [int(each) for each in rng.integers(20, 90, schedule.stages)]
        kept = [int(each) for each in rng.integers(1, 20, schedule.stages)]
        orders = [[str(action) for action in order] for order in schedule.orders]
        given = {"orders": orders, "activations": sizes, "kept": kept}
        run = simulate(schedule, Costs(activation=sizes.__getitem__, kept=kept.__getitem__))
        expected = IN_FLIGHT.reference(given, IN_FLIGHT.cases[0])["result"]
        assert expected == list(run.peaks)
        ones = [1] * schedule.stages
        given = {"orders": orders, "activations": ones, "kept": ones}
        expected = IN_FLIGHT.reference(given, IN_FLIGHT.cases[0])["result"]
        assert expected == list(in_flight(schedule))


# Cuts


def test_of_all_cuts_exactly_the_best_pass() -> None:
    assert BALANCE.follow is not None
    for each in BALANCE.cases:
        given = BALANCE.inputs(np.random.default_rng(0), each)
        costs, ranks = given["costs"], given["ranks"]
        if not ranks <= len(costs) <= 14:
            continue
        cuts = [
            [end - start for start, end in pairwise((0, *inner, len(costs)))]
            for inner in combinations(range(1, len(costs)), ranks - 1)
        ]
        slowest = [BALANCE.follow(given, each, {"result": cut})["slowest"] for cut in cuts]
        assert BALANCE.reference(given, each) == {"slowest": min(slowest)}


# Weights


def test_gradients_are_those_of_autograd_at_the_weights_of_the_way_down() -> None:
    for each in cases_and_random(STASH_BUG, 6):
        given = STASH_BUG.inputs(np.random.default_rng(5), each)
        outputs, back, last, most = STASH_BUG.reference(given, each).values()
        order, rate = given["order"], given["rate"]
        downs = [int(action[1:]) for action in order if action[0] == "F"]
        ups = [int(action[1:]) for action in order if action[0] == "B"]
        weights = [torch.tensor(given["weight"])]
        for up in ups:
            x, gradient = (torch.tensor(given[name][up]) for name in ("inputs", "gradients"))
            weights.append(weights[-1] - rate * x.T @ gradient)
        for name in downs:
            seen = order[: order.index(f"F{name}")]
            met = weights[sum(action[0] == "B" for action in seen)]
            x = torch.tensor(given["inputs"][name], requires_grad=True)
            y = x @ met
            y.backward(torch.tensor(given["gradients"][name]))  # type: ignore[no-untyped-call]
            assert x.grad is not None
            np.testing.assert_allclose(outputs[downs.index(name)], y.detach(), rtol=1e-12)
            np.testing.assert_allclose(back[ups.index(name)], x.grad, rtol=1e-12)
        np.testing.assert_allclose(last, weights[-1], rtol=1e-12)
        assert 1 <= most <= 1 + len(downs)


# What cannot be judged

GPIPE, CUT, HELD, STASH = "gpipe_order", "balance", "in_flight", "stash_bug"
UNUSABLE = [
    (GPIPE, "float('nan')", "wrong-form"),
    (GPIPE, "[[float('inf')]] * ranks", "wrong-form"),
    (GPIPE, "{}", "wrong-form"),
    (GPIPE, "[[None]] * ranks", "wrong-form"),
    (GPIPE, "[['0F0', ['0F1']]] * ranks", "wrong-form"),
    (GPIPE, "['0F' + '9' * 5000] * ranks", "wrong-form"),
    (GPIPE, "['\\u0663F0'] * ranks", "wrong-form"),
    (GPIPE, "['0F0 ' * 10**5] * ranks", "too-long"),
    (GPIPE, "[['0F0'] * 10**6] * ranks", "memory"),
    (CUT, "float('nan')", "wrong-form"),
    (CUT, "[float('inf')] * ranks", "wrong-form"),
    (CUT, "[True] * ranks", "wrong-form"),
    (CUT, "[-1] * ranks", "empty-stage"),
    (CUT, "[10**15] * ranks", "layers"),
    (CUT, "[10**5000] * ranks", "wrong-type"),
    (CUT, "[]", "stages"),
    (HELD, "[float('nan')] * len(orders)", "not-finite"),
    (HELD, "[]", "wrong-shape"),
    (STASH, "([x @ weight * float('nan') for x in inputs], gradients, weight, 1)", "not-finite"),
    (STASH, "None", "wrong-form"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "diagnosis"), UNUSABLE)
def test_what_is_no_answer_is_told_so(
    name: str, value: str, diagnosis: str, tmp_path: Path
) -> None:
    puzzle: Any = index.find(name)
    parameters = ", ".join(puzzle.parameters[name])
    file = tmp_path / f"{name}.py"
    file.write_text(f"def {name}({parameters}):\n    return {value}\n", encoding="utf-8")
    verdict = check(name, answer=file, seed=0)
    assert (verdict.status, verdict.diagnosis) == ("failed", diagnosis), verdict.message


# Numbers of the discussions


def test_the_tables_of_the_discussions() -> None:
    folder = Path(__file__).parents[3] / "solutions" / LESSON.name
    once, twice = named.one_f_one_b(4, 8), named.interleaved(4, 8, 2)
    first = named.breadth_first(4, 8, 2)
    short = Schedule(twice.placement, tuple(_shorter(twice, rank) for rank in range(4)), 8)
    half = Costs(1 / 2, 1 / 2, 1 / 2)
    late = Costs(1 / 2, 1 / 2, 1 / 2, comm=0.1)
    told = (folder / "interleaved.md").read_text(encoding="utf-8")
    for row in (
        f"| {simulate(once, Costs()).cost:g} | {simulate(twice, half).cost:g} |",
        f"| {in_flight(once)[0]} | {in_flight(twice)[0]} half ones |",
        f"rank 0 holds {in_flight(short)[0]} where this order holds {in_flight(twice)[0]}",
        f"takes {simulate(short, late).cost:g} and this one {simulate(twice, late).cost:g}",
    ):
        assert row in " ".join(told.split()), row
    assert simulate(short, half).cost == simulate(twice, half).cost
    told = (folder / "breadth_first.md").read_text(encoding="utf-8")
    turns = [_turns(schedule.lines()[3]) for schedule in (twice, first)]
    assert f"| {simulate(twice, half).cost:g} | {simulate(first, half).cost:g} |" in told
    assert f"| turns to a stage on rank 3 | {turns[0]} | {turns[1]} |" in told
    assert f"| {in_flight(twice)[0]} | {in_flight(first)[0]} |" in told


def _shorter(schedule: Schedule, rank: int) -> tuple[Action, ...]:
    """Returns the order with half the cushion: fewer forward passes before the first B."""
    order = schedule.orders[rank]
    downs = [action for action in order if action.kind == "F"]
    ups = [action for action in order if action.kind == "B"]
    warm = schedule.ranks - rank - 1 + schedule.stages - schedule.ranks
    made = downs[:warm]
    for down, up in zip(downs[warm:], ups, strict=False):
        made += [down, up]
    return (*made, *ups[len(downs) - warm :])


def _turns(line: str) -> int:
    """Returns how often a rank turns to a stage for a way, as the puzzle counts it."""
    ways = [action.rstrip("0123456789") for action in line.split()]
    return 1 + sum(one != other for one, other in pairwise(ways))
