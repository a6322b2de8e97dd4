"""The puzzles of lesson 22: replicas by hand in NumPy, and what other answers are told."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from gpu_course import check
from gpu_course.lessons.data_parallel import pieces
from gpu_course.lessons.data_parallel.bucketed import BUCKETED, buckets
from gpu_course.lessons.data_parallel.ddp import DDP
from gpu_course.lessons.data_parallel.harness import data_parallel as harness
from gpu_course.lessons.data_parallel.lamb import LAMB
from gpu_course.lessons.data_parallel.lars import LARS
from gpu_course.lessons.data_parallel.linear_scaling_warmup import LINEAR_SCALING_WARMUP
from gpu_course.lessons.data_parallel.no_sync import NO_SYNC
from gpu_course.lessons.data_parallel.parameter_server import PARAMETER_SERVER
from gpu_course.lessons.data_parallel.replicas import LAST, MIDDLE, NONE, Replica
from gpu_course.puzzle import index
from gpu_course.puzzle.specification import Case, PythonPuzzle
from tests.course.puzzles.by_hand import SOLUTIONS
from tests.course.puzzles.python_rules import cases_and_random, solution_of

pytestmark = pytest.mark.long(18)

LESSON = index.lesson("data_parallel")


def test_the_lesson_brings_its_seven_puzzles() -> None:
    assert [puzzle.short_name for puzzle in LESSON.puzzles] == [
        "ddp", "bucketed", "no_sync", "linear_scaling_warmup", "lars", "lamb", "parameter_server",
    ]  # fmt: skip
    assert sum(puzzle.minutes for puzzle in LESSON.puzzles) < LESSON.minutes


def test_harness_and_judges_mean_the_same_marks() -> None:
    mine = (pieces.BEGINS, pieces.ENDS, pieces.PREPARED, pieces.RATE)
    assert (pieces.NONE, pieces.MIDDLE, pieces.LAST) == (NONE, MIDDLE, LAST)
    assert mine == (harness.BEGINS, harness.ENDS, harness.PREPARED, harness.RATE)


# A replica without autograd


class ByHand:
    """The model of the puzzles in NumPy: forward, and backward by the chain rule."""

    def __init__(self, widths: list[int], extras: int, weights: np.ndarray) -> None:
        first, last = widths[0], widths[-1]
        deep = [f"layer {k}" for k in range(len(widths) - 2)]
        shapes = dict(zip(deep, zip(widths[2:], widths[1:-1], strict=True), strict=True))
        shapes |= {"entry": (widths[1], first), "beside": (last, first), "unused": (2, first)}
        self.names = [
            ["entry", *deep],
            ["beside", "entry", "unused", *deep],
            ["beside", "entry", *deep, "unused"],
        ][extras]
        pairs = [shapes[name] for name in self.names]
        self.scale = np.ones(first)
        self.parameters: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        at = 0
        if extras:
            self.scale, at = weights[:first], first
        for name, (out, into) in zip(self.names, pairs, strict=True):
            matrix = weights[at : at + out * into].reshape(out, into)
            at += out * into
            self.parameters[name] = matrix, weights[at : at + out]
            at += out
        assert at == len(weights)
        self.extras = extras > 0

    def gradient(self, x: np.ndarray, y: np.ndarray, beside: bool) -> tuple[np.ndarray, list[int]]:
        """Returns the flat gradient of the mean squared error, and 1 for each that has none."""
        x = x * self.scale
        inner = [x @ self.parameters["entry"][0].T + self.parameters["entry"][1]]
        deep = [name for name in self.names if name.startswith("layer")]
        for name in deep:
            matrix, bias = self.parameters[name]
            inner.append(np.tanh(inner[-1]) @ matrix.T + bias)
        out = inner[-1]
        uses = self.extras and beside
        if uses:
            matrix, bias = self.parameters["beside"]
            out = out + x @ matrix.T + bias
        back = 2 * (out - y) / out.size
        found = {}
        if uses:
            found["beside"] = back.T @ x, back.sum(0)
        for k in reversed(range(len(deep))):
            found[deep[k]] = back.T @ np.tanh(inner[k]), back.sum(0)
            back = back @ self.parameters[deep[k]][0] * (1 - np.tanh(inner[k]) ** 2)
        found["entry"] = back.T @ x, back.sum(0)
        flat = [np.zeros(len(self.scale))] if self.extras else []
        missing = [1] if self.extras else []
        for name in self.names:
            for part, of in enumerate(self.parameters[name]):
                missing.append(int(name not in found))
                flat.append(found[name][part].ravel() if name in found else np.zeros(of.size))
        return np.concatenate(flat), missing


@pytest.mark.parametrize("puzzle", [DDP, BUCKETED, NO_SYNC], ids=lambda puzzle: puzzle.short_name)
def test_what_replicas_learn_is_what_the_chain_rule_says(puzzle: PythonPuzzle) -> None:
    for case in cases_and_random(puzzle, 4):
        inputs = puzzle.inputs(np.random.default_rng(3), case)
        weights = inputs["weights"].parts[0].copy()
        expected = puzzle.reference(inputs, case)
        ranks, parts = case.sizes["ranks"], case.sizes["parts"]
        for step in range(2):
            total, without = np.zeros_like(weights), np.ones(len(pieces.parameters(case)))
            model = ByHand(inputs["widths"], inputs["extras"], weights)
            for rank, part in product(range(ranks), range(parts)):
                x, y = (inputs[name].parts[rank][step, part] for name in "xy")
                flat, missing = model.gradient(x, y, inputs["beside"].parts[rank])
                total += flat / parts / ranks
                without = np.minimum(without, missing)
            if puzzle is BUCKETED:
                without = without * [not own.asks for own in pieces.parameters(case)]
            assert np.allclose(expected["gradients"][0][step], total, rtol=1e-9, atol=1e-12)
            assert np.array_equal(expected["without"][0][step], without)
            weights = weights - pieces.RATE * total
        assert np.allclose(expected["weights"][-1], weights, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("puzzle", [DDP, NO_SYNC], ids=lambda puzzle: puzzle.short_name)
def test_bytes_are_due_for_gradients_that_are_there(puzzle: PythonPuzzle) -> None:
    for case in cases_and_random(puzzle, 4):
        inputs = puzzle.inputs(np.random.default_rng(3), case)
        without = puzzle.reference(inputs, case)["without"][0][0]
        sizes = [own.numbers for own in pieces.parameters(case)]
        there = sum(n for n, none in zip(sizes, without, strict=True) if not none)
        assert pieces.gradient_bytes(case) == 8 * there
        assert pieces.all_weight_bytes(case) == 8 * inputs["weights"].parts[0].size


def test_buckets_against_a_rule_that_tries_every_cut() -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        sizes = tuple((int(n), bool(rng.random() < 0.8)) for n in rng.integers(1, 9, 7))
        room = int(rng.integers(1, 20)) * 8
        own = [k for k in reversed(range(7)) if sizes[k][1]]
        made: list[list[int]] = []
        while own:
            fits = [cut for cut in range(1, len(own) + 1)
                    if cut == 1 or sum(8 * sizes[k][0] for k in own[:cut]) <= room]  # fmt: skip
            made, own = [*made, own[: max(fits)]], own[max(fits) :]
        assert buckets(sizes, room) == made


def test_sizes_are_those_of_the_model() -> None:
    for extras in (pieces.NONE, pieces.MIDDLE, pieces.LAST):
        own = [p.numel() for p in Replica([2, 3, 3, 2], extras).parameters()]
        case = pieces.case("", 2, layers=2, extras=extras)
        assert [each.numbers for each in pieces.parameters(case)] == own


# Answers that are right in another way, and answers that only look so

HEAD = "import torch\nimport torch.distributed as dist\n\n\n"
OTHER_WAYS = {
    "ddp": """
