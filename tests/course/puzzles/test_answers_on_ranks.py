"""Answers on ranks that people hand in: right in an unusual way, or lazy, or wrong in a close one.

Each row changes a solution. To save time a row runs the example and the cases that it names.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_course.puzzle import PythonPuzzle, index
from gpu_course.grading.check import check
from gpu_course.grading.python.cases import part_of
from gpu_course.grading.verdict import Verdict
from gpu_course.isolation import servers
from tests.course.puzzles.by_hand import SOLUTIONS

NEEDS_RANKS = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)
PUZZLES = {p.short_name: p for p in index.puzzles() if isinstance(p, PythonPuzzle)}


@dataclass(frozen=True)
class Row:
    """An answer and what becomes of it.

    Attributes:
        puzzle: its last name.
        changes: (text of the solution, what stands there instead), one after the other.
        cases: parts of the names of cases that are run beside the example.
        verdict: "passed", or the reason and the diagnosis.
    """

    puzzle: str
    changes: tuple[tuple[str, str], ...]
    cases: tuple[str, ...] = ()
    verdict: str = "passed"


def text_of(row: Row) -> str:
    """Returns the solution with the changes of a row."""
    text = (SOLUTIONS / f"{PUZZLES[row.puzzle].name}.py").read_text(encoding="utf-8")
    for old, new in row.changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def verdict_on(row: Row, folder: Path) -> Verdict:
    """Returns the verdict on the answer of a row."""
    puzzle = PUZZLES[row.puzzle]
    path = folder / f"{row.puzzle}.py"
    path.write_text(text_of(row), encoding="utf-8")
    named = [c for c in puzzle.cases if any(part in c.name for part in row.cases)]
    assert len(named) >= len(row.cases)
    few = replace(puzzle, cases=(puzzle.cases[0], *named))
    return check(few if row.cases else puzzle, answer=str(path), seed=0)


RING_STEP = "pieces[(r - step - 2) % n] += pass_on(r - step - 1, r - step - 2)"
STRAIGHT = '''
    def straight(leave, like):
        """leave[k] to rank k, and what the others send, in turns."""
        arrive = [torch.empty_like(each) for each in like]
        arrive[r] = leave[r]
        works = []
        for turn in range(1, n):
            to, by = (r + turn) % n, (r - turn) % n
            works += [dist.isend(leave[to], to), dist.irecv(arrive[by], by)]
        for work in works:
            work.wait()
        return arrive

    mine = torch.stack(straight(pieces, [pieces[r]] * n)).sum(0)
    return torch.cat(straight([mine] * n, pieces))

    def pass_on('''
IN_FLOAT32 = "wrong-result: seven-digits"
AVERAGE = "dist.all_reduce(parameter.grad)\n        parameter.grad /= n\n"
HAND_OUT = "dist.broadcast(parameter.data, 0)"
NARROWED = """g = parameter.grad.float()
        dist.all_reduce(g)
        parameter.grad = g.double() / n
