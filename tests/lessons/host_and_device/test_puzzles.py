"""The puzzles of lesson 08 against other ways to the same numbers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from gpu_course.errors import Unusable
from gpu_course.lessons.host_and_device import chunks as reader
from gpu_course.lessons.host_and_device.chunks import MACHINE, least_s, program_of
from gpu_course.lessons.host_and_device.copy_overlap import COPY_OVERLAP
from gpu_course.lessons.host_and_device.fragments import SHAPES, mma, product_by, table
from gpu_course.lessons.host_and_device.graph_breakeven import GRAPH_BREAKEVEN
from gpu_course.lessons.host_and_device.l2_tile_order import L2_TILE_ORDER, hits_by_distance
from gpu_course.lessons.host_and_device.little_law import LITTLE_LAW
from gpu_course.lessons.host_and_device.mma_fragment import MMA_FRAGMENT
from gpu_course.lessons.host_and_device.tile_orders import (
    best_groups,
    film,
    hit_rate,
    in_groups,
    misses,
    reads,
    row_by_row,
    to_and_fro,
)
from gpu_course.measure.timeline import (
    Clock,
    Graph,
    Instantiate,
    Kernel,
    Launch,
    Machine,
    Synchronise,
    run,
)
from gpu_course.puzzle import index
from gpu_course.puzzle.specification import PythonPuzzle


def every(puzzle: PythonPuzzle, seed: int = 3):
    rng = np.random.default_rng(seed)
    for case in (*puzzle.cases, *(puzzle.random_case(rng) for _ in range(8))):
        yield case, puzzle.inputs(np.random.default_rng(seed), case)


def test_the_lesson_is_found_by_its_number_and_its_topic() -> None:
    assert index.lesson("08") is index.lesson("host_and_device")
    assert len(index.lesson("08").puzzles) == 5


# graph_breakeven: the event simulator, step after step


def simulated(steps: int, kernels_ns, launch_ns, graph_launch_ns, make_ns) -> tuple[float, float]:
    """The times of so many steps, without a graph and with one, by the event simulator."""
    kernels = [Kernel(f"k{n}", float(ns), 1) for n, ns in enumerate(kernels_ns)]
    nodes = max(1, len(kernels))
    machine = Machine(
        call_s=float(launch_ns), gap_s=0.0, graph_launch_s=float(graph_launch_ns),
        graph_gap_s=0.0, node_instantiate_s=make_ns / nodes,
    )  # fmt: skip
    step = Graph.chain("step", kernels)
    single = run([*kernels, Synchronise()] * steps, machine)
    whole = run([Instantiate(step), *[Launch(step, 1), Synchronise()] * steps], machine)
    return single.end_s, whole.end_s


def test_a_graph_pays_when_the_simulator_says_so() -> None:
    tried = 0
    for case, inputs in every(GRAPH_BREAKEVEN):
        steps = GRAPH_BREAKEVEN.reference(inputs, case)["result"]
        if steps is None:
            single, whole = simulated(5, **inputs)
            assert whole >= single * (1 - 1e-12), case
        elif steps <= 200:
            single, whole = simulated(steps, **inputs)
            assert whole < single
            if steps > 1:
                single, whole = simulated(steps - 1, **inputs)
                assert whole >= single * (1 - 1e-12)
            tried += steps > 1
    assert tried >= 3


def test_a_break_even_lies_on_a_whole_step_in_one_case() -> None:
    (case,) = (c for c in GRAPH_BREAKEVEN.cases if "equally long after" in c.name)
    inputs = GRAPH_BREAKEVEN.inputs(np.random.default_rng(0), case)
    steps = GRAPH_BREAKEVEN.reference(inputs, case)["result"]
    assert steps is not None
    single, whole = simulated(steps - 1, **inputs)
    assert single == pytest.approx(whole, rel=1e-12)


# copy_overlap


def in_turn(chunks, needs, streams):
    calls: list[tuple[Any, ...]] = []
    for chunk, need in enumerate(needs):
        stream = chunk % streams + 1
        calls.append(("H2D", chunk, stream))
        calls += [("wait", need, stream)] if need is not None else []
        calls += [("kernel", chunk, stream), ("record", chunk, stream), ("D2H", chunk, stream)]
    return calls


def test_the_bound_is_what_a_machine_without_costs_takes() -> None:
    free = Machine(call_s=0.0, gap_s=0.0)
    for _, inputs in every(COPY_OVERLAP):
        end = reader.followed(in_turn(**inputs), **inputs, machine=free).end_s
        assert end == pytest.approx(least_s(**inputs), rel=1e-9, abs=1e-15)


def test_no_dealing_out_of_few_chunks_beats_the_bound_by_much() -> None:
    """All orders of four equal chunks over three streams: none is faster than the bound."""
    given = [(25_000_000, 1e-3, 25_000_000)] * 4
    free = Machine(call_s=0.0, gap_s=0.0)
    least = least_s(given, [None] * 4, 3)
    for dealt in itertools.product((1, 2, 3), repeat=4):
        calls = [(word, k, s) for k, s in enumerate(dealt) for word in ("H2D", "kernel", "D2H")]
        assert reader.followed(calls, given, [None] * 4, 3, free).end_s >= least * (1 - 1e-9)


ONE = [(8, 1e-3, 8)]
DONE = [("H2D", 0, 1), ("kernel", 0, 1), ("D2H", 0, 1)]


@pytest.mark.parametrize(
    ("calls", "key", "said"),
    [
        ("abc", "wrong-form", "a schedule is a list of calls"),
        (None, "wrong-form", "a schedule is a list of calls, and this is None"),
        ([*DONE, ("D2H", 0, 1)], "out-of-order", "needs nothing more next"),
        (
            [("h2d", 0, 1)],
            "wrong-form",
            "call 0 is ('h2d', 0, 1): the words are H2D, kernel, D2H, record, wait, synchronise",
        ),
        ([("H2D", 0)], "wrong-form", "call 0 is ('H2D', 0): 2 numbers after the word, and here 1"),
        ([("synchronise", 0, 1)], "wrong-form", ": 1 number after the word, and here 2"),
        ([("H2D", True, 1)], "wrong-form", "numbers belong there"),
        ([("H2D", 0.0, 1)], "wrong-form", "numbers belong there"),
        ([()], "wrong-form", "call 0 is ()"),
        ([("H2D", 1, 1)], "not-there", "names chunk 1"),
        ([("H2D", -1, 1)], "not-there", "names chunk -1"),
        ([("H2D", 0, 0)], "unknown-stream", "names stream 0; there are 1 to 3"),
        ([("synchronise", 4)], "unknown-stream", "names stream 4"),
        ([("wait", 7, 1)], "wait-first", "waits for event 7, which no earlier call records"),
        ([], "not-done", "chunk 0 has no H2D"),
        (DONE[:2], "not-done", "chunk 0 has no D2H"),
        ([("record", 0, 1)] * 99, "too-many", "99 calls"),
    ],
)
def test_a_schedule_that_cannot_be_is_told_in_a_line(calls: Any, key: str, said: str) -> None:
    with pytest.raises(Unusable) as caught:
        program_of(calls, ONE, [None], 3)
    assert caught.value.key == key and said in str(caught.value)
    assert "\n" not in str(caught.value)


TWO = ONE * 2


@pytest.mark.parametrize(
    "between",
    [
        [("record", 5, 1), ("wait", 5, 2)],
        [("record", 5, 1), ("wait", 5, 3), ("record", 6, 3), ("wait", 6, 2)],
        [("synchronise", 1)],
    ],
)
def test_whatever_orders_two_kernels_is_seen(between: list[tuple[Any, ...]]) -> None:
    first, second = DONE, [(word, 1, 2) for word, *_ in DONE]
    calls = [*first[:2], *between, *second, first[2]]
    assert len(program_of(calls, TWO, [None, 0], 3)) == len(calls)


@pytest.mark.parametrize(
    "between",
    [[], [("record", 5, 2), ("wait", 5, 2)], [("record", 5, 1)], [("synchronise", 2)]],
)
def test_luck_orders_nothing(between: list[tuple[Any, ...]]) -> None:
    first, second = DONE, [(word, 1, 2) for word, *_ in DONE]
    with pytest.raises(Unusable, match="nothing lets the kernel of chunk 1 wait for that of 0"):
        program_of([*first, *between, *second], TWO, [None, 0], 3)


def test_a_host_may_wait_for_a_stream_that_has_no_work() -> None:
    for case, inputs in every(COPY_OVERLAP):
        calls = [*in_turn(**inputs), *(("synchronise", n + 1) for n in range(inputs["streams"]))]
        idle = [("record", 99, inputs["streams"]), ("wait", 99, 1)]
        for given in (calls, idle + calls):
            if len(given) <= reader.MOST_CALLS * max(1, len(inputs["chunks"])):
                assert reader.followed(given, **inputs).end_s >= 0, case.name


def test_chunks_take_far_longer_than_calls() -> None:
    """So that the margin is for good schedules, and not for bad ones."""
    for case, inputs in every(COPY_OVERLAP):
        for in_bytes, kernel_s, out_bytes in inputs["chunks"]:
            shortest = min(in_bytes, out_bytes) / MACHINE.pinned_bytes_per_s
            assert min(shortest, kernel_s) > 40 * MACHINE.call_s, case


# little_law: a memory that answers, nanosecond by nanosecond


def arrived(in_flight: int, latency_ns: int, gb_per_s: int) -> float:
    """GB/s of a memory that delivers so much in a nanosecond, with so many bytes asked for."""
    waiting: dict[int, int] = {latency_ns: in_flight}
    late = total = 0
    span = 400 * latency_ns
    for now in range(span):
        late += waiting.pop(now, 0)
        done = min(late, gb_per_s)
        late, total = late - done, total + done
        if done:
            waiting[now + latency_ns] = waiting.get(now + latency_ns, 0) + done
    return total / span


@pytest.mark.parametrize("loads", [1, 2, 5, 9, 40])
def test_bytes_in_flight_bring_what_a_memory_delivers(loads: int) -> None:
    inputs = {"grid": 9, "block": 4, "room": 6, "loads": loads, "width": 4, "latency_ns": 25,
              "gb_per_s": 30}  # fmt: skip
    case = next(c for c in LITTLE_LAW.cases if c.visible)
    case = type(case)("made up", inputs)
    in_flight, reached, least = LITTLE_LAW.reference(inputs, case)["result"]
    assert in_flight == 24 * loads * 4
    assert reached == pytest.approx(arrived(in_flight, 25, 30), rel=0.15)
    assert (loads >= least) == (reached == 30)


# l2_tile_order


@pytest.mark.parametrize("room", [0, 1, 2, 3, 5, 9])
def test_hits_by_distance_are_those_of_a_list_that_is_kept(room: int) -> None:
    named = [int(n) for n in np.random.default_rng(room).integers(0, 8, 300)]
    held: list[int] = []
    hits = 0
    for name in named:
        hits += name in held
        held = [*(each for each in held if each != name), name][-room:] if room else []
    assert hits_by_distance(named, room) == hits


def test_a_film_counts_as_distances_do() -> None:
    for order in (row_by_row(5, 7), in_groups(5, 7, 2), to_and_fro(5, 7, 3)):
        assert len(set(order)) == 35
        for room in (2, 4, 6, 20):
            hits = hits_by_distance(reads(order), room)
            assert misses(order, room) == 70 - hits
            assert hit_rate(order, room) == pytest.approx(hits / 70)
            assert all(len(frame.held) <= room for frame in film(order, room))


def test_the_tutorial_counts_as_we_do() -> None:
    """Triton's tutorial: the first nine of 9 by 9 tiles read 90 blocks, or 54 in groups of 3."""
    for order, blocks in ((row_by_row(9, 9), 90), (in_groups(9, 9, 3), 54)):
        assert 9 * len(set(reads(order[:9]))) == blocks