def ddp(model):
    n = dist.get_world_size()
    for parameter in model.parameters():
        dist.broadcast(parameter.data, 0)
        if parameter.requires_grad:
            parameter.register_hook(lambda gradient: total(gradient / n))


def total(gradient):
    work = dist.all_reduce(gradient, async_op=True)
    work.get_future().wait()
    return gradient
""",
    "no_sync": """
class Pause:
    def __init__(self, state):
        self.state = state

    def __enter__(self):
        self.state.append(1)

    def __exit__(self, *what):
        self.state.pop()


def no_sync(model):
    state, n = [], dist.get_world_size()

    def average(parameter):
        if state:
            return
        ranks, own = list(range(n)), dist.get_rank()
        parts = [part.clone() for part in (parameter.grad / n).flatten().tensor_split(n)]
        right, left = (own + 1) % n, (own - 1) % n
        for step in range(2 * n - 2):
            buffer = torch.empty_like(parts[(own - step - 1) % n])
            for work in [dist.isend(parts[(own - step) % n], right), dist.irecv(buffer, left)]:
                work.wait()
            at = (own - step - 1) % n
            parts[at] = parts[at] + buffer if step < n - 1 else buffer
        parameter.grad.copy_(torch.cat(parts).view_as(parameter))

    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.register_post_accumulate_grad_hook(average)
    return lambda: Pause(state)
""",
    "bucketed": """
