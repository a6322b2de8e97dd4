"""The puzzles of lesson 11 against real PyTorch models, a counter, and digits others printed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from gpu_course.lessons.counting import days, flops, mfu, parameters
from gpu_course.lessons.counting.decoder import counted_flop, parameters_of
from gpu_course.lessons.counting.foundry import WITHIN, runs
from gpu_course.measure.threads import one_thread
from gpu_course.measure.transformer_shapes import AGAIN, Transformer
from gpu_course.puzzle import index
from gpu_course.puzzle.harness.refusing import REFUSED
from gpu_course.puzzle.specification import Case, PythonPuzzle
from tests.course.puzzles.by_hand import SOLUTIONS
from tests.course.puzzles.python_rules import solution_of

LESSON = index.lesson("counting")
PUZZLES = {puzzle.short_name: puzzle for puzzle in LESSON.puzzles}


def answer(name: str) -> Any:
    return solution_of(PUZZLES[name])[name]


def given(puzzle: PythonPuzzle, case: Case, seed: int = 4) -> dict[str, Any]:
    return puzzle.inputs(np.random.default_rng(seed), case)


def mistakes(name: str) -> Iterator[tuple[str, str, Any]]:
    """Yields (function, diagnosis, the function itself) of every named mistake."""
    scope: dict[str, Any] = {}
    exec((SOLUTIONS / "11_counting" / "mistakes" / f"{name}.py").read_text(), scope)
    for mistake in PUZZLES[name].mistakes:
        yield mistake.function, mistake.diagnosis, scope[mistake.function]


def test_the_lesson_is_found_and_brings_its_four_puzzles() -> None:
    assert index.lesson("11") is LESSON
    assert list(PUZZLES) == ["parameters", "flops", "mfu", "days"]
    assert sum(puzzle.minutes for puzzle in LESSON.puzzles) < LESSON.minutes


# parameters: a real model of that shape, whose tensors take no memory


@pytest.mark.parametrize("name", parameters.NAMES)
def test_a_count_is_what_pytorch_finds(name: str) -> None:
    shape = parameters.KNOWN[name]
    total, active = answer("parameters")(parameters.config_of(shape))
    assert total == parameters_of(shape)
    # A model with as many experts as a token meets, and the router of all.
    fewer = Transformer.of({**shape.__dict__, "experts": shape.top_k})
    router = shape.layers * (shape.router_weights - fewer.router_weights)
    assert active == parameters_of(fewer) + router


def test_shapes_drawn_at_random_are_what_pytorch_finds() -> None:
    for seed in range(40):
        shape = parameters.drawn_shape(np.random.default_rng(seed))
        if shape.norms > 2:
            continue  # the real layer has two places for norms
        assert answer("parameters")(parameters.config_of(shape))[0] == parameters_of(shape), shape


@pytest.mark.parametrize(("name", "change"), parameters.ODD, ids=[n for n, _ in parameters.ODD])
def test_a_shape_that_cannot_be_is_refused(name: str, change: dict[str, Any]) -> None:
    config = parameters.config_of(parameters.SMALL) | change
    assert parameters.counted(config) == (REFUSED, REFUSED)
    with pytest.raises(ValueError, match=r"."):
        answer("parameters")(config)


# flops: PyTorch's own counter, while a real model runs

COUNTED = {
    "plain": Transformer(2, 16, 2, vocabulary=11),
    "grouped, gated": Transformer(3, 24, 6, 2, head_size=5, mlp=7, gated=True, vocabulary=11),
    "experts": Transformer(2, 16, 4, 1, mlp=9, experts=4, top_k=2, vocabulary=11, tied=True),
    "biases": Transformer(1, 16, 4, vocabulary=5, positions=9, qkv_bias=True, bias=True),
}


@pytest.mark.parametrize("again", AGAIN)
@pytest.mark.parametrize("name", COUNTED)
def test_flop_are_those_that_pytorch_counts(name: str, again: str) -> None:
    shape = COUNTED[name]
    model, machine = answer("flops")(flops.config_of(shape), 2, 9, again)
    with one_thread():
        assert machine == counted_flop(shape, 2, 9, again)
        assert model == counted_flop(shape, 2, 9)


def test_checkpoint_stops_before_a_plain_layers_last_product_and_not_with_experts() -> None:
    plain, experts = COUNTED["plain"], COUNTED["experts"]
    down = plain.layers * 2 * (2 * 9) * plain.inside * plain.hidden
    with one_thread():
        for shape, saved in ((plain, down), (experts, 0)):
            whole, stopped = (
                counted_flop(shape, 2, 9, "layers", early_stop=early) for early in (False, True)
            )
            assert whole - stopped == saved


# mfu: what MosaicML printed


def test_all_rows_of_the_table_have_the_mfu_and_the_hfu_that_are_printed() -> None:
    assert len(runs()) == 216
    for row in runs():
        said = answer("mfu")(**mfu.run_of(row))
        for mine, printed in zip(said, (row.mfu_percent, row.hfu_percent), strict=True):
            assert abs(100 * mine - printed) <= WITHIN * printed
            assert abs(100 * mine - printed) <= 0.0003 * printed + 0.005
        assert row.shape.parameters == row.parameters


def test_each_check_draws_another_half_of_the_table() -> None:
    case = mfu.MFU.random_case(np.random.default_rng(0))
    drawn = [given(mfu.MFU, case, seed)["runs"] for seed in (1, 2)]
    assert [len(each) for each in drawn] == [108, 108]
    assert drawn[0] != drawn[1] and len({repr(run) for run in drawn[0]}) == 108


def test_a_table_of_wrong_numbers_names_the_row_and_what_is_printed() -> None:
    case = mfu.MFU.random_case(np.random.default_rng(0))
    inputs = given(mfu.MFU, case)
    right = [answer("mfu")(**run) for run in inputs["runs"]]
    got = {"mfu": [m for m, _ in right], "hfu": [h for _, h in right]}
    assert mfu.MFU.judge is not None and mfu.MFU.judge(inputs, case, got) is None
    for odd in (got["hfu"][3] * 1.007, None, True, float("nan")):
        told = mfu.MFU.judge(inputs, case, got | {"hfu": [*got["hfu"][:3], odd, *got["hfu"][4:]]})
        assert told is not None and told.key == "table"
        assert told.fact.startswith("hfu is ") and "printed" in told.fact
    short = mfu.MFU.judge(inputs, case, {"mfu": got["mfu"][:2], "hfu": got["hfu"]})
    assert short is not None and "mfu is None" in short.fact


def test_the_largest_model_with_64_layers_is_too_far_off() -> None:
    for row in runs():
        if row.model == "70b":
            share = answer("mfu")(**(mfu.run_of(row) | {"layers": 64}))[0]
            assert 100 * share < row.mfu_percent * (1 - WITHIN)


# days: Table 2 of the paper


@pytest.mark.parametrize("row", days.SC21_TABLE_2)
def test_days_are_those_of_the_paper_and_the_short_formula_is_short(row) -> None:
    layers, hidden, billions, gpus, teraflops = row
    printed = {384: 84, 1536: 23, 560: 156, 2240: 42}[gpus]
    found = answer("days")(
        layers, hidden, 51_200, 2048, billions * 10**9, gpus, teraflops * 1e12, "machine"
    )
    assert abs(found - printed) < 1
    shape = Transformer(layers, hidden, 1, vocabulary=51_200, positions=2048, tied=True)
    short = 8 * shape.parameters * billions * 1e9 / (gpus * teraflops * 1e12) / 86_400
    assert 0.01 < 1 - short / found < 0.03


# what a wrong answer gives in the visible example tells which thought it came from


@pytest.mark.parametrize("name", ["parameters", "flops", "mfu", "days"])
def test_in_the_visible_example_each_thought_has_a_result_of_its_own(name: str) -> None:
    puzzle = PUZZLES[name]
    inputs = given(puzzle, puzzle.cases[0])
    arguments = inputs.get("arguments") or (inputs["runs"][0] if "runs" in inputs else inputs)
    right, found = answer(name)(**arguments), {}
    for function, diagnosis, wrong in mistakes(name):
        try:
            result = wrong(**arguments)
        except ValueError:
            result = REFUSED
        if result != right:
            assert found.setdefault(result, diagnosis) == diagnosis, function
    assert len(found) > 8


def test_a_decoder_is_causal() -> None:
    from gpu_course.lessons.counting.decoder import Decoder

    with torch.random.fork_rng(devices=[]), one_thread(), torch.no_grad():
        torch.manual_seed(1)
        for shape in COUNTED.values():
            model = Decoder(shape)
            tokens = torch.randint(0, shape.vocabulary, (2, 8))
            other = tokens.clone()
            other[:, 5:] = (other[:, 5:] + 1) % shape.vocabulary
            before, after = model(tokens), model(other)
            torch.testing.assert_close(before[:, :5], after[:, :5])
            assert not torch.equal(before[:, 5:], after[:, 5:])
