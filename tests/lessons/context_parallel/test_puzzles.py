"""The puzzles of lesson 25: references against PyTorch, and answers that differ or cheat."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpu_course.grading.check import check
from gpu_course.isolation import servers
from gpu_course.lessons.context_parallel import pieces
from gpu_course.lessons.context_parallel.ring_attention import RING_ATTENTION
from gpu_course.lessons.context_parallel.ring_attention_backward import RING_ATTENTION_BACKWARD
from gpu_course.lessons.context_parallel.ulysses import ULYSSES
from gpu_course.puzzle import index
from gpu_course.puzzle.specification import PythonPuzzle
from gpu_course.ranks.calls import Call
from tests.course.puzzles.by_hand import SOLUTIONS
from tests.course.puzzles.python_rules import cases_and_random

LESSON = index.lesson("context_parallel")

NEEDS_RANKS = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)
RING = (RING_ATTENTION, RING_ATTENTION_BACKWARD)


def test_the_lesson_brings_its_seven_puzzles() -> None:
    assert [puzzle.short_name for puzzle in LESSON.puzzles] == [
        "merge_lse", "ring_attention", "ring_attention_backward", "imbalance", "zigzag_assign",
        "ulysses", "ulysses_backward",
    ]  # fmt: skip
    assert sum(puzzle.minutes for puzzle in LESSON.puzzles) < LESSON.minutes


@pytest.mark.parametrize("puzzle", LESSON.puzzles, ids=lambda puzzle: puzzle.short_name)
def test_every_diagnosis_belongs_to_a_mistake(puzzle: PythonPuzzle) -> None:
    own = {mistake.diagnosis for mistake in puzzle.mistakes}
    # Told of the wire of any puzzle on ranks.
    told = {"receives-first", "sends-first", "tags-differ", "seven-digits", "deadline"}
    assert set(puzzle.diagnoses) - own <= told


@pytest.mark.parametrize("causal", [True, False])
def test_the_reference_is_pytorchs_attention_and_its_gradient(causal: bool) -> None:
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    rng = np.random.default_rng(3)
    q, k, v, dout = rng.normal(size=(4, 2, 9, 5))
    tensors = [torch.tensor(each, requires_grad=True) for each in (q, k, v)]
    out = scaled_dot_product_attention(*(each[None] for each in tensors), is_causal=causal)[0]
    out.backward(torch.from_numpy(dout))
    mine, lse = pieces.attention(q, k, v, causal)
    np.testing.assert_allclose(mine, out.detach().numpy(), rtol=1e-12, atol=1e-14)
    scores = torch.from_numpy(q) @ torch.from_numpy(k).transpose(1, 2) / 5**0.5
    if causal:
        scores = scores.masked_fill(torch.ones(9, 9, dtype=torch.bool).triu(1), -torch.inf)
    np.testing.assert_allclose(lse, scores.logsumexp(2).numpy(), rtol=1e-12)
    for found, right in zip(pieces.gradients(q, k, v, dout, causal), tensors, strict=True):
        assert right.grad is not None
        np.testing.assert_allclose(found, right.grad.numpy(), rtol=1e-11, atol=1e-13)


def test_a_merge_is_attention_over_all_keys() -> None:
    """Looked at key by key, in plain numbers."""
    from gpu_course.lessons.context_parallel.merge_lse import MERGE_LSE

    rng = np.random.default_rng(5)
    scores, values = rng.normal(size=(3, 7)), rng.normal(size=(7, 2))

    def part(keys: slice) -> tuple[np.ndarray, np.ndarray]:
        weights = np.exp(scores[:, keys])
        sums = weights.sum(axis=1)
        return weights @ values[keys] / sums[:, None], np.log(sums)

    (out, lse), (other_out, other_lse) = part(slice(0, 3)), part(slice(3, 7))
    given = {"out": out, "lse": lse, "other_out": other_out, "other_lse": other_lse}
    found = MERGE_LSE.reference(given, MERGE_LSE.cases[0])["result"]
    for mine, right in zip(found, part(slice(0, 7)), strict=True):
        np.testing.assert_allclose(mine, right, rtol=1e-12)


@pytest.mark.parametrize("puzzle", RING, ids=lambda puzzle: puzzle.short_name)
def test_parts_of_equal_length_give_the_formula(puzzle: PythonPuzzle) -> None:
    """2 (n - 1) / n of keys and values forward, twice that backward: not a byte more."""
    times = 1 if puzzle is RING_ATTENTION else 2
    for given in cases_and_random(puzzle):
        ranks, length = pieces.ranks_of(given), given.sizes["length"]
        if length % ranks:
            continue
        inputs = puzzle.inputs(np.random.default_rng(1), given)
        block = inputs["k"].parts[0].nbytes
        size = times * 2 * (ranks - 1) * block
        got = {"wire": _sends(ranks, size), "peak_bytes": (0,) * ranks}
        assert puzzle.judge is not None
        assert puzzle.judge(inputs, given, got) is None
        if ranks > 1:
            found = puzzle.judge(inputs, given, got | {"wire": _sends(ranks, size + 8)})
            assert found is not None and found.reason == "over-budget"


def _sends(ranks: int, size: int) -> tuple[Call, ...]:
    """One send of so many bytes for each rank, to its right neighbour."""
    everybody = tuple(range(ranks))
    return tuple(
        Call(rank, 0, "send", everybody, 0, (size // 8,), size, (rank + 1) % ranks)
        for rank in everybody
    )


TOGETHER = '''
def ring_attention(q, k, v, places, causal):
    """k and v in one message, received before the block is worked on."""
    n, r = dist.get_world_size(), dist.get_rank()
    both, out, lse = torch.stack([k, v]), None, None
    for step in range(n):
        owner = (r - step) % n
        seen = places[r][:, None] >= places[owner][None, :]
        block = attend(q, both[0], both[1], seen if causal else torch.ones_like(seen))
        out, lse = block if out is None else merge(out, lse, *block)
        if step < n - 1:
            size = len(places[(owner - 1) % n])
            coming = q.new_empty(2, q.shape[0], size, q.shape[2])
            leaves = dist.isend(both, (r + 1) % n)
            dist.recv(coming, (r - 1) % n)
            leaves.wait()
            both = coming
    return out, lse
'''
KEEPS_ALL = '''
def ring_attention(q, k, v, places, causal):
    """Block by block, and every block that has come is kept."""
    n, r = dist.get_world_size(), dist.get_rank()
    out, lse = torch.zeros_like(q), q.new_full(q.shape[:2], -torch.inf)
    kept = [(k, v)]
    for step in range(n):
        owner = (r - step) % n
        seen = places[r][:, None] >= places[owner][None, :]
        out, lse = merge(out, lse, *attend(q, *kept[-1], seen if causal else seen | True))
        if step < n - 1:
            shape = (q.shape[0], len(places[(owner - 1) % n]), q.shape[2])
            coming = [q.new_empty(shape) for _ in range(2)]
            works = [dist.isend(each, (r + 1) % n) for each in kept[-1]]
            works += [dist.irecv(each, (r - 1) % n) for each in coming]
            for work in works:
                work.wait()
            kept.append(tuple(coming))
    return out, lse
'''


def _instead(puzzle: PythonPuzzle, function: str, folder: Path) -> Path:
    """A solution with another function in the place of its own."""
    text = (SOLUTIONS / f"{puzzle.name}.py").read_text(encoding="utf-8")
    path = folder / f"{puzzle.short_name}.py"
    head = text[: text.index(f"def {puzzle.functions[0]}(")]
    path.write_text(f"{head}{function.lstrip()}", encoding="utf-8")
    return path


@NEEDS_RANKS
def test_one_message_for_both_passes_and_blocks_that_are_kept_do_not(tmp_path: Path) -> None:
    weighed = [case for case in RING_ATTENTION.cases if case.sizes["measured"]]
    puzzle = replace(RING_ATTENTION, cases=(RING_ATTENTION.cases[0], *weighed))
    verdict = check(puzzle, answer=_instead(puzzle, TOGETHER, tmp_path), seed=0)
    assert verdict.status == "passed", verdict.message
    verdict = check(puzzle, answer=_instead(puzzle, KEEPS_ALL, tmp_path), seed=0)
    assert (verdict.reason, verdict.diagnosis) == ("over-budget", "too-much-memory")


BY_HAND = '''
def ulysses(q, k, v, tokens, causal):
    """q, k and v side by side, in messages between two ranks."""
    n, r = dist.get_world_size(), dist.get_rank()
    if len(q) % n:
        raise ValueError("heads are left over")

    def exchange(parts, shapes):
        arrive = [q.new_empty(shape) for shape in shapes]
        arrive[r] = parts[r]
        works = []
        for turn in range(1, n):
            to, by = (r + turn) % n, (r - turn) % n
            works += [dist.isend(parts[to].contiguous(), to), dist.irecv(arrive[by], by)]
        for work in works:
            work.wait()
        return arrive

    qkv, share = torch.stack([q, k, v]), len(q) // n
    shapes = [(3, share, each, q.shape[2]) for each in tokens]
    mine = torch.cat(exchange(list(qkv.split(share, dim=1)), shapes), dim=2)
    mixed = attention(*mine, causal)
    shapes = [(share, tokens[r], q.shape[2])] * n
    return torch.cat(exchange(list(mixed.split(tokens, dim=1)), shapes))
'''


@NEEDS_RANKS
def test_heads_may_also_be_exchanged_in_messages(tmp_path: Path) -> None:
    verdict = check(ULYSSES, answer=_instead(ULYSSES, BY_HAND, tmp_path), seed=0)
    assert verdict.status == "passed", verdict.message