def bucketed(model, bucket_bytes):
    n, own = dist.get_world_size(), [p for p in model.parameters() if p.requires_grad]
    flats, home, left = [], {}, 0
    for p in own[::-1]:
        if not flats or p.numel() * 8 > left:
            flats.append([])
            left = bucket_bytes
        left -= p.numel() * 8
        flats[-1].append(p)
        home[p] = len(flats) - 1
    state = {}

    def reset():
        state.update(missing=[set(each) for each in flats], works=[], next=0)

    def go():
        while state["next"] < len(flats) and not state["missing"][state["next"]]:
            flat = torch.hstack([p.grad.ravel() for p in flats[state["next"]]]) / n
            state["works"].append((flat, dist.all_reduce(flat, async_op=True)))
            state["next"] += 1

    def hook(p):
        state["missing"][home[p]].discard(p)
        go()

    def finish():
        for missing in state["missing"]:
            for p in missing:
                p.grad = torch.zeros_like(p)
            missing.clear()
        go()
        for bucket, (flat, work) in list(zip(flats, state["works"]))[::-1]:
            work.wait()
            for p in bucket:
                p.grad, flat = flat[: p.numel()].view(p.shape).clone(), flat[p.numel() :]
        reset()

    reset()
    for p in own:
        p.register_post_accumulate_grad_hook(hook)
    return finish
""",
}
HOSTILE = {
    # Trains on everybody's gradient by telling the harness's own weights apart afterwards.
    ("ddp", "weights every step"): (
        "over-budget",
        """
def ddp(model):
    n = dist.get_world_size()
    own = list(model.parameters())
    for p in own:
        dist.broadcast(p.data, 0)

    def average(p):
        dist.all_reduce(p.grad)
        p.grad /= n
        for each in own:
            dist.broadcast(each.data, 0)

    for p in own:
        if p.requires_grad:
            p.register_post_accumulate_grad_hook(average)
""",
    ),
    ("ddp", "a group of one"): (
        "wrong-result",
        """
def ddp(model):
    for p in model.parameters():
        dist.broadcast(p.data, 0)
