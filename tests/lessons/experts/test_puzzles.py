"""The puzzles of lesson 28: references against loops, and answers that differ, cheat or stop."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from gpu_course.grading.check import check
from gpu_course.isolation import servers
from gpu_course.lessons.experts.all_to_all_bytes import ALL_TO_ALL_BYTES
from gpu_course.lessons.experts.all_to_all_experts import (
    ALL_TO_ALL_EXPERTS,
    crossing_rows,
    held_of,
    tokens_of,
)
from gpu_course.lessons.experts.bias_balance import BIAS_BALANCE
from gpu_course.lessons.experts.limit_nodes import LIMIT_NODES
from gpu_course.puzzle import index
from gpu_course.puzzle.on_ranks import passes
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values
from gpu_course.ranks.traffic import booked_bytes
from tests.course.puzzles.by_hand import SOLUTIONS
from tests.course.puzzles.python_rules import cases_and_random

LESSON = index.lesson("experts")

NEEDS_RANKS = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)


def test_the_lesson_is_found_by_its_number_and_its_topic() -> None:
    assert index.lesson("28") is index.lesson("experts")


def test_the_lesson_brings_its_five_puzzles() -> None:
    assert [puzzle.short_name for puzzle in LESSON.puzzles] == [
        "top_k_route", "all_to_all_experts", "bias_balance", "all_to_all_bytes", "limit_nodes",
    ]  # fmt: skip


@pytest.mark.parametrize("puzzle", LESSON.puzzles, ids=lambda puzzle: puzzle.short_name)
def test_every_diagnosis_belongs_to_a_mistake(puzzle: PythonPuzzle) -> None:
    own = {mistake.diagnosis for mistake in puzzle.mistakes}
    assert set(puzzle.diagnoses) <= own


def _given(puzzle: PythonPuzzle) -> list[tuple[Case, Values, Values]]:
    found = []
    for case in cases_and_random(puzzle, draws=4):
        inputs = puzzle.inputs(np.random.default_rng(1), case)
        if not inputs.get("refuses"):
            found.append((case, inputs, puzzle.reference(inputs, case)))
    return found


def test_gradients_of_a_balanced_router_are_those_of_autograd() -> None:
    import torch

    for case, inputs, expected in _given(BIAS_BALANCE):
        for at, (logits, dweights) in enumerate(
            zip(inputs["logits"], inputs["dweights"], strict=True)
        ):
            leaf = torch.from_numpy(logits).requires_grad_()
            chosen = leaf.sigmoid().gather(1, torch.from_numpy(expected["experts"][at]))
            weights = chosen / (chosen.sum(1, keepdim=True) + 1e-20)
            weights.backward(torch.from_numpy(dweights))
            assert leaf.grad is not None
            found, right = expected["dlogits"][at], leaf.grad.numpy()
            np.testing.assert_allclose(found, right, rtol=1e-10, atol=1e-13, err_msg=case.name)


def test_the_nodes_of_a_token_have_the_largest_sum_of_their_best() -> None:
    """Looked for among all sets of nodes, and among all experts of each."""
    for _, inputs, expected in _given(LIMIT_NODES):
        k, nodes, limit = inputs["k"], inputs["nodes"], inputs["limit"]
        experts, free, limited = expected["result"]
        if nodes > 5:
            continue
        per_node = inputs["scores"].shape[1] // nodes
        for row, chosen in zip(inputs["scores"].tolist(), experts.tolist(), strict=True):
            blocks = [row[n * per_node : (n + 1) * per_node] for n in range(nodes)]
            sums = [sum(sorted(block, reverse=True)[: k // limit]) for block in blocks]
            # The first of all sets, counted up, is that of the lower indices.
            sets = itertools.combinations(range(nodes), limit)
            best = max(sets, key=lambda each: round(sum(sums[n] for n in each), 9))
            allowed = [e for e in range(len(row)) if e // per_node in best]
            allowed.sort(key=lambda e: (-row[e], e))
            assert chosen == allowed[:k]
        assert limited <= free or limit < nodes


def test_one_token_may_cost_a_row_more_with_the_limit_than_without() -> None:
    """As the discussion says: its best lie at home and in one more node, and both are left."""
    scores = np.array([[9.0, 0, 0, 8, 8, 8, 7, 7, 0, 0, 0, 0]])
    given = {"scores": scores, "k": 4, "nodes": 4, "limit": 2, "home": np.array([0])}
    case = Case("one token", {"per_node": 3})
    experts, free, limited = LIMIT_NODES.reference(given | {"refuses": False}, case)["result"]
    assert (experts.tolist(), free, limited) == ([[3, 4, 5, 6]], 1, 2)


def test_bytes_of_deepseek_v3_are_those_of_its_shapes() -> None:
    case = ALL_TO_ALL_BYTES.cases[0]
    given = {"experts": [[0, 9, 17, 40]], "rank": 0, "per_rank": 1, "per_node": 8, "width": 7168}
    found = ALL_TO_ALL_BYTES.reference({"arguments": given | {"total": 64}}, case)["result"]
    # Three nodes beside the home, in which two of the ranks are not where the row lands.
    assert found == ((2 * 7392, 3 * 7392), (2 * 14336, 3 * 14336))


@NEEDS_RANKS
def test_the_solution_sends_exactly_the_rows_that_are_allowed() -> None:
    seen = []

    def judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
        rows = [0] * len(held_of(case)) if inputs["refuses"] else crossing_rows(inputs, case)
        for rank, number in enumerate(rows):
            for calls in passes(got["wire"], rank):
                real = [call for call in calls if call.dtype.startswith("float")]
                wanted = 0 if inputs["refuses"] else 8 * case.sizes["width"] * number
                assert booked_bytes(real) == Fraction(wanted), (case.name, rank)
                seen.append(wanted)
        return None

    puzzle = replace(ALL_TO_ALL_EXPERTS, judge=judge)
    verdict = check(puzzle, answer=str(SOLUTIONS / f"{puzzle.name}.py"), seed=0)
    assert verdict.status == "passed", verdict.message
    assert sum(map(bool, seen)) > 20


def test_rows_are_counted_choice_by_choice() -> None:
    for case in cases_and_random(ALL_TO_ALL_EXPERTS):
        inputs = ALL_TO_ALL_EXPERTS.inputs(np.random.default_rng(1), case)
        if inputs["refuses"]:
            continue
        held, found = held_of(case), [0] * len(tokens_of(case))
        for rank, chosen in enumerate(inputs["experts"].parts):
            for expert in chosen.ravel().tolist():
                owner = next(r for r in range(len(held)) if expert < sum(held[: r + 1]))
                if expert >= 0 and owner != rank:
                    found[rank] += 1
                    found[owner] += 1
        assert crossing_rows(inputs, case) == found


ONCE_FOR_EACH_RANK = '''
def all_to_all_experts(x, experts, weights, held, up, down):
    """A token crosses once to each rank; its results come back expert by expert."""
    n, own, total = len(held), len(up), sum(held)
    chosen = experts.flatten()
    wrong = ((chosen < -1) | (chosen >= total)).any()
    dist.all_reduce(wrong, op=dist.ReduceOp.MAX)
    if wrong:
        raise ValueError("no such expert")
    choices = chosen.argsort(stable=True)[(chosen < 0).sum() :]
    tokens = choices // experts.shape[1]
    loads = torch.bincount(chosen[choices], minlength=total)
    coming = exchanged(loads, held, [own] * n).view(n, own)
    pairs_leave = [int(part.sum()) for part in loads.split(held)]
    pairs_arrive = coming.sum(1).tolist()
    owner = torch.arange(n).repeat_interleave(torch.tensor(held))[chosen[choices]]
    few = max(1, len(x))
    keys, at = (owner * few + tokens).unique(return_inverse=True)
    leave = torch.bincount(keys // few, minlength=n)
    arrive = exchanged(leave, [1] * n, [1] * n)
    begins = leave.cumsum(0) - leave
    places = exchanged(at - begins[owner], pairs_leave, pairs_arrive)
    came = Exchange.apply(x[keys % few], leave.tolist(), arrive.tolist())
    starts = (arrive.cumsum(0) - arrive).repeat_interleave(coming.sum(1))
    rows = came[places + starts]
    order = torch.arange(own).repeat(n).repeat_interleave(coming.flatten())
    order = order.argsort(stable=True)
    parts = rows[order].split(coming.sum(0).tolist())
    made = [expert(parts[e], up[e], down[e]) for e in range(own)]
    made = torch.cat([rows[:0], *made])[order.argsort()]
    back = Exchange.apply(made, pairs_arrive, pairs_leave)
    scaled = back * weights.flatten()[choices][:, None]
    return torch.zeros_like(x).index_add(0, tokens, scaled)
'''
FIRST_LINE = "    chosen = experts.flatten()\n"


def _text() -> str:
    return (SOLUTIONS / f"{ALL_TO_ALL_EXPERTS.name}.py").read_text(encoding="utf-8")


def _instead(function: str, folder: Path) -> str:
    text = _text()
    path = folder / "all_to_all_experts.py"
    path.write_text(text[: text.index("def all_to_all_experts(")] + function.lstrip())
    return str(path)


@NEEDS_RANKS
def test_a_token_may_cross_once_to_each_rank(tmp_path: Path) -> None:
    verdict = check("all_to_all_experts", answer=_instead(ONCE_FOR_EACH_RANK, tmp_path), seed=0)
    assert verdict.status == "passed", verdict.message


AS_WHOLE_NUMBERS = """    whole = rows.detach().contiguous().view(torch.int64)
    everybody = [torch.empty(0)] * dist.get_world_size()
    sizes = torch.tensor([len(rows)])
    dist.all_reduce(sizes, op=dist.ReduceOp.MAX)
    padded = torch.zeros(int(sizes), rows.shape[1] if rows.dim() > 1 else 1, dtype=torch.int64)
    if rows.dtype == torch.float64:
        padded[: len(rows)] = whole
    everybody = [torch.empty_like(padded) for _ in everybody]
    dist.all_gather(everybody, padded)
