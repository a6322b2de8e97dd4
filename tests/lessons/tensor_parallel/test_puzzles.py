"""The puzzles of lesson 24 against loops, and answers that are right or wrong in other ways."""

from __future__ import annotations

import functools
import math
import textwrap
from pathlib import Path

import numpy as np
import pytest

from gpu_course.grading.check import check
from gpu_course.isolation import servers
from gpu_course.lessons.tensor_parallel import pieces
from gpu_course.lessons.tensor_parallel.column_linear import COLUMN_LINEAR
from gpu_course.lessons.tensor_parallel.parallel_attention import PARALLEL_ATTENTION
from gpu_course.lessons.tensor_parallel.parallel_mlp import PARALLEL_MLP
from gpu_course.lessons.tensor_parallel.row_linear import ROW_LINEAR
from gpu_course.lessons.tensor_parallel.sequence_parallel import SEQUENCE_PARALLEL, kept_bytes
from gpu_course.lessons.tensor_parallel.summa import SUMMA, due_bytes
from gpu_course.lessons.tensor_parallel.vocab_parallel_cross_entropy import (
    FAR_APART,
    VOCAB_PARALLEL_CROSS_ENTROPY,
)
from gpu_course.puzzle import PythonPuzzle, index
from gpu_course.puzzle.on_ranks import passes
from gpu_course.ranks.calls import Call
from tests.course.puzzles.by_hand import SOLUTIONS
from tests.course.puzzles.python_rules import cases_and_random

LESSON = index.lesson("tensor_parallel")

NEEDS_RANKS = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)


def test_the_lesson_brings_its_seven_puzzles() -> None:
    assert [puzzle.short_name for puzzle in LESSON.puzzles] == [
        "column_linear", "row_linear", "parallel_mlp", "parallel_attention",
        "vocab_parallel_cross_entropy", "sequence_parallel", "summa",
    ]  # fmt: skip
    assert sum(puzzle.minutes for puzzle in LESSON.puzzles) < LESSON.minutes


def small_cases(puzzle: PythonPuzzle) -> list:
    """The cases and random ones that a loop gets through at once."""
    found = []
    for case in cases_and_random(puzzle, 3):
        inputs = puzzle.inputs(np.random.default_rng(3), case)
        if not any(v > 40 for v in case.sizes.values()):
            found.append((case, inputs, puzzle.reference(inputs, case)))
    assert len(found) > 5
    return found