def test_row_by_row_is_past_the_limit_where_not_everything_fits() -> None:
    tried = 0
    for case in L2_TILE_ORDER.cases:
        rows, cols, room = (case.sizes[name] for name in ("rows", "cols", "room"))
        if min(rows, cols) > room:
            most = 1.1 * max(best_groups(rows, cols, room), best_groups(cols, rows, room))
            assert misses(row_by_row(rows, cols), room) > 1.3 * most
            tried += 1
    assert tried >= 3


# mma_fragment: CUTLASS writes the same maps as shapes and strides


CUTE = {
    "A": (((4, 8), (32, 1)), ((2, 2, 2), (16, 8, 128))),
    "B": (((4, 8), (16, 1)), ((2, 2), (8, 64))),
    "C": (((4, 8), (32, 1)), ((2, 2), (16, 8))),
}
"""(shape, stride) of lane and of number, into a matrix stored by columns; B as (n, k). From
CUTLASS, MMA_Traits<SM80_16x8x16_F32F16F16F32_TN>."""


def _offset(index: int, shape: tuple[int, ...], stride: tuple[int, ...]) -> int:
    total = 0
    for side, step in zip(shape, stride, strict=True):
        index, at = divmod(index, side)
        total += at * step
    return total


@pytest.mark.parametrize("matrix", CUTE)
def test_the_maps_are_those_of_cutlass(matrix: str) -> None:
    places = table(matrix)
    lanes, numbers = CUTE[matrix]
    high = 8 if matrix == "B" else 16
    for lane in range(32):
        for number in range(places.shape[1]):
            col, row = divmod(_offset(lane, *lanes) + _offset(number, *numbers), high)
            wanted = (col, row) if matrix == "B" else (row, col)
            assert tuple(places[lane, number]) == wanted


def test_each_element_is_held_once_and_the_product_is_that_of_the_matrices() -> None:
    maps = {matrix: table(matrix) for matrix in SHAPES}
    for matrix, (rows, cols) in SHAPES.items():
        assert len({tuple(place) for place in maps[matrix].reshape(-1, 2)}) == rows * cols
    for case, inputs in every(MMA_FRAGMENT):
        a, b, c = (inputs[name].astype(np.float64) for name in "abc")
        np.testing.assert_array_equal(product_by(maps, a, b, c), a @ b + c, err_msg=case.name)


def test_the_instruction_knows_nothing_of_who_asks() -> None:
    """Two maps of A changed for each other give another product: the check can fail."""
    maps = {matrix: table(matrix) for matrix in SHAPES}
    a, b, c = (np.random.default_rng(0).integers(-4, 5, shape) for shape in SHAPES.values())
    wrong = {**maps, "A": maps["A"][:, [0, 1, 4, 5, 2, 3, 6, 7]]}
    assert (product_by(wrong, a, b, c) != a @ b + c).any()
    assert mma(*(np.zeros((32, n)) for n in (8, 4, 4))).shape == (32, 4)
    assert run([Clock("a")]).clocks["a"] == 0.0