"""
IN_BYTES = AS_WHOLE_NUMBERS.replace(
    "    dist.all_gather(everybody, padded)\n",
    "    padded = padded.view(torch.uint8)\n"
    "    dist.all_gather([each.view(torch.uint8) for each in everybody], padded)\n",
)
AS_COMPLEX = AS_WHOLE_NUMBERS.replace(
    "    dist.all_gather(everybody, padded)\n",
    "    padded = torch.view_as_complex(torch.zeros(*padded.shape, 2).double())\n"
    "    dist.all_gather([torch.empty_like(padded) for _ in everybody], padded)\n",
)
HIDDEN = {
    "rows as whole numbers": AS_WHOLE_NUMBERS,
    "rows as bytes": IN_BYTES,
    "rows as complex numbers": AS_COMPLEX,
}


@NEEDS_RANKS
@pytest.mark.parametrize("way", HIDDEN)
def test_rows_hidden_in_another_dtype_are_refused(way: str, tmp_path: Path) -> None:
    """The rows that all need cross as they should; beside them everybody gets everything."""
    old = "    found = rows.new_empty(sum(arrive), *rows.shape[1:])\n"
    text = _text()
    assert old in text
    path = tmp_path / "all_to_all_experts.py"
    path.write_text(text.replace(old, HIDDEN[way] + old), encoding="utf-8")
    verdict = check("all_to_all_experts", answer=str(path), seed=0)
    assert verdict.reason == "over-budget", verdict.message
    # gloo takes complex numbers as pairs of floats, and so does the wire.
    key = "everything-to-all" if "complex" in way else "beside-the-rows"
    assert verdict.diagnosis == key


WITHOUT_A_RANK = """    here = torch.zeros(n, dtype=torch.int64)
    here[dist.get_rank()] = len(x)
    dist.all_reduce(here)
    busy = [rank for rank, tokens in enumerate(here.tolist()) if tokens]
    group = dist.new_group(busy)
    if dist.get_rank() in busy:
        dist.barrier(group=group)
