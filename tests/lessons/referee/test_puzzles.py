"""What is particular to the puzzles of lesson 31."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from gpu_course.grading.check import check
from gpu_course.lessons.referee.consistency import Printed, Rule, span, spans, sum_of, suspects
from gpu_course.lessons.referee.dimensions import DIMENSIONS, SOUND, units_of
from gpu_course.lessons.referee.find_the_slip import FIND_THE_SLIP, KNOWN
from gpu_course.lessons.referee.printed_tables import TABLES
from gpu_course.lessons.referee.relabel import RELABEL
from gpu_course.lessons.referee.units_of import PRINTED, UNITS, Formula
from gpu_course.planner.playbook import playbook_runs
from gpu_course.puzzle import index
from gpu_course.puzzle.specification import PythonPuzzle
from tests.course.puzzles.by_hand import SOLUTIONS

PUZZLES = (DIMENSIONS, FIND_THE_SLIP, RELABEL)


def test_the_lesson_is_found_by_its_number_and_its_topic() -> None:
    lesson = index.lesson("31")
    assert lesson is index.lesson("referee")
    assert [puzzle.short_name for puzzle in lesson.puzzles] == [
        "dimensions", "find_the_slip", "relabel",
    ]  # fmt: skip


@pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: puzzle.short_name)
@pytest.mark.parametrize("seed", range(3))
def test_a_solution_passes_whatever_is_drawn(puzzle: PythonPuzzle, seed: int) -> None:
    verdict = check(puzzle, answer=SOLUTIONS / f"{puzzle.name}.py", seed=seed)
    assert verdict.passed, verdict.message


# Units: a sound formula changes by a known factor when its base units do.


def value(formula: Formula, numbers: dict[str, float]) -> float:
    if isinstance(formula, str):
        return numbers[formula]
    if not isinstance(formula, tuple):
        return float(formula)
    operation, left, right = formula
    one, two = value(left, numbers), value(right, numbers)
    return {
        "+": lambda: one + two, "-": lambda: one - two, "*": lambda: one * two,
        "/": lambda: one / two, "^": lambda: one**two, "max": lambda: max(one, two),
    }[operation]()  # fmt: skip


@pytest.mark.parametrize("formula", [f for f in SOUND.values() if "=" not in str(f)], ids=str)
def test_a_formula_is_worth_as_much_in_other_units(formula: Formula) -> None:
    rng = np.random.default_rng(31)
    bases = sorted({base for unit in UNITS.values() for base in unit})
    larger = dict(zip(bases, rng.uniform(2, 9, len(bases)), strict=True))
    numbers = {name: float(rng.uniform(1, 5)) for name in UNITS}

    def factor(powers: dict[str, float]) -> float:
        return math.prod(larger[base] ** power for base, power in powers.items())

    scaled = {name: numbers[name] * factor(dict(UNITS[name])) for name in UNITS}
    found = units_of(formula, UNITS)
    assert found is not None
    assert value(formula, scaled) == pytest.approx(value(formula, numbers) * factor(found))


def test_printed_formulas_are_what_their_source_is_said_to_be() -> None:
    assert {each.name: units_of(each.formula, UNITS) is not None for each in PRINTED} == {
        each.name: each.sound for each in PRINTED
    }
    assert sum(not each.sound for each in PRINTED) == 3


# Tables: a cell is a suspect where some value of a fine grid mends all rules.


def mends(printed: Printed, rules: list[Rule], cell: str, number: float) -> bool:
    least, most = span(printed[cell])
    half = (most - least) / 2
    known = spans(printed) | {cell: (number - half, number + half)}
    for rule in rules:
        low, high = sum_of(rule, known)
        if low > known[rule[0]][1] * (1 + 1e-12) or high < known[rule[0]][0] * (1 - 1e-12):
            return False
    return True


@pytest.mark.parametrize("name", list(KNOWN))
def test_inside_its_range_a_suspect_mends_the_table_and_outside_it_does_not(name: str) -> None:
    printed, rules = KNOWN[name]
    for cell, (low, high) in (suspects(printed, rules) or {}).items():
        top = min(high, low + 100)
        inside = [low, top] if isinstance(printed[cell], int) else [
            low + part * (top - low) for part in (0.01, 0.5, 0.99)
        ]  # fmt: skip
        for number in inside:
            assert mends(printed, list(rules), cell, number), (cell, number)
        beyond = [low * 0.98 - 0.01] if low > 0.02 else []
        beyond += [high * 1.02 + 0.01] if high < math.inf else []
        for number in beyond:
            assert not mends(printed, list(rules), cell, number), (cell, number)


@pytest.mark.parametrize("name", list(TABLES))
def test_a_cell_that_is_no_suspect_mends_nothing(name: str) -> None:
    table = TABLES[name]
    found = suspects(table.printed, table.rules)
    if found is None:
        return
    for cell, text in table.printed.items():
        if cell not in found:
            grid = [float(text) * factor for factor in np.geomspace(0.02, 50, 41)]
            assert not any(mends(table.printed, list(table.rules), cell, x) for x in grid), cell


def test_eight_real_tables_contradict_themselves_and_two_do_not() -> None:
    found = {name: suspects(table.printed, table.rules) for name, table in TABLES.items()}
    assert sum(each is not None for each in found.values()) == 8
    assert [name for name, each in found.items() if each == {}] == [
        "one run, printed twice", "tokens a second, node by node",
    ]  # fmt: skip


def test_what_llama_3_should_have_printed_follows_from_its_counts() -> None:
    table = TABLES["what stopped Llama 3"]
    found = suspects(table.printed, table.rules)
    assert found is not None
    (low, high) = found["faulty GPU, %"]
    assert low < float(Fraction(14800, 419)) < high


def test_the_cells_of_the_playbook_are_those_of_its_file() -> None:
    runs = [run for run in playbook_runs() if not run.failed]
    rates = {
        (run.nodes, f"{run.tokens_per_s_gpu:.0f}", f"{run.tokens_per_s:.0f}")
        for run in runs
        if (run.model, run.pp, run.tp, run.microbatch, run.zero) == ("3.57B", 8, 2, 1, 1)
    }
    printed = TABLES["tokens a second, node by node"].printed
    for row in "abc":
        gpus = int(printed[f"GPUs {row}"])
        assert (gpus // 8, printed[f"each, {row}"], printed[f"all, {row}"]) in rates
    peaks = {
        f"GiB, DP {run.dp}": str(run.peak_gib)
        for run in runs
        if (run.model, run.tp, run.pp, run.microbatch, run.zero) == ("1.34B", 8, 1, 16, 0)
    }
    assert peaks == TABLES["memory without ZeRO"].printed


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("        return None\n", "        return {}\n", "result is 'a dict', expected 'None'"),
        ("    found = {}\n", "    return None\n", "result is 'None', expected 'a dict'"),
    ],
    ids=["never None", "always None"],
)
def test_a_verdict_on_the_slip_speaks_of_what_was_returned(
    old: str, new: str, said: str, tmp_path: Path
) -> None:
    name = "31_referee/find_the_slip"
    text = (SOLUTIONS / f"{name}.py").read_text(encoding="utf-8")
    assert text.count(old) == 1
    answer = tmp_path / "answer.py"
    answer.write_text(text.replace(old, new), encoding="utf-8")
    assert check(name, answer=answer, seed=0).message.startswith(said)
