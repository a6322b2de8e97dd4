"""What lesson 14 counts and times, against another way: page by page, event by event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gpu_course.lessons.decoding.costs import Cache, pages_of, step_of, ways_of
from gpu_course.lessons.decoding.decode_time import DECODE_TIME
from gpu_course.lessons.decoding.kv_bytes import KV_BYTES
from gpu_course.lessons.decoding.launch_overhead import LAUNCH_OVERHEAD
from gpu_course.puzzle.specification import Case, PythonPuzzle
from tests.course.puzzles.by_hand import SOLUTIONS
from tests.course.puzzles.python_rules import cases_and_random, solution_of


def every(puzzle: PythonPuzzle, draws: int = 12) -> Iterator[tuple[Case, dict[str, Any]]]:
    for case in cases_and_random(puzzle, draws):
        yield case, puzzle.inputs(np.random.default_rng(4), case)


def answers(puzzle: PythonPuzzle) -> Iterator[tuple[str, Any, bool]]:
    """The solution and every mistake: (name, function, whether it is right)."""
    yield "solution", solution_of(puzzle)[puzzle.short_name], True
    scope: dict[str, Any] = {}
    file = SOLUTIONS / puzzle.lesson / "mistakes" / f"{puzzle.short_name}.py"
    exec(file.read_text(encoding="utf-8"), scope)
    for mistake in puzzle.mistakes:
        yield mistake.function, scope[mistake.function], False


# kv_bytes: every page that is needed, written down with the tokens in it


def by_writing_down(lengths: list[int], page: int, shared: int) -> tuple[int, int]:
    kept: dict[tuple[Any, ...], int] = {}
    room = 0
    for number, length in enumerate(lengths):
        tokens = [("all", k) if k < shared else (number, k) for k in range(length)]
        for first in range(0, length, page):
            content = tuple(tokens[first : first + page])
            alone = len(content) == page and all(owner == "all" for owner, _ in content)
            kept[content if alone else (number, *content)] = len(content)
            room += page - len(content)
    return len(kept), room


def test_pages_are_those_that_can_be_written_down() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        page, shared = int(rng.integers(1, 9)), int(rng.integers(0, 20))
        lengths = [shared + int(n) for n in rng.integers(0, 20, rng.integers(0, 5))]
        assert pages_of(lengths, page, shared) == by_writing_down(lengths, page, shared)


@pytest.mark.parametrize(
    ("cache", "token_bytes"),
    [
        (Cache(61, 128, 128, 128, latent=512, rotary=64), 70_272),
        (Cache(80, 64, 8, 128), 327_680),
        (Cache(126, 128, 8, 128), 516_096),
    ],
    ids=["DeepSeek-V3", "Qwen2.5 72B", "Llama 3.1 405B"],
)
def test_a_token_takes_what_was_published(cache: Cache, token_bytes: int) -> None:
    """Source: Zhao et al. 2025, Insights into DeepSeek-V3, arXiv 2505.09343, Table 1."""
    assert cache.token_bytes == token_bytes


def test_the_cache_is_what_the_tensors_of_an_attention_hold() -> None:
    keys = np.zeros((3, 2, 4, 7, 10), dtype=np.float16)  # layer, K or V, KV head, token, number
    assert Cache(3, 12, 4, 10).token_bytes * 7 == keys.nbytes


# decode_time: a list of kernels, and the roof of each


def by_kernels(matrices, cache, lengths, peak, bandwidth, small, gap_s) -> float:
    flops, moved = [0.0] * small, [0.0] * small
    for rows, columns, bits in matrices:
        weights = np.ones((rows, columns))
        flops.append(sum(2 * weights.sum() for _ in lengths))
        moved.append(weights.size * bits / 8)
    for _ in range(cache["layers"]):
        flops.append(
            sum(
                2 * cache["head_size"] * length * 2
                for length in lengths
                for _ in range(cache["heads"])
            )
        )
        moved.append(
            sum(
                2 * cache["head_size"] * length * cache["bits"] / 8
                for length in lengths
                for _ in range(cache["kv_heads"])
            )
        )
    roofs = np.maximum(np.array(flops) / peak, np.array(moved) / bandwidth)
    return float((roofs + gap_s).sum())


def test_a_step_is_the_sum_of_its_kernels() -> None:
    for name, answer, is_right in answers(DECODE_TIME):
        agrees = []
        for _, inputs in every(DECODE_TIME):
            batch = len(inputs["lengths"])
            seconds = by_kernels(**inputs) if batch else 0.0
            right = (seconds, batch / seconds if batch else 0.0)
            try:
                agrees.append(answer(**inputs) == pytest.approx(right, rel=1e-9))
            except ZeroDivisionError:
                agrees.append(False)
        assert all(agrees) == is_right, name


def test_more_sequences_with_an_empty_cache_cost_nothing_below_the_ridge() -> None:
    cache = Cache(2, 4, 2, 8, bits=8)
    one, many = (
        step_of([(100, 100, 8)], cache, [0] * batch, 4e9, 1e8, 3, 1e-6) for batch in (1, 20)
    )
    assert one.seconds == many.seconds
    assert many.tokens_per_s == pytest.approx(20 * one.tokens_per_s)


# launch_overhead: microsecond by microsecond


def tick_by_tick(kernels: list[int], launch: int, gap: int) -> int:
    """The end, in ticks, of kernels that move a byte each tick; the host looks at no kernel."""
    tick, ended, place, left = 0, None, 0, 0
    while place < len(kernels):
        launched = tick >= (place + 1) * launch
        rested = ended is None or tick >= ended + gap
        if launched and rested:
            left = kernels[place]
            tick += left
            ended, place = tick, place + 1
        else:
            tick += 1
    assert ended is not None
    return ended


def barrier_by_barrier(kernels: list[int], launch: int, barrier: int, ahead: int) -> int:
    """The end, in ticks, of one kernel that fetches a byte each tick while its blocks wait."""
    tick = launch + kernels[0]
    for moved in kernels[1:]:
        fetched = 0
        for _ in range(barrier):
            fetched += fetched < min(ahead, moved)
            tick += 1
        tick += moved - fetched
    return tick


def test_the_three_ways_are_what_a_clock_would_show() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        kernels = [int(n) for n in rng.integers(0, 40, rng.integers(1, 9))]
        launch, gap, barrier, ahead = (int(n) for n in rng.integers(1, 20, 4))
        one, graph, whole = ways_of(kernels, 1.0, launch, gap, barrier, ahead)
        assert one == tick_by_tick(kernels, launch, gap)
        assert graph == tick_by_tick(kernels, 0, gap) + launch
        assert whole == barrier_by_barrier(kernels, launch, barrier, ahead)


def test_a_graph_is_never_slower_than_launches_one_by_one() -> None:
    for _, inputs in every(LAUNCH_OVERHEAD, 40):
        one, graph, _ = ways_of(**inputs)
        assert graph <= one * (1 + 1e-12)


@pytest.mark.parametrize("puzzle", [KV_BYTES, DECODE_TIME, LAUNCH_OVERHEAD])
def test_in_the_visible_example_a_diagnosis_shares_no_result(puzzle: PythonPuzzle) -> None:
    """So that what is told of a wrong answer is told of the thought that led to it."""
    inputs = puzzle.inputs(np.random.default_rng(0), puzzle.cases[0])
    results = {name: answer(**inputs) for name, answer, _ in answers(puzzle)}
    made = [
        (mistake.diagnosis, results[mistake.function])
        for mistake in puzzle.mistakes
        if results[mistake.function] != pytest.approx(results["solution"], rel=1e-9)
    ]
    assert len(made) > 10
    for key, result in made:
        assert {other for other, each in made if each == pytest.approx(result, rel=1e-9)} == {key}
