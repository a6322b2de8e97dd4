"""The puzzles of lesson 33: references against other ways to the same numbers."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from gpu_course.grading.check import check
from gpu_course.isolation import servers
from gpu_course.lessons.across_oceans.attention_share import ATTENTION_SHARE
from gpu_course.lessons.across_oceans.bytes_saved import BYTES_SAVED
from gpu_course.lessons.across_oceans.diloco import DILOCO, parameter_bytes, rounds, widths
from gpu_course.lessons.across_oceans.model_size_overhead import (
    CURVE,
    MODEL_SIZE_OVERHEAD,
    best,
    counted,
)
from gpu_course.lessons.across_oceans.run_cost import DEEPSEEK_V3, RUN_COST, VISIBLE
from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.puzzle import index
from gpu_course.puzzle.on_ranks import ranks_of
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values
from gpu_course.ranks.traffic import booked_bytes
from tests.course.puzzles.by_hand import SOLUTIONS
from tests.course.puzzles.python_rules import cases_and_random

LESSON = index.lesson("across_oceans")
REFUSED = "ValueError"

NEEDS_RANKS = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)


def test_the_lesson_is_found_by_its_number_and_its_topic() -> None:
    assert index.lesson("33") is index.lesson("across_oceans")


def test_the_lesson_brings_its_five_puzzles() -> None:
    assert [puzzle.short_name for puzzle in LESSON.puzzles] == [
        "diloco", "bytes_saved", "model_size_overhead", "attention_share", "run_cost",
    ]  # fmt: skip


@pytest.mark.parametrize("puzzle", LESSON.puzzles, ids=lambda puzzle: puzzle.short_name)
def test_every_diagnosis_is_given_by_a_mistake_or_by_diagnose(puzzle: PythonPuzzle) -> None:
    own = {mistake.diagnosis for mistake in puzzle.mistakes} | {"refused"}
    assert set(puzzle.diagnoses) - {"seven-digits"} <= own


def _given(puzzle: PythonPuzzle) -> list[tuple[Case, dict, dict]]:
    """Returns (case, arguments, expected) of each case that is not refused."""
    found = []
    for number, case in enumerate(cases_and_random(puzzle, draws=30)):
        inputs = puzzle.inputs(np.random.default_rng(number), case)
        expected = puzzle.reference(inputs, case)
        if REFUSED not in expected.values():
            found.append((case, inputs["arguments"], expected))
    assert len(found) > 30
    return found


# diloco


class Island:
    """The puzzle's model by hand in NumPy, with an AdamW of its own."""

    def __init__(self, sizes: list[int], flat: np.ndarray, inner: dict) -> None:
        self.shapes = [(b, a) for a, b in itertools.pairwise(sizes)]
        self.flat, self.inner, self.step = flat.copy(), inner, 0
        self.first, self.second = np.zeros_like(flat), np.zeros_like(flat)

    def layers(self) -> list[tuple[np.ndarray, np.ndarray]]:
        at, found = 0, []
        for out, into in self.shapes:
            matrix = self.flat[at : at + out * into].reshape(out, into)
            found.append((matrix, self.flat[at + out * into : at + out * into + out]))
            at += out * (into + 1)
        return found

    def gradient(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        layers, into, inside = self.layers(), [x], x
        for matrix, bias in layers:
            inside = into[-1] @ matrix.T + bias
            into.append(np.tanh(inside))
        back = 2 * (inside - y) / y.size
        parts: list[np.ndarray] = []
        for at in reversed(range(len(layers))):
            parts = [(back.T @ into[at]).ravel(), back.sum(0), *parts]
            back = back @ layers[at][0] * (1 - into[at] ** 2)
        return np.concatenate(parts)

    def learn(self, x: np.ndarray, y: np.ndarray) -> None:
        (b1, b2), rate = self.inner["betas"], self.inner["lr"]
        self.step += 1
        gradient = self.gradient(x, y)
        self.flat *= 1 - rate * self.inner["weight_decay"]
        self.first = b1 * self.first + (1 - b1) * gradient
        self.second = b2 * self.second + (1 - b2) * gradient**2
        first, second = self.first / (1 - b1**self.step), self.second / (1 - b2**self.step)
        self.flat -= rate * first / (np.sqrt(second) + self.inner["eps"])


def test_the_rounds_by_hand_in_numpy() -> None:
    """With Nesterov's look ahead in another form: weights as they will be seen, one step on."""
    for number, case in enumerate(cases_and_random(DILOCO, draws=4)):
        inputs = DILOCO.inputs(np.random.default_rng(number), case)
        ranks, h = ranks_of(case), inputs["h"]
        islands = [Island(widths(case), inputs["weights"], inputs["inner"]) for _ in range(ranks)]
        shared, velocity = inputs["weights"].copy(), 0.0
        for first in range(0, case.sizes["batches"], h):
            for rank, island in enumerate(islands):
                island.flat = shared.copy()
                xs, ys = (inputs[name].parts[rank][first : first + h] for name in "xy")
                for x, y in zip(xs, ys, strict=True):
                    island.learn(x, y)
            mean = np.mean([island.flat for island in islands], axis=0)
            # v' = m v + g, and w' = w - r (g + m v'): the step of v', and what v' brings beyond it.
            before, velocity = velocity, inputs["momentum"] * velocity + shared - mean
            ahead = (1 + inputs["momentum"]) * velocity - inputs["momentum"] * before
            shared = shared - inputs["rate"] * ahead
        expected = DILOCO.reference(inputs, case)["weights"]
        assert len(expected) == ranks
        for each in expected:
            assert np.allclose(each, shared, rtol=1e-9, atol=1e-11), case.name


@NEEDS_RANKS
def test_the_solution_sends_exactly_the_bytes_that_are_allowed() -> None:
    seen = []

    def judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
        ranks = ranks_of(case)
        for rank in range(ranks):
            own = [call for call in got["wire"] if call.rank == rank]
            wanted = Fraction(2 * (ranks - 1) * parameter_bytes(case) * rounds(case), ranks)
            assert booked_bytes(own) == wanted and len(own) == rounds(case), case.name
            seen.append(wanted)
        return None

    puzzle = replace(DILOCO, judge=judge)
    verdict = check(puzzle, answer=str(SOLUTIONS / f"{DILOCO.name}.py"), seed=0)
    assert verdict.status == "passed", verdict.message
    assert sum(map(bool, seen)) > 12


# bytes_saved


def _round(said: dict, h: int) -> Fraction:
    """Returns the share of computing, a ring message by message."""
    n, outer = said["ranks"], said["parameters"] * said["width"]
    left = said["parameters"] if said["block"] else 0
    while left > 0:
        outer, left = outer + 4, left - said["block"]
    latency, rate = (Fraction(said["link"][name]) for name in ("latency_s", "bytes_per_s"))
    meeting = sum((latency + Fraction(outer, n) / rate for _ in range(2 * (n - 1))), Fraction(0))
    work = h * Fraction(said["step_s"])
    return work / (work + meeting)


def test_the_fewest_steps_reach_the_goal_and_one_less_does_not() -> None:
    for case, said, expected in _given(BYTES_SAVED):
        if said["parameters"] > 10**8 and said["block"]:
            said = said | {"block": 0}
            expected = BYTES_SAVED.reference({"arguments": said}, case)
        if said["parameters"] / max(said["block"], 1) > 10**5 and said["block"]:
            continue
        h = expected["fewest"]
        assert _round(said, h) >= Fraction(said["goal"]), case.name
        assert h == 1 or _round(said, h - 1) < Fraction(said["goal"]), case.name


def test_five_hundred_times_less_crosses_with_h_of_125_and_a_byte() -> None:
    said = BYTES_SAVED.inputs(np.random.default_rng(0), BYTES_SAVED.cases[0])["arguments"]
    said = said | {"h": 125, "width": 1, "block": 0}
    found = BYTES_SAVED.reference({"arguments": said}, BYTES_SAVED.cases[0])
    assert found["dp"] / found["diloco"] == pytest.approx(500)


# model_size_overhead


def _loss(law: dict, parameters: float, tokens: float) -> float:
    return law["A"] / parameters ** law["alpha"] + law["B"] / tokens ** law["beta"]


def test_no_other_run_of_as_many_flop_has_a_lower_loss() -> None:
    for _, said, _ in _given(MODEL_SIZE_OVERHEAD):
        law, flop = said["law"], said["flop"]
        parameters, tokens = best(law, flop)
        assert 6 * parameters * tokens == pytest.approx(flop, rel=1e-12)
        least = _loss(law, parameters, tokens)
        for factor in np.geomspace(0.01, 100, 101):
            assert _loss(law, parameters * factor, tokens / factor) >= least * (1 - 1e-12)


def test_both_runs_have_the_same_loss_and_the_overhead_is_that_of_their_flop() -> None:
    for case, said, expected in _given(MODEL_SIZE_OVERHEAD):
        law, least = said["law"], _loss(said["law"], *best(said["law"], said["flop"]))
        parameters, tokens = expected["parameters"], expected["tokens"]
        assert _loss(law, parameters, tokens) == pytest.approx(least, rel=1e-9), case.name
        more = 6 * parameters * tokens / said["flop"] - 1
        assert expected["overhead"] == pytest.approx(more, rel=1e-9, abs=1e-9), case.name


def test_solving_one_way_and_back_comes_to_the_same_run() -> None:
    for case, said, expected in _given(MODEL_SIZE_OVERHEAD):
        law, flop = said["law"], said["flop"]
        if expected["tokens"] / best(law, flop)[1] > 1e9 or (said["k_d"] or 0) > 1e9:
            continue  # where nearly nothing is left, nothing can be found back
        if (said["k_n"] or 0) > 1e6:
            continue
        back = counted(law, flop, None, expected["tokens"] / best(law, flop)[1])
        assert back[0] == pytest.approx(expected["parameters"], rel=1e-6), case.name


@pytest.mark.parametrize(("k_n", "percent"), [(0.75, 2.8), (0.5, 20.8), (0.25, 188.9)])
def test_the_curve_of_the_post(k_n: float, percent: float) -> None:
    assert 100 * counted(CURVE, 1e22, k_n, None)[2] == pytest.approx(percent, abs=0.06)


def _message(puzzle: PythonPuzzle, body: str, folder: Path) -> str:
    """What somebody is told whose function has one line, on one line."""
    (function,) = puzzle.functions
    answer = folder / "answer.py"
    names = ", ".join(puzzle.parameters[function])
    answer.write_text(f"def {function}({names}):\n    {body}\n", encoding="utf-8")
    return " ".join(check(puzzle, answer=answer).message.split())


def test_the_law_is_told_to_whoever_has_to_work_a_case_out(tmp_path: Path) -> None:
    """And it is the printed one: the lesson asks later which one the post had."""
    said = _message(MODEL_SIZE_OVERHEAD, "return 1e9, 2e10, 0.0", tmp_path)
    assert "'A': 406.4, 'B': 410.7, 'alpha': 0.32, 'beta': 0.28}, flop=1e+23, k_n=0.5" in said
    text = (SOLUTIONS / f"{MODEL_SIZE_OVERHEAD.name}.md").read_text(encoding="utf-8")
    for found in (CURVE["alpha"], CURVE["beta"]):
        assert str(found) not in said and str(found) not in text


@pytest.mark.parametrize("puzzle", [BYTES_SAVED, ATTENTION_SHARE, RUN_COST])
def test_nothing_that_comes_back_is_called_none(puzzle: PythonPuzzle, tmp_path: Path) -> None:
    said = _message(puzzle, "pass", tmp_path)
    assert f"{puzzle.short_name} returned None and not (" in said
    assert "A function that ends without `return` gives None." in said


# attention_share


def test_shares_are_those_of_the_shapes_of_lesson_11() -> None:
    """Where every token meets all: `Transformer.forward_flop` counts so."""
    for case, said, expected in _given(ATTENTION_SHARE):
        shape = Transformer(
            1, said["hidden"], said["heads"], said["kv_heads"], said["head_size"], said["mlp"],
            said["gated"], experts=said["top_k"], top_k=said["top_k"],
        )  # fmt: skip
        met = said["sequence"]
        flop = shape.forward_flop(met)
        pairs = flop["scores"] * ((met + 1) / 2 / met if said["causal"] else 1)
        share = pairs / (pairs + flop["attention"] + flop["MLP"])
        assert expected["share"] == pytest.approx(share, rel=1e-12), case.name


def test_the_crossover_is_the_first_length_of_half_or_more() -> None:
    for case, said, expected in _given(ATTENTION_SHARE):
        for off, enough in ((0, True), (-1, False)):
            sequence = expected["crossover"] + off
            at = ATTENTION_SHARE.reference({"arguments": said | {"sequence": sequence}}, case)
            assert sequence > 0 and (at["share"] >= 0.5) is enough, case.name


# run_cost


def test_every_pair_is_the_least_and_the_most_of_all_corners() -> None:
    for case, said, expected in _given(RUN_COST):
        found = []
        for mfu, goodput, watts, price in itertools.product(
            said["mfu"], said["goodput"], said["watts"], said["price"]
        ):
            hours = 0.0
            for stage in said["stages"]:
                seconds = stage.get("tokens", 0) * stage.get("flop_per_token", 0) / said["peak"]
                hours += stage.get("gpu_hours", seconds / mfu / goodput / 3600)
            days = hours / said["gpus"] / 24
            found.append((hours, days, hours * watts * said["pue"] / 1e3, hours * price))
        for name, each in zip(
            ("gpu_hours", "days", "kwh", "dollars"), zip(*found, strict=True), strict=True
        ):
            wanted = (min(each), max(each))
            assert expected[name] == pytest.approx(wanted, rel=1e-9), (case.name, name)


def test_deepseek_v3_has_its_hours_and_its_dollars() -> None:
    said = VISIBLE | DEEPSEEK_V3
    found = RUN_COST.reference({"arguments": said}, RUN_COST.cases[0])
    assert found["gpu_hours"] == (2_788_000.0,) * 2
    assert found["dollars"] == (5.576e6,) * 2
    assert math.isclose(found["days"][0], 56.7, rel_tol=0.01)


def test_an_argument_that_was_changed_is_called_by_its_name(tmp_path: Path) -> None:
    text = (SOLUTIONS / f"{RUN_COST.name}.py").read_text(encoding="utf-8")
    answer = tmp_path / "run_cost.py"
    popped = text.replace('stage["gpu_hours"]', 'stage.pop("gpu_hours")')
    answer.write_text(popped, encoding="utf-8")
    verdict = check(RUN_COST, answer=answer, seed=0)
    assert verdict.reason == "input-changed"
    assert verdict.message.startswith("the input stages was changed: was [")