def affine(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """A linear layer, number by number."""
    y = np.zeros((len(x), len(weight)))
    for t in range(len(x)):
        for o in range(len(weight)):
            y[t, o] = bias[o] + sum(x[t, i] * weight[o, i] for i in range(x.shape[1]))
    return y


def slopes(
    function: object, given: dict[str, np.ndarray], dy: np.ndarray, name: str, places: int = 6
) -> list[tuple[tuple[int, ...], float]]:
    """Some entries of the gradient of sum(y dy), by differences."""
    assert callable(function)
    rng, step, found = np.random.default_rng(5), 1e-5, []
    for _ in range(places):
        place = tuple(int(rng.integers(0, n)) for n in given[name].shape)
        ends = []
        for sign in (1, -1):
            moved = {key: each.copy() for key, each in given.items()}
            moved[name][place] += sign * step
            ends.append(float((function(**moved) * dy).sum()))
        found.append((place, (ends[0] - ends[1]) / (2 * step)))
    return found


def near(got: np.ndarray, right: np.ndarray) -> bool:
    return got.shape == right.shape and np.allclose(got, right, rtol=0, atol=pieces.SUMS[1])


def test_column_and_row_layers_are_one_layer_by_loops() -> None:
    for case, inputs, expected in small_cases(COLUMN_LINEAR):
        weight, bias = (np.concatenate(inputs[name].parts) for name in ("weight", "bias"))
        y = affine(inputs["x"], weight, bias)
        assert near(np.concatenate(expected["y"], 1), y)
        dy = np.concatenate(inputs["dy"].parts, 1)
        dx = affine(dy, weight.T, np.zeros(weight.shape[1]))
        assert all(near(each, dx) for each in expected["dx"]), case.name
    for case, inputs, expected in small_cases(ROW_LINEAR):
        x, weight = (np.concatenate(inputs[name].parts, 1) for name in ("x", "weight"))
        y = affine(x, weight, inputs["bias"])
        assert all(near(each, y) for each in expected["y"]), case.name
        dweight = affine(inputs["dy"].T, x.T, np.zeros(x.shape[1]))
        assert near(np.concatenate(expected["dweight"], 1), dweight)


def gelu(x: float) -> float:
    return x * 0.5 * (1 + math.erf(x / math.sqrt(2)))


def mlp(**given: np.ndarray) -> np.ndarray:
    """The MLP, neuron by neuron; behind a norm where there is a gain."""
    x = given["x"]
    if "gain" in given:
        mean, spread = x.mean(1, keepdims=True), x.var(1, keepdims=True)
        x = (x - mean) / np.sqrt(spread + 1e-5) * given["gain"]
    inside = np.vectorize(gelu)(affine(x, given["up"], given["up_bias"]))
    return affine(inside, given["down"], given["down_bias"])


@pytest.mark.parametrize("puzzle", [PARALLEL_MLP, SEQUENCE_PARALLEL], ids=lambda p: p.short_name)
def test_an_mlp_is_that_of_loops_and_its_gradients_those_of_differences(
    puzzle: PythonPuzzle,
) -> None:
    axes = {"x": 0, "up": 0, "up_bias": 0, "down": 1}
    for case, inputs, expected in small_cases(puzzle)[:5]:
        given = {
            name: np.concatenate(inputs[name].parts, axes[name])
            if hasattr(inputs[name], "parts")
            else inputs[name]
            for name in inputs["names"]
        }
        dy = inputs["dy"]
        cut = puzzle is SEQUENCE_PARALLEL
        dy = np.concatenate(dy.parts) if cut else dy
        y = np.concatenate(expected["y"]) if cut else expected["y"][-1]
        assert np.allclose(y, mlp(**given), rtol=1e-11, atol=1e-12), case.name
        for name in given:
            parts = expected[f"d{name}"]
            if name in ("up", "up_bias", "down") or (cut and name == "x"):
                whole = np.concatenate(parts, axes[name])
            else:
                whole = parts[0]
                assert all(np.array_equal(part, whole) for part in parts)
            for place, slope in slopes(mlp, given, dy, name, 2):
                assert whole[place] == pytest.approx(slope, rel=1e-5, abs=1e-8)


def attention(**given: np.ndarray) -> np.ndarray:
    """Attention, token by token and head by head, as the statement lays the weights out."""
    x, qkv, out = given["x"], given["qkv"], given["out"]
    heads, groups = int(given["heads"]), int(given["groups"])
    size = len(qkv) // (heads + 2 * groups)
    y = np.zeros_like(x)
    for head in range(heads):
        group = head // (heads // groups)
        q, k, v = (
            x @ qkv[at * size : (at + 1) * size].T
            for at in (head, heads + group, heads + groups + group)
        )
        for t in range(len(x)):
            weights = np.array([math.exp(q[t] @ k[u] / math.sqrt(size)) for u in range(t + 1)])
            mixed = (weights / weights.sum()) @ v[: t + 1]
            y[t] += out[:, head * size : (head + 1) * size] @ mixed
    return y


def test_attention_is_that_of_loops_and_its_gradients_those_of_differences() -> None:
    for case, inputs, expected in small_cases(PARALLEL_ATTENTION)[:6]:
        given = {name: inputs[name] for name in ("x", "qkv", "out")}
        numbers = {name: np.array(float(inputs[name])) for name in ("heads", "groups")}
        y = attention(**given, **numbers)
        assert all(np.allclose(each, y, rtol=1e-10, atol=1e-12) for each in expected["y"])
        held = sum(len(part) for part in expected["own_qkv"])
        assert held == len(inputs["qkv"]), case.name
        fixed = {"qkv": given["qkv"], "out": given["out"], **numbers}
        by_x = functools.partial(attention, **fixed)
        for place, slope in slopes(by_x, {"x": given["x"]}, inputs["dy"], "x", 3):
            assert expected["dx"][0][place] == pytest.approx(slope, rel=1e-5, abs=1e-8)


def test_the_loss_is_that_of_loops() -> None:
    for case, inputs, expected in small_cases(VOCAB_PARALLEL_CROSS_ENTROPY):
        if case.sizes["kind"] == FAR_APART:
            continue
        logits, targets = np.concatenate(inputs["logits"].parts, 1), inputs["targets"]
        firsts = inputs["first"].parts
        for t, target in enumerate(targets):
            total = sum(math.exp(each) for each in logits[t])
            loss = math.log(total) - logits[t, target]
            for rank, (found, slope) in enumerate(expected["result"]):
                assert found[t] == pytest.approx(loss, rel=1e-10)
                for place in range(slope.shape[1]):
                    right = math.exp(logits[t, firsts[rank] + place]) / total
                    right -= target == firsts[rank] + place
                    assert slope[t, place] == pytest.approx(right, rel=1e-8, abs=1e-12)


def test_a_product_on_a_grid_is_one_product_and_its_bytes_are_counted_block_by_block() -> None:
    for case, inputs, expected in small_cases(SUMMA):
        rows, columns = inputs["grid"]
        a, b = inputs["a"].parts, inputs["b"].parts
        whole_a, whole_b = (
            np.vstack([np.hstack(p[i * columns : (i + 1) * columns]) for i in range(rows)])
            for p in (a, b)
        )
        c = np.vstack(
            [np.hstack(expected["result"][i * columns : (i + 1) * columns]) for i in range(rows)]
        )
        assert near(c, affine(whole_a, whole_b.T, np.zeros(whole_b.shape[1])))
        sent = sum(block.nbytes for block in a) * (columns - 1)
        sent += sum(block.nbytes for block in b) * (rows - 1)
        assert due_bytes(case) == sent


def test_what_a_rank_keeps_is_the_papers_count_of_an_mlp() -> None:
    # h numbers of each own token for the norm, and for the layer's input; the statistics on top.
    case = SEQUENCE_PARALLEL.cases[0]
    least, most = kept_bytes(case, 3)
    assert least == 8 * (2 * 2 * 3 + 2 * 2 + 2 * 4 * 3)
    assert most - least == 8 * 2 * 3


def test_passes_are_parted_by_the_harness_alone() -> None:
    def call(kind: str, line: int) -> Call:
        return Call(0, 0, kind, (0, 1), 0, (), 8, line=line)

    own = [call("all_reduce", 5), call("barrier", 7), call("barrier", 0), call("send", 9)]
    forward, backward = passes([*own, call("barrier", 0)], 0)
    assert [each.line for each in forward] == [5, 7]
    assert [each.kind for each in backward] == ["send"]
    assert passes([], 0) == [[], []]


def replaced(name: str, *changes: tuple[str, str], more: str = "") -> str:
    """Returns the solution's text with some of it replaced."""
    text = (SOLUTIONS / "24_tensor_parallel" / f"{name}.py").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text + "\n\n" + textwrap.dedent(more)


HOOK = """
def parallel_mlp(x, up, up_bias, down, down_bias):
    x = x * 1.0
    def add(gradient):
        gradient = gradient.clone()
        dist.all_reduce(gradient)
        return gradient
    x.register_hook(add)
    y = gelu(x @ up.T + up_bias) @ down.T
    dist.all_reduce(y)
    return y + down_bias
"""
OWN_RING = """
def column_backward(dy, x, weight):
    n, r = dist.get_world_size(), dist.get_rank()
    shares = list((dy @ weight).flatten().tensor_split(n))
    for half in (True, False):
        for step in range(n - 1):
            out = (r - step - (half is True)) % n
            at = (r - step - 1 - (half is True)) % n
            arrives = torch.empty_like(shares[at])
            works = [dist.isend(shares[out], (r + 1) % n), dist.irecv(arrives, (r - 1) % n)]
            for work in works:
                work.wait()
            shares[at] = shares[at] + arrives if half else arrives
    return torch.cat(shares).view_as(x), dy.T @ x, dy.sum(0)
"""
RANK_0_ADDS_THE_BIAS = """
def row_forward(x, weight, bias):
    y = x @ weight.T + (bias if dist.get_rank() == 0 else 0)
    dist.all_reduce(y)
    return y
"""
SCALED_SUMS = """
def vocab_parallel_cross_entropy(logits, targets, first):
    rows = torch.arange(len(logits))
    own = logits.max(1).values
    largest = own.clone()
    dist.all_reduce(largest, op=dist.ReduceOp.MAX)
    own = own.clamp(min=-1e300)  # Where all is ruled out here, nothing is taken off.
    total = (logits - own[:, None]).exp().sum(1) * (own - largest).exp()
    entries = torch.arange(logits.shape[1]) + first
    onehot = (entries == targets[:, None]).double()
    both = torch.stack([total, logits.where(onehot > 0, 0.0).sum(1)])
    dist.all_reduce(both)
    loss = both[0].log() + largest - both[1]
    return loss, (logits - largest[:, None]).exp() / both[0][:, None] - onehot
"""
GATHERS_AGAIN = """
class ColumnLayer(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return gathered(x) @ weight.T

    @staticmethod
    def backward(ctx, dy):
        x, weight = ctx.saved_tensors
        return scattered(dy @ weight), dy.T @ gathered(x)

def sequence_parallel(x, gain, up, up_bias, down, down_bias):
    inside = ColumnLayer.apply(norm(x, F.apply(gain)), up)
    inside = functional.gelu(inside + up_bias)
    return Scatter.apply(inside @ down.T) + F.apply(down_bias)
"""
LISTS = """
def gathered(x):
    parts = [torch.empty_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, x.contiguous())
    return torch.cat(parts)

def scattered(x):
    parts = list(x.contiguous().chunk(dist.get_world_size()))
    own = torch.empty_like(parts[0])
    dist.reduce_scatter(own, parts)
    return own
"""
BROADCASTS = """
_made = {}

def groups_of(rows, columns):
    if (rows, columns) not in _made:
        lines = [[i * columns + j for j in range(columns)] for i in range(rows)]
        lines += [[i * columns + j for i in range(rows)] for j in range(columns)]
        _made[rows, columns] = {tuple(line): dist.new_group(line) for line in lines}
    return _made[rows, columns]

def summa(a, b, grid, widths):
    rows, columns = grid
    groups = groups_of(rows, columns)
    i, j = divmod(dist.get_rank(), columns)
    my_row = tuple(i * columns + k for k in range(columns))
    my_column = tuple(k * columns + j for k in range(rows))
    c = torch.zeros(len(a), b.shape[1], dtype=a.dtype)
    for k, width in enumerate(widths):
        left = a.split(widths, 1)[k].contiguous() if columns == 1 else (
            a.clone() if j == k else a.new_empty(len(a), width))
        top = b.split(widths, 0)[k].contiguous() if rows == 1 else (
            b.clone() if i == k else b.new_empty(width, b.shape[1]))
        if columns > 1:
            dist.broadcast(left, my_row[k], group=groups[my_row])
        if rows > 1:
            dist.broadcast(top, my_column[k], group=groups[my_column])
        c += left @ top
    return c
"""
RIGHT_BUT_DIFFERENT = {
    "a hook and a sum in place": ("parallel_mlp", HOOK),
    "a ring of one's own": ("column_linear", OWN_RING),
    "rank 0 adds the bias": ("row_linear", RANK_0_ADDS_THE_BIAS),
    "each its own maximum, scaled": ("vocab_parallel_cross_entropy", SCALED_SUMS),
    "tokens are gathered again": ("sequence_parallel", GATHERS_AGAIN),
    "lists of tensors": ("sequence_parallel", LISTS),
    "broadcasts in groups": ("summa", BROADCASTS),
}


@NEEDS_RANKS
@pytest.mark.parametrize("kind", RIGHT_BUT_DIFFERENT)
def test_right_answers_of_another_kind_pass(kind: str, tmp_path: Path) -> None:
    name, more = RIGHT_BUT_DIFFERENT[kind]
    path = tmp_path / f"{name}.py"
    path.write_text(replaced(name, more=more), encoding="utf-8")
    verdict = check(name, answer=str(path), seed=0)
    assert verdict.status == "passed", verdict.message


@NEEDS_RANKS
def test_a_gradient_that_one_rank_has_not_got_is_told_of_that_rank(tmp_path: Path) -> None:
    path = tmp_path / "parallel_mlp.py"
    own = "G.apply(inside @ down.T + (down_bias if dist.get_rank() == 0 else 0))"
    given = ("G.apply(inside @ down.T) + down_bias", own)
    path.write_text(replaced("parallel_mlp", given), encoding="utf-8")
    verdict = check("parallel_mlp", answer=str(path), seed=0)
    assert verdict.diagnosis == "no-gradient"
    assert verdict.message.startswith("rank 1: no gradient of y arrives at down_bias")


HIDDEN_IN_A_BARRIER = """
def column_backward(dy, x, weight):
    dx = dy @ weight
    dist.barrier()
    dist.all_reduce(dx)
    dist.all_reduce(dx)
    return dx / dist.get_world_size(), dy.T @ x, dy.sum(0)
"""
IN_TWO_HALVES = """
def vocab_parallel_cross_entropy(logits, targets, first):
    n, r = dist.get_world_size(), dist.get_rank()
    widths = [torch.zeros(1, dtype=torch.int64) for _ in range(n)]
    dist.all_gather(widths, torch.tensor([logits.shape[1]]))
    whole = torch.zeros(len(logits), int(sum(widths)), dtype=logits.dtype)
    whole[:, first : first + logits.shape[1]] = logits
    for column in whole.T:
        part = column.contiguous()
        dist.all_reduce(part)
        column.copy_(part)
    whole.requires_grad_()
    loss = torch.nn.functional.cross_entropy(whole, targets, reduction="none")
    loss.sum().backward()
    return loss.detach(), whole.grad[:, first : first + logits.shape[1]].contiguous()
"""
ALL_NEURONS_EVERYWHERE = """
def parallel_mlp(x, up, up_bias, down, down_bias):
    return x * 0 + (up.sum() + up_bias.sum() + down.sum() + down_bias.sum()) * 0
"""
KEPT_OUT_OF_SIGHT = """
class Hidden(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = gathered(x)
        return y

    @staticmethod
    def backward(ctx, dy):
        dx = dy.clone()
        dist.all_reduce(dx)
        return dx.chunk(dist.get_world_size())[dist.get_rank()]

def sequence_parallel(x, gain, up, up_bias, down, down_bias):
    whole = norm(Hidden.apply(x), F.apply(gain))
    return Scatter.apply(functional.gelu(whole @ up.T + up_bias) @ down.T) + F.apply(down_bias)
"""
WHOLE_MATRICES = """
def summa(a, b, grid, widths):
    n, r = dist.get_world_size(), dist.get_rank()
    shapes = [None] * n
    dist.all_gather_object(shapes, (tuple(a.shape), tuple(b.shape)))
    return a[:, :1] @ b[:1]
"""
ALL_KEPT = BROADCASTS.replace("    for k, width", "    kept = []\n    for k, width").replace(
    "        c += ", "        kept += [left, top]\n        c += "
)
WRONG = {
    "behind a barrier of its own": ("column_linear", HIDDEN_IN_A_BARRIER, "over-budget"),
    "logits column by column": ("vocab_parallel_cross_entropy", IN_TWO_HALVES, "over-budget"),
    "nothing but shapes": ("parallel_mlp", ALL_NEURONS_EVERYWHERE, "wrong-result"),
    "the norm on all tokens": ("sequence_parallel", KEPT_OUT_OF_SIGHT, "over-budget"),
    "objects in place of tensors": ("summa", WHOLE_MATRICES, ""),
    "broadcasts that are all kept": ("summa", ALL_KEPT, "over-budget"),
}


@NEEDS_RANKS
@pytest.mark.parametrize("kind", WRONG)
def test_wrong_answers_of_another_kind_fail(kind: str, tmp_path: Path) -> None:
    name, more, reason = WRONG[kind]
    path = tmp_path / f"{name}.py"
    path.write_text(replaced(name, more=more), encoding="utf-8")
    verdict = check(name, answer=str(path), seed=0)
    assert verdict.status == "failed", verdict.message
    assert reason in ("", verdict.reason), verdict.message