""",
    ),
    # Begins in time with nothing in it, and sends the gradients behind the pass.
    ("bucketed", "empty messages first"): (
        "over-budget",
        OTHER_WAYS["bucketed"].replace(
            "            state[\"works\"].append",
            "            dist.all_reduce(torch.zeros(1), async_op=True).wait()\n"
            "            state[\"works\"].append",
        ),
    ),
    ("no_sync", "swallows every error"): (
        "over-budget",
        OTHER_WAYS["no_sync"].replace("if state:", "if False:"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHER_WAYS)
def test_another_right_way_passes(name: str, tmp_path: Any) -> None:
    answer = tmp_path / f"{name}.py"
    answer.write_text(HEAD + OTHER_WAYS[name])
    verdict = check(name, answer=answer)
    assert verdict.status == "passed", verdict.message


@pytest.mark.parametrize(("name", "what"), HOSTILE)
def test_what_only_looks_right_is_refused(name: str, what: str, tmp_path: Any) -> None:
    reason, text = HOSTILE[name, what]
    answer = tmp_path / f"{name}.py"
    answer.write_text(HEAD + text)
    verdict = check(name, answer=answer)
    assert (verdict.status, verdict.reason) == ("failed", reason), verdict.message


RULE = "if length > 0 and way > 0 else 1.0"
NO_NUMBERS = {
    "a root below zero": ("(1 - beta2) * g * g", "(1 - beta2) * g", "not-finite", "a root of less"),
    "one of two norms guarded": (RULE, "if length > 0 else 1.0", "zero-unguarded", "Which of the"),
}


@pytest.mark.parametrize("what", NO_NUMBERS)
def test_what_is_no_number_is_told_by_what_was_0(what: str, tmp_path: Any) -> None:
    old, new, diagnosis, says = NO_NUMBERS[what]
    text = (SOLUTIONS / f"{LAMB.name}.py").read_text(encoding="utf-8")
    assert old in text
    answer = tmp_path / "lamb.py"
    answer.write_text(text.replace(old, new))
    verdict = check("lamb", answer=answer, seed=0)
    said = " ".join(verdict.message.split())
    assert (verdict.diagnosis, says in said) == (diagnosis, True), said


def test_a_pause_that_was_made_already_is_told_as_that(tmp_path: Any) -> None:
    text = (SOLUTIONS / f"{NO_SYNC.name}.py").read_text(encoding="utf-8")
    answer = tmp_path / "no_sync.py"
    answer.write_text(text.replace("    return pause\n", "    return pause()\n"))
    verdict = check("no_sync", answer=answer, seed=0)
    assert verdict.reason == "wrong-result"
    assert verdict.message.startswith("no_sync returned one pause; return pause, without brackets")


# Rates, and optimizers number by number


def inputs_of(puzzle: PythonPuzzle, seed: int = 5) -> list[tuple[Case, dict[str, Any]]]:
    """Returns the cases of a puzzle with inputs."""
    return [
        (case, puzzle.inputs(np.random.default_rng(seed + k), case))
        for k, case in enumerate(cases_and_random(puzzle, 8))
    ]


def test_the_rate_is_on_the_line_through_both_ends() -> None:
    for case, given in inputs_of(LINEAR_SCALING_WARMUP):
        mine = LINEAR_SCALING_WARMUP.reference(given, case)["result"]
        points = [0, given["warmup_steps"]] if given["warmup_steps"] else [0]
        full = given["base_rate"] * given["batch"] / given["base_batch"]
        ends = [given["base_rate"], full] if given["warmup_steps"] else [full]
        line = np.interp(given["step"], points, ends)
        for milestone in given["milestones"]:
            line = line / 10 if milestone <= given["step"] else line
        assert mine == pytest.approx(line)


def root_of_squares(numbers: list[float]) -> float:
    return sum(number * number for number in numbers) ** 0.5


def test_lars_number_by_number() -> None:
    for case, given in inputs_of(LARS):
        weights, velocities = LARS.reference(given, case)["result"]
        for k, w in enumerate(given["weights"]):
            numbers, slopes = w.ravel().tolist(), given["gradients"][k].ravel().tolist()
            decay, local = (given["decay"], 1.0) if w.ndim > 1 else (0.0, 1.0)
            if w.ndim > 1 and any(numbers) and any(slopes):
                below = root_of_squares(slopes) + decay * root_of_squares(numbers)
                local = given["trust"] * root_of_squares(numbers) / below
            for at in np.ndindex(w.shape):
                g, v = given["gradients"][k][at], given["velocities"][k][at]
                new = given["momentum"] * v + given["rate"] * local * (g + decay * w[at])
                assert velocities[k][at] == pytest.approx(new, rel=1e-9)
                assert weights[k][at] == pytest.approx(w[at] - new, rel=1e-9, abs=1e-12)


def test_lamb_is_adam_of_pytorch_stretched_to_the_norm_of_the_weights() -> None:
    import torch

    for case, given in inputs_of(LAMB):
        mine = LAMB.reference(given, case)["result"]
        for k, w in enumerate(given["weights"]):
            # One step of rate 1 from 0 is Adam's direction.
            origin = torch.zeros(w.shape, dtype=torch.float64, requires_grad=True)
            adam = torch.optim.Adam(
                [origin], lr=1.0, betas=(given["beta1"], given["beta2"]), eps=given["epsilon"]
            )
            origin.grad = torch.from_numpy(given["gradients"][k].copy())
            adam.state[origin] = {
                "step": torch.tensor(float(given["step"] - 1)),
                "exp_avg": torch.from_numpy(given["firsts"][k].copy()),
                "exp_avg_sq": torch.from_numpy(given["seconds"][k].copy()),
            }
            adam.step()
            way = -origin.detach().numpy() + given["decay"] * w
            long, far = root_of_squares(w.ravel()), root_of_squares(way.ravel())
            ratio = long / far if long and far else 1.0
            assert np.allclose(mine[0][k], w - given["rate"] * ratio * way, rtol=1e-9, atol=1e-14)
            assert np.allclose(mine[1][k], adam.state[origin]["exp_avg"].numpy())
            assert np.allclose(mine[2][k], adam.state[origin]["exp_avg_sq"].numpy())


def test_staleness_is_what_others_have_changed_since() -> None:
    for case, given in inputs_of(PARAMETER_SERVER):
        weights, version, staleness = PARAMETER_SERVER.reference(given, case)["result"]
        events = given["events"]
        taken: list[int] = []
        at = dict.fromkeys(range(9), 0)
        found = []
        for number, (what, worker) in enumerate(events):
            if what == "pull":
                at[worker] = number
            else:
                found.append(sum(1 for push in taken if push > at[worker]))
                if found[-1] <= given["bound"]:
                    taken.append(number)
        assert (version, list(staleness)) == (len(taken), found)
        mine = solution_of(PARAMETER_SERVER)["parameter_server"](**given)
        assert np.allclose(mine[0], weights)


def test_one_worker_is_plain_descent() -> None:
    case = next(c for c in PARAMETER_SERVER.cases if c.sizes["workers"] == 1)
    given = PARAMETER_SERVER.inputs(np.random.default_rng(1), case)
    given["events"] = [("pull", 0), ("push", 0)] * 5
    weights, version, staleness = PARAMETER_SERVER.reference(given, case)["result"]
    w = given["weights"]
    for _ in range(5):
        w = w - given["rate"] * (given["matrix"] @ w - given["target"])
    assert version == 5 and staleness == [0] * 5
    assert np.allclose(weights, w)


def test_solutions_lie_where_the_catalogue_says() -> None:
    for puzzle in LESSON.puzzles:
        assert (SOLUTIONS / f"{puzzle.name}.py").is_file()
        assert (SOLUTIONS / f"{puzzle.name}.md").is_file()
