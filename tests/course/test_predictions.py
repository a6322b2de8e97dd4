"""Predictions are sealed: before the guess the answer stands nowhere in the lesson."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

from gpu_course.grading.python.cases import Tried
from gpu_course.grading.python.messages import call_of
from gpu_course.notebook.guesses.prediction import Prediction
from gpu_course.puzzle import PythonPuzzle, index
from gpu_course.puzzle.index import lesson, lessons, sealed
from tests.course.sources import SOURCES, Cell, Guess, cells_of, guesses_of

LESSONS = [pytest.param(path, id=path.stem) for path in SOURCES]


def words(text: str) -> str:
    """A text without its marks and line ends, to be searched for sentences."""
    return re.sub(r"[\s>*`]+", " ", text).lower()


def sentences(text: str) -> list[str]:
    """The sentences of a text that are long enough to be told from others."""
    return [s for s in re.split(r"(?<=[.:?])\s+", words(text)) if len(s) > 25]


def gives_away(cells: list[Cell], guess: Guess) -> str:
    """What of a prediction can be read before the guess, "" for nothing."""
    kept = sealed(guess.question)
    if kept is None:
        return "nothing of it lives in the catalogue"
    if guess.told < 0:
        return "no cell compares it"
    if guess.compared is None and (kept.answer is None or callable(kept.answer)):
        return "compare() is given nothing, and the catalogue holds no answer"
    if guess.compared is not None:
        literal = _literal(guess)
        if literal:
            return literal
    between = cells[guess.asked + 1 : guess.told + 1]
    answer = kept.answer
    if isinstance(answer, str):
        prose = words(" ".join(cell.text for cell in between if cell.kind == "markdown"))
        if re.search(rf"\b{re.escape(words(answer))}\b", prose):
            return "the prose before the comparison holds the answer"
        if any(answer in _strings(cell.text) for cell in between if cell.kind == "code"):
            return "a cell before the comparison holds the answer"
    after = next((c for c in cells[guess.told + 1 :] if c.kind == "markdown"), Cell("", ""))
    if after.text.lstrip().startswith(">"):
        return f"what was seen stands below it: {after.text[:60]}"
    return ""


def _literal(guess: Guess) -> str:
    """Why what `compare` is given is a literal in disguise, "" where it is computed."""
    assert guess.compared is not None
    names = {node.id for node in ast.walk(guess.compared) if isinstance(node, ast.Name)}
    calls = [node for node in ast.walk(guess.compared) if isinstance(node, ast.Call)]
    if not names - {guess.choices, "round", "str", "int", "float", "len"}:
        return f"compare({ast.unparse(guess.compared)}) is a literal"
    chosen = [
        node
        for node in ast.walk(guess.compared)
        if isinstance(node, ast.Subscript)
        and ast.unparse(node.value) == guess.choices
        and isinstance(node.slice, ast.Constant)
    ]
    if chosen and not calls:
        return f"compare({ast.unparse(guess.compared)}) picks a choice by its number"
    return ""


def _strings(code: str) -> set[str]:
    tree = ast.parse("" if code.startswith("%%") else code)
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


@pytest.mark.parametrize("path", LESSONS)
def test_nothing_gives_a_prediction_away(path: Path) -> None:
    cells = cells_of(path)
    found = {guess.question: gives_away(cells, guess) for guess in guesses_of(cells)}
    assert {question: why for question, why in found.items() if why} == {}


def shows_before(cells: list[Cell], guess: Guess, shown: dict[str, str]) -> str:
    """What of a prediction a cell shows that is run before the guess, "" for nothing.

    What the cell itself shows that compares waits with the answer, if that cell says it plainly.

    Args:
        cells: of a lesson.
        guess: one of its predictions.
        shown: {source of a code cell: all that a run of it shows, as text}.
    """
    telling = cells[guess.told].text
    if not re.search(r"\b\w+\.compare\(", telling):
        return "the cell that tells the answer calls no compare()"
    right = told_by(shown[telling])
    assert right, telling
    answer = re.escape(right.split()[0] if right[0].isdecimal() else right)
    for cell in cells[guess.asked + 1 : guess.told]:
        if re.search(rf"(?<![\w.,]){answer}(?![\w]|[.,]\d)", shown.get(cell.text, "")):
            return f"{right} stands below {cell.text[:60]}"
    return ""


def told_by(shown: str) -> str:
    """The answer in what a comparison shows, "" where there is none."""
    found = re.search(r"^(?:No guess yet\. )?(?:It|The answer) is (.+)\.$", shown, re.M)
    return found[1].strip("\u201c\u201d") if found else ""


def shown_by_a_puzzle(cells: list[Cell], guess: Guess, right: str) -> str:
    """Which puzzle before the answer shows it in the call of a case, "" for none.

    A number of one or two digits stands everywhere, and counts for nothing.

    Args:
        cells: of a lesson.
        guess: one of its predictions.
        right: its answer, as the comparison says it.
    """
    number = re.match(r"[\d,]*\d(?:\.\d+)?", right)
    if number is None or len(number[0].replace(".", "").replace(",", "").strip("0")) < 3:
        return ""
    forms = "|".join(re.escape(each) for each in (number[0], number[0].replace(",", "")))
    for cell in cells[: guess.told]:
        named = re.match(r"%%puzzle (\w+)", cell.text)
        puzzle = index.find(named[1]) if named else None
        if not isinstance(puzzle, PythonPuzzle):
            continue
        for case in puzzle.cases:
            inputs = puzzle.inputs(np.random.default_rng(0), case)
            said = call_of(puzzle, Tried(case, inputs, {}))
            text = "\n".join(line for section in said for line in section.lines)
            if re.search(rf"(?<![\w.,])(?:{forms})(?![\w]|[.,]\d)", text):
                return f"{right} stands in a case of {puzzle.name}: {case.name}"
    return ""


ELSEWHERE = {
    "Bytes of stack that a thread of the stub takes": {
        "128 of float32": "operations of an SM in a clock",
        "128 / bytes of stack": "registers, in the row above: the stack of that kernel is 0",
        "128 bytes/clock": "the rate of shared memory",
    },
    "Which loss scale makes most gradients normal numbers of fp16?": {
        "65,536 times further down": "how much finer float32 rounds than bfloat16",
    },
    "The order of axes in OSLO's code, innermost first": {
        "tp pp dp: order": "one of all six orders, in an example of a puzzle",
    },
}
"""Question -> {where its answer stands above it: what it says there, which is something else}."""


def stands_above(cells: list[Cell], guess: Guess, right: str, shown: list[str]) -> list[str]:
    """Where the answer of a prediction can be read above the cell that tells it.

    Looked through are the prose and what the cells show. A number counts from three digits on, or
    with its sign where the question asks for percent; words count from three on. What is shorter
    stands everywhere. The choices of other questions are no answers.

    Args:
        cells: of a lesson.
        guess: one of its predictions.
        right: its answer, as the comparison says it.
        shown: what a run of the lesson shows below each cell, as text.
    """
    if (looks := as_it_would_stand(guess.question, right)) is None:
        return []
    found = []
    for cell, below in zip(cells[: guess.told], shown, strict=False):
        asks = re.search(r"\bpredict\(|\bforecast\(", cell.text)
        text = cell.text if cell.kind == "markdown" else "" if asks else below
        found += [around(text, match) for match in re.finditer(looks, text)]
    return found


def as_it_would_stand(question: str, right: str) -> str | None:
    """A pattern of what gives an answer away, None for one that stands everywhere."""
    number = re.fullmatch(r"([\d,]*\d(?:\.\d+)?)(?: [^\s,]+)?", right)
    if number is None:
        return rf"\b{re.escape(right)}\b" if len(right.split()) >= 3 else None
    digits = "|".join(re.escape(each) for each in {number[1], number[1].replace(",", "")})
    alone = rf"(?<![\w.,])(?:{digits})(?![\w]|[.,]\d)"
    if len(re.sub(r"[.,]", "", number[1]).strip("0")) >= 3:
        return alone
    return rf"{alone}\s?(?:%|percent)" if re.search(r"%|percent", f"{question} {right}") else None


def around(text: str, match: re.Match[str]) -> str:
    """What stands round a match, lines apart by a stroke and words by one blank."""
    part = text[max(0, match.start() - 40) : match.end() + 40]
    return " ".join(part.replace("\n", " / ").split())


def shown_by_each(notebook: Path) -> list[str]:
    """What is stored below each cell of a notebook, as text."""
    return [
        "\n".join(
            part.get("text", "") or part.get("data", {}).get("text/plain", "")
            for part in cell.get("outputs", ())
        )
        for cell in nbformat.read(notebook, as_version=4).cells
    ]


@pytest.mark.parametrize("path", LESSONS)
def test_no_answer_stands_above_its_question(path: Path) -> None:
    cells = cells_of(path)
    shown = shown_by_each(path.parents[2] / "solutions" / "notebooks" / f"{path.stem}.ipynb")
    for guess in guesses_of(cells):
        found = stands_above(cells, guess, told_by(shown[guess.told]), shown)
        known = ELSEWHERE.get(guess.question, {})
        assert [each for each in found if not any(words in each for words in known)] == []
        # What is no answer, and is named as such, is still there.
        assert [words for words in known if not any(words in each for each in found)] == []


def test_what_is_no_answer_belongs_to_a_question() -> None:
    assert set(ELSEWHERE) <= {name for each in lessons() for name in each.predictions}


@pytest.mark.parametrize(
    ("question", "right", "text", "leaks"),
    [
        ("Share that is used, in percent", "12.5", "32 sectors,  12.5% used", True),
        ("Share that is used, in percent", "12.5", "112.5 or 12.55", False),
        ("Loaded beyond the results, in percent", "27", "27 % of it, that is", True),
        ("Loaded beyond the results, in percent", "27", "27 cells", False),
        ("How many threads?", "270,336", "270336 threads", True),
        ("How many threads?", "32", "32 threads", False),
        ("What is read?", "whatever lies past it", "So whatever lies past it is read.", True),
        ("What waits?", "launches", "launches wait", False),
    ],
)
def test_an_answer_that_stands_above_is_found(
    question: str, right: str, text: str, leaks: bool
) -> None:
    tell = Cell("code", "guess.compare(found)")
    asked = Cell("code", f"guess = predict({question!r}, choices=[{right!r}])")
    for above, shown in ((Cell("markdown", text), ""), (Cell("code", "run()"), text)):
        cells = [above, asked, tell]
        (guess,) = guesses_of(cells)
        assert bool(stands_above(cells, guess, right, [shown, right, right])) == leaks


def outputs_of(notebook: Path) -> dict[str, str]:
    """{source of a code cell: what is stored below it, as text}."""
    texts = {}
    for cell in nbformat.read(notebook, as_version=4).cells:
        parts = [
            part.get("text", "") or part.get("data", {}).get("text/plain", "")
            for part in cell.get("outputs", ())
        ]
        texts[cell.source] = f"{texts.get(cell.source, '')}\n" + "\n".join(parts)
    return texts


@pytest.mark.parametrize("path", LESSONS)
def test_no_cell_that_is_run_before_the_guess_shows_the_answer(path: Path) -> None:
    cells = cells_of(path)
    shown = outputs_of(path.parents[2] / "solutions" / "notebooks" / f"{path.stem}.ipynb")
    found = {guess.question: shows_before(cells, guess, shown) for guess in guesses_of(cells)}
    assert {question: why for question, why in found.items() if why} == {}


@pytest.mark.parametrize("path", LESSONS)
def test_no_puzzle_shows_the_answer_of_a_prediction_that_comes_later(path: Path) -> None:
    cells = cells_of(path)
    shown = outputs_of(path.parents[2] / "solutions" / "notebooks" / f"{path.stem}.ipynb")
    for guess in guesses_of(cells):
        assert not shown_by_a_puzzle(cells, guess, told_by(shown[cells[guess.told].text]))


def test_an_answer_that_a_puzzle_shows_is_found() -> None:
    puzzle, tell = Cell("code", "%%puzzle find_the_slip"), Cell("code", "guess.compare(third)")
    cells = [puzzle, Cell("code", ASK.text.replace(", answers)", ", choices=answers)")), tell]
    (guess,) = guesses_of(cells)
    assert "three alike" in shown_by_a_puzzle(cells, guess, "20.4 GiB")
    assert not shown_by_a_puzzle(cells, guess, "25.7 GiB")
    assert not shown_by_a_puzzle(cells[1:], guesses_of(cells[1:])[0], "20.4 GiB")


@pytest.mark.parametrize(
    ("printed", "leaks"),
    [("[0 22 1]", True), ("22 threads", True), ("1.22, 220 and 22.5", False), ("", False)],
)
def test_an_answer_that_a_cell_prints_is_found(printed: str, leaks: bool) -> None:
    run, tell = Cell("code", "print(out)"), Cell("code", "print(out)\nguess.compare(without)")
    asking = Cell("code", ASK.text.replace(", answers)", ", choices=answers)"))
    cells = [asking, run, tell]
    shown = {run.text: printed, tell.text: "22\nIt is 22.\n\nIt has 22."}
    assert bool(shows_before(cells, guesses_of(cells)[0], shown)) == leaks


@pytest.mark.parametrize("path", LESSONS)
def test_what_was_seen_stands_in_the_catalogue_alone(path: Path) -> None:
    source = words(path.read_text(encoding="utf-8"))
    kept = lesson(path.stem).predictions
    twice = {s for each in kept.values() for s in sentences(each.seen) if s in source}
    assert not twice


@pytest.mark.parametrize("path", LESSONS)
def test_every_sealed_prediction_is_asked(path: Path) -> None:
    asked = [guess.question for guess in guesses_of(cells_of(path))]
    assert asked == list(dict.fromkeys(asked))
    assert set(asked) == set(lesson(path.stem).predictions)
    assert asked  # a lesson without a guess has lost its rhythm


def test_an_answer_that_is_sealed_is_one_of_the_choices() -> None:
    for path in SOURCES:
        cells = cells_of(path)
        for guess in guesses_of(cells):
            kept = sealed(guess.question)
            if kept is not None and isinstance(kept.answer, str):
                assert kept.answer in _strings(cells[guess.asked].text)


@pytest.mark.parametrize("path", LESSONS)
def test_an_answer_of_a_run_is_one_of_the_choices(path: Path) -> None:
    cells = cells_of(path)
    shown = outputs_of(path.parents[2] / "solutions" / "notebooks" / f"{path.stem}.ipynb")
    for guess in guesses_of(cells):
        if guess.compared is None:
            continue  # The test above looks at an answer that is sealed.
        try:
            choices = ast.literal_eval(guess.choices or "()")
        except ValueError:
            continue  # They are worked out in the lesson, and so is the answer.
        told = told_by(shown[cells[guess.told].text])
        # Under a question that nobody sealed, the answer is the number itself.
        again = Prediction("asked again", choices or None, "")
        number = re.match(r"-?[\d,]+(?:\.\d+)?(?= |$)", told)
        if number and all(isinstance(each, int | float) for each in choices):
            value = float(number[0].replace(",", ""))
            whole = int(value) if value.is_integer() else value
            told = told_by(repr(again.comparison(whole)))
        ways = [told_by(repr(again.comparison(each))) for each in choices]
        assert not choices or told in ways, guess.question


ASK = Cell("code", 'answers = ["red", "blue"]\nguess = predict("Threads without a cell", answers)')


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ([Cell("code", "guess.compare(22)")], "literal"),
        ([Cell("code", "guess.compare('22')")], "literal"),
        ([Cell("code", "guess.compare(round(72 - 5 * 10))")], "literal"),
        ([Cell("code", "guess.compare(answers[1])")], "literal"),
        ([Cell("code", "guess.compare(without)"), Cell("markdown", "> It is so.")], "below it"),
        ([Cell("code", "guess.compare()")], "given nothing"),
        ([Cell("code", "print(22)")], "no cell compares"),
        ([Cell("code", "guess.compare(without)"), Cell("markdown", "Now drag.")], ""),
    ],
)
def test_a_planted_leak_is_found(cells: list[Cell], why: str) -> None:
    asking = Cell("code", ASK.text.replace(", answers)", ", choices=answers)"))
    (guess,) = guesses_of([asking, *cells])
    found = gives_away([asking, *cells], guess)
    assert why in found if why else not found


def test_an_answer_in_prose_or_code_is_found() -> None:
    asking = Cell("code", 'guess = predict("Machine code for 8.0, no PTX. Where does it run?")')
    telling = Cell("code", "guess.compare()")
    for leak in (
        Cell("markdown", "It runs on 8.0, 8.6 and\n8.9, as we shall see."),
        Cell("code", 'print("8.0, 8.6 and 8.9")'),
    ):
        cells = [asking, leak, telling]
        assert "the answer" in gives_away(cells, guesses_of(cells)[0])


def test_every_sentence_is_whole() -> None:
    for each in lessons():
        for question, kept in each.predictions.items():
            assert kept.seen[0].isupper() and kept.seen.rstrip()[-1] in ".?)", question
            assert kept.seen.count("`") % 2 == 0 and kept.seen.count("**") % 2 == 0, question