"""
PAUSED = AVERAGE.replace("\n    ", "\n        ")
IN_TWO_HALVES = """size = -(-parameter.numel() // n)
        flat = parameter.grad.new_zeros(n * size)
        flat[: parameter.numel()] = parameter.grad.flatten()
        own = flat.new_empty(size)
        dist.reduce_scatter_single(own, flat)
        dist.all_gather_single(flat, own / n)
        parameter.grad.copy_(flat[: parameter.numel()].view_as(parameter.grad))
"""
REDUCE_SCATTER = """    mine = torch.empty_like(m)
    dist.reduce_scatter_single(mine, torch.cat([gradient, filling]))
"""
SLICES_BY_HAND = """    parts = torch.cat([gradient, filling]).split(size)
    arrive, works = torch.zeros(n, size, dtype=m.dtype), []
    arrive[r] = parts[r]
    for turn in range(1, n):
        to, by = (r + turn) % n, (r - turn) % n
        works += [dist.isend(parts[to], to), dist.irecv(arrive[by], by)]
    for work in works:
        work.wait()
    mine = arrive.sum(0)
"""
ROUND_OFF = """    def round_off(parameter):
        parameter.grad = parameter.grad.float().double()

"""
VOCAB = "vocab_parallel_cross_entropy"
LARGEST = """largest = logits.max(1).values
    dist.all_reduce(largest, op=dist.ReduceOp.MAX)"""
MEAN = """largest = logits.mean(1)
    dist.all_reduce(largest)
    largest /= dist.get_world_size()"""
PANELS = """    for k, width in enumerate(widths):
        from_a"""
ADDED_UP = "        c += left @ top\n"
KEPT = """        of_row = [*of_row, left] if k else [left]
        of_column = [*of_column, top] if k else [top]
"""
ONE_AHEAD = """    def panel(k, mine, shape, line, here):
        \"\"\"Begins what panel k needs: (tensor, what is to be waited for).\"\"\"
        if len(line) == 1:
            return mine[k], []
        source = line[k]
        if here == k:
            own = mine[k].contiguous()
            return own, [dist.isend(own, to) for to in line if to != source]
        arrives = torch.empty(shape, dtype=a.dtype)
        return arrives, [dist.irecv(arrives, source)]

    def begin(k):
        return (
            panel(k, of_a, (len(a), widths[k]), my_row, j),
            panel(k, of_b, (widths[k], b.shape[1]), my_column, i),
        )

    coming = begin(0)
    for k in range(len(widths)):
        (left, one), (top, other) = coming
        for work in [*one, *other]:
            work.wait()
        coming = begin(k + 1) if k + 1 < len(widths) else None
        c += left @ top
    return c
    for k, width in enumerate(widths):
        from_a"""
PLAIN_EXP = """both = torch.log(torch.exp(lse) + torch.exp(other_lse))
    safe = both
    share = torch.exp(lse - safe)"""
BY_AUTOGRAD = """x = [each.clone().requires_grad_() for each in (q, k, v)]
    attend = torch.nn.functional.scaled_dot_product_attention
    out = attend(*(each[None] for each in x), is_causal=causal)[0]
    found = torch.autograd.grad(out, x, to_heads(dout, tokens))"""

ROWS = {
    # 21
    "pieces straight to their ranks": Row(
        "all_reduce", (("\n    def pass_on(", STRAIGHT),), ("4 ranks, 13",)
    ),
    "a mean, and n times of it": Row(
        "all_reduce", (("return torch.cat(pieces)", "return torch.cat(pieces) / n * n"),)
    ),
    "added in float32, sent in float64": Row(
        "all_reduce",
        ((RING_STEP, RING_STEP + "\n        pieces = [each.float().double() for each in pieces]"),),
        ("3 ranks, 11",),
        IN_FLOAT32,
    ),
    "pieces added in float32": Row(
        "ring_reduce_scatter",
        (("arrives + mine", "(arrives.float() + mine.float()).double()"),),
        ("3 ranks, 11",),
        IN_FLOAT32,
    ),
    "pieces kept in float32": Row(
        "ring_all_gather",
        (("pieces[r] = piece", "pieces[r] = piece.float().double()"),),
        ("3 ranks, 11",),
        IN_FLOAT32,
    ),
    "branches added in float32": Row(
        "double_tree",
        (("total += arrives", "total = (total.float() + arrives.float()).double()"),),
        ("3 ranks, 11",),
        IN_FLOAT32,
    ),
    "nodes added in float32": Row(
        "hierarchical",
        (("piece = mine + swap(", "piece = mine.float().double() + swap("),),
        ("2 nodes of 2, 3 numbers",),
        IN_FLOAT32,
    ),
    "the second half adds into its place": Row(
        "all_reduce",
        (("pieces[(r - step - 1) % n] = pass_on", "pieces[(r - step - 1) % n] += pass_on"),),
        verdict="wrong-result: added-twice",
    ),
    "no NaN": Row(
        "all_reduce",
        (("piece.clone()", "piece.nan_to_num()"),),
        ("infinity and NaN",),
        "wrong-result: partly-wrong",
    ),
    # 22
    "a mean by reduce-scatter and all-gather": Row(
        "ddp", ((AVERAGE, IN_TWO_HALVES),), ("4 ranks, a layer",)
    ),
    "gradients averaged in float32": Row("ddp", ((AVERAGE, NARROWED),), verdict=IN_FLOAT32),
    "weights handed out in float32": Row(
        "ddp",
        (
            (
                HAND_OUT,
                "own = parameter.data.float()\n        "
                + HAND_OUT.replace("parameter.data", "own")
                + "\n        parameter.data.copy_(own)",
            ),
        ),
        verdict=IN_FLOAT32,
    ),
    "buckets in float32": Row(
        "bucketed",
        (("begun.append((bucket", "flat = flat.float()\n            begun.append((bucket"),),
        verdict=IN_FLOAT32,
    ),
    "sums after a pause in float32": Row(
        "no_sync",
        ((PAUSED, NARROWED.replace("\n    ", "\n        ")),),
        verdict=IN_FLOAT32,
    ),
    "a bare except round a pause": Row(
        "no_sync",
        (
            (
                "        finally:\n",
                "        except Exception:\n            pass\n        finally:\n",
            ),
        ),
        ("an error in a pause",),
        "wrong-result: swallowed",
    ),
    # 23
    "slices in messages of one's own": Row(
        "zero1", ((REDUCE_SCATTER, SLICES_BY_HAND),), ("4 ranks, 5", "fewer parameters")
    ),
    "slices of gradients in float32": Row(
        "zero1",
        (("torch.cat([gradient, filling])", "torch.cat([gradient, filling]).float().double()"),),
        ("3 ranks, 9",),
        IN_FLOAT32,
    ),
    "gradients to their owners in float32": Row(
        "zero2",
        (
            ("owner_of[parameter])\n", "owner_of[parameter])\n        round_off(parameter)\n"),
            ("    def to_its", ROUND_OFF + "    def to_its"),
        ),
        verdict=IN_FLOAT32,
    ),
    "slices of unit gradients in float32": Row(
        "zero3",
        (("functional.pad(of_weights", "functional.pad(of_weights.float().double()"),),
        verdict=IN_FLOAT32,
    ),
    "every rank updates what all have": Row(
        "zero2",
        (
            (
                "        if owners[k] == r:\n            update(k)\n            parameter",
                "        update(k)\n        parameter",
            ),
        ),
        verdict="wrong-result: owner",
    ),
    "a slice rounded down, and one more": Row(
        "memory_per_rank",
        (("-(-length // ranks)", "length // ranks + 1"),),
        verdict="wrong-result: wrong",
    ),
    "the host's share rounded early": Row(
        "estimate",
        (("18 * parameters / nodes", "18 * parameters // nodes"),),
        verdict="wrong-result: rounded-otherwise",
    ),
    # 24
    "a share of the bias on each rank": Row(
        "row_linear",
        (
            ("x @ weight.T\n", "x @ weight.T + bias / dist.get_world_size()\n"),
            ("return y + bias", "return y"),
        ),
    ),
    "the next panel under way": Row("summa", ((PANELS, ONE_AHEAD),), ("1 x 4", "4 x 1")),
    "whole rows and columns": Row(
        "summa",
        (
            (ADDED_UP, KEPT),
            ("    return c", "    return torch.cat(of_row, 1) @ torch.cat(of_column)"),
        ),
        ("1 x 4",),
        "over-budget: panels-kept",
    ),
    "panels multiplied in float32": Row(
        "summa", (("left @ top", "(left.float() @ top.float()).double()"),), ("5 x 7",), IN_FLOAT32
    ),
    "g in float32": Row(
        "parallel_mlp",
        (
            (
                "y = x.clone()\n        dist.all_reduce(y)\n        return y",
                "y = x.float()\n        dist.all_reduce(y)\n        return y.double()",
            ),
        ),
        verdict=IN_FLOAT32,
    ),
    "heads added in float32": Row(
        "parallel_attention",
        (
            (
                "y = x.clone()\n        dist.all_reduce(y)\n        return y",
                "y = x.float()\n        dist.all_reduce(y)\n        return y.double()",
            ),
        ),
        verdict=IN_FLOAT32,
    ),
    "tokens gathered in float32": Row(
        "sequence_parallel",
        (
            (
                "dist.all_gather_single(whole, x)",
                "dist.all_gather_single(whole, x.float().double())",
            ),
        ),
        verdict=IN_FLOAT32,
    ),
    "sums of exponentials in float32": Row(
        VOCAB,
        (("dist.all_reduce(total)", "total = total.float().double()\n    dist.all_reduce(total)"),),
        verdict=IN_FLOAT32,
    ),
    "the mean in place of the maximum": Row(
        VOCAB,
        ((LARGEST, MEAN),),
        ("far apart",),
        "wrong-result: no-maximum",
    ),
    "any entry in place of the maximum": Row(
        VOCAB,
        ((LARGEST, "largest = logits[:, 0].clone()\n    dist.broadcast(largest, 0)"),),
        ("far apart",),
        "wrong-result: no-maximum",
    ),
    "the maximum of rank 0 on all": Row(
        VOCAB,
        ((LARGEST, "largest = logits.max(1).values\n    dist.broadcast(largest, 0)"),),
        ("far apart",),
        "wrong-result: no-maximum",
    ),
    "the right logit times a mask": Row(
        VOCAB,
        (
            (
                "right[mine] = logits[tokens[mine], place[mine]]",
                "right = (logits * (place[:, None] == torch.arange(logits.shape[1]))).sum(1)",
            ),
        ),
        ("ruled out",),
        "wrong-result: no-maximum",
    ),
    "the gradient of the rank's own maximum": Row(
        VOCAB,
        (
            (
                "dist.all_reduce(largest, op",
                "own = largest.clone()\n    dist.all_reduce(largest, op",
            ),
            ("shares / total", "(logits - own[:, None]).exp() / total"),
        ),
        verdict="wrong-result: slope-of-own-maximum",
    ),
    "the rank's own maximum comes back": Row(
        VOCAB,
        (
            (
                "dist.all_reduce(largest, op",
                "own = largest.clone()\n    dist.all_reduce(largest, op",
            ),
            ("+ largest - right", "+ own - right"),
        ),
        verdict="wrong-result: own-maximum-back",
    ),
    # 25
    "a table of exp": Row(
        "merge_lse",
        (
            (
                "share = torch.exp(lse - safe)",
                PLAIN_EXP,
            ),
        ),
        verdict="wrong-result: overflow",
    ),
    "binary search in plain Python": Row(
        "imbalance",
        (
            (
                "keys = [np.sort(each) for each in places]",
                "from bisect import bisect_right\n    keys = [sorted(x.tolist()) for x in places]",
            ),
            (
                'int(np.searchsorted(keys[(r - t) % n], places[r], side="right").sum())',
                "sum(bisect_right(keys[(r - t) % n], q) for q in keys[r])",
            ),
        ),
    ),
    "a ValueError for more heads than ranks alone": Row(
        "ulysses",
        (("if heads % n:", "if heads > n and heads % n:"),),
        ("fewer heads",),
        "hazard: not-refused",
    ),
    "heads exchanged in float32": Row(
        "ulysses", (("x.flatten()", "x.float().double().flatten()"),), verdict=IN_FLOAT32
    ),
    "blocks handed on in float32": Row(
        "ring_attention",
        (("k, v = coming", "k, v = (x.float().double() for x in coming)"),),
        verdict=IN_FLOAT32,
    ),
    "gradients handed on in float32": Row(
        "ring_attention_backward",
        (("each.contiguous() for each in tensors", "each.float().double() for each in tensors"),),
        verdict=IN_FLOAT32,
    ),
    "one exchange for all three gradients": Row(
        "ulysses_backward",
        (
            (
                "return tuple(to_tokens(each, tokens) for each in found)",
                "return to_tokens(torch.cat(found, 2), tokens).split(q.shape[2], 2)",
            ),
        ),
        ("3 ranks, 2 tokens",),
    ),
    "autograd in the middle": Row(
        "ulysses_backward",
        (("found = gradients(q, k, v, to_heads(dout, tokens), causal)", BY_AUTOGRAD),),
        ("not causal",),
    ),
    "dout in float32": Row(
        "ulysses_backward",
        (("to_heads(dout,", "to_heads(dout.float().double(),"),),
        verdict=IN_FLOAT32,
    ),
}

ON_RANKS = [p for p in PUZZLES.values() if p.ranks is not None]
NOT_FINITE = re.compile(r"\bNaN\b|\binfinit|-inf\b")
EMPTY = re.compile(r"\b(no|fewer|less|none|nothing|be 0)\b")


def arrays_of(value: Any) -> list[np.ndarray]:
    """Returns the arrays of float64 within the inputs of one rank."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [array for each in value for array in arrays_of(each)]
    return [value] if isinstance(value, np.ndarray) and value.dtype == np.float64 else []


@pytest.mark.parametrize("puzzle", ON_RANKS, ids=lambda puzzle: puzzle.short_name)
def test_what_a_statement_promises_of_numbers_is_what_the_cases_hold(puzzle: PythonPuzzle) -> None:
    said = ast.get_docstring(ast.parse((SOLUTIONS / f"{puzzle.name}.py").read_text("utf-8"))) or ""
    assert "finite" in said or NOT_FINITE.search(said)
    held = []
    for case in puzzle.cases:
        inputs = puzzle.inputs(np.random.default_rng(1), case)
        for rank in range(puzzle.ranks(case) if puzzle.ranks else 1):
            held += arrays_of(part_of(inputs, rank))
    finite = all(np.isfinite(array).all() for array in held)
    assert finite is (NOT_FINITE.search(said) is None)
    assert EMPTY.search(said) or all(array.size for array in held)


@NEEDS_RANKS
@pytest.mark.parametrize("name", ROWS)
def test_an_answer_ends_as_it_should(name: str, tmp_path: Path) -> None:
    verdict = verdict_on(ROWS[name], tmp_path)
    found = "passed" if verdict.status == "passed" else f"{verdict.reason}: {verdict.diagnosis}"
    assert found == ROWS[name].verdict, verdict.message