"""
OF_ITS_OWN_RANKS = """    others = [rank for rank in range(n) if rank != (dist.get_rank() + 1) % n]
    group = dist.new_group(others)
"""
CASES_WITH_A_LONELY_RANK = tuple(
    case
    for case in ALL_TO_ALL_EXPERTS.cases
    if case.visible or "neither" in case.name or "3 ranks" in case.name or "many" in case.name
)
STOPS = {
    "a rank leaves the process": (
        "    if dist.get_rank() == 1:\n        import os\n\n        os._exit(0)\n",
        ("crash",),
    ),
    "a rank raises": (
        "    if dist.get_rank() == 1:\n        raise KeyError(3)\n",
        ("exception", "hazard"),
    ),
    "a rank gives up on its group": (
        "    if dist.get_rank() == 1:\n        dist.destroy_process_group()\n",
        ("hazard", "refused", "exception"),
    ),
    "a rank takes no part in the first exchange": (
        "    if dist.get_rank() == 1:\n        return x * 1.0\n",
        ("hazard",),
    ),
    "each rank makes a group of its own": (OF_ITS_OWN_RANKS, ("hazard",)),
}


@NEEDS_RANKS
@pytest.mark.parametrize("way", STOPS)
def test_a_rank_that_stops_leaves_no_other_behind(way: str, tmp_path: Path) -> None:
    """Each ends with a verdict, and the next answer is checked as if nothing had been."""
    more, reasons = STOPS[way]
    path = tmp_path / "all_to_all_experts.py"
    path.write_text(
        _text().replace(
            "    chosen = experts.flatten()\n", more + "    chosen = experts.flatten()\n"
        )
    )
    lonely = replace(ALL_TO_ALL_EXPERTS, cases=CASES_WITH_A_LONELY_RANK)
    verdict = check(lonely, answer=str(path), seed=0)
    assert verdict.status == "failed"
    assert verdict.reason in reasons, verdict.message
    few = replace(ALL_TO_ALL_EXPERTS, cases=ALL_TO_ALL_EXPERTS.cases[:1])
    again = check(few, answer=str(SOLUTIONS / f"{few.name}.py"), seed=0)
    assert again.status == "passed", again.message


@NEEDS_RANKS
def test_a_group_of_the_ranks_with_tokens_may_be_made_by_all(tmp_path: Path) -> None:
    """A group without a rank is no fault, as long as every rank makes it and all still exchange."""
    path = tmp_path / "all_to_all_experts.py"
    path.write_text(
        _text().replace(
            "    chosen = experts.flatten()\n", WITHOUT_A_RANK + "    chosen = experts.flatten()\n"
        )
    )
    lonely = replace(ALL_TO_ALL_EXPERTS, cases=CASES_WITH_A_LONELY_RANK)
    verdict = check(lonely, answer=str(path), seed=0)
    assert verdict.status == "passed", verdict.message
