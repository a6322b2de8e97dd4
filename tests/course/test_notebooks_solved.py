"""The teacher's edition: run again from top to bottom, every stored output compared.

One kernel start serves both editions. What a lesson does differently before anything is answered is
run in the same kernel afterwards: with the stubs, and from an empty namespace.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from authoring.checkout import lesson_sources, read, teacher_notebook
from authoring.execution import answers_copy
from authoring.notebooks import PUZZLE_CELL, build_notebook
from gpu_course.grading.learner import verdict_cache
from gpu_course.grading.seeds import SEED_VARIABLE
from gpu_course.grading.verdicts.sections import fact
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.grading.workspace import ANSWERS_VARIABLE, has_notebook
from gpu_course.puzzle import index
from tests.course.editions import depends_on_answers, with_what_they_need
from tests.course.nbval_run import (
    IGNORED,
    Cells,
    SecondPart,
    cells_to_compare,
    code_cells,
    run_nbval,
    tags,
)

LESSONS = pytest.mark.parametrize(
    "lesson", [lesson.name for lesson in index.lessons() if has_notebook(lesson)]
)

MAX_S = 3600
"""The first test of a lesson runs it whole, which a busy machine does in many minutes."""
pytestmark = [pytest.mark.long(77), pytest.mark.timeout(MAX_S)]

# The calls whose output may be another one each time: what a hand moves, what tells about this
# machine, and what depends on how far a learner is.
CHANGING = {"predict", "explore", "play", "play_touches", "live", "triptych"}
CHANGING |= {"step_through", "replay"}
CHANGING |= {"examine", "bench"}
CHANGING |= {"hint", "progress", "glossary", "forecast", "solved_under_roof"}
CHANGING |= {"measured_rings", "fit_text", "drawn_times", "library_text", "play_chunks"}
CHANGING |= {"own_run", "own_timeline", "own_traffic", "own_grid", "play_own"}
CHANGING |= {"own_buckets", "own_units", "accelerate_text", "fairscale_text"}
CHANGING |= {"own_rounds", "own_lengths"}
CHANGING |= {"try_training"}
CHANGING |= {"in_hand", "cuts"}  # a widget, and what layers take on this machine
CHANGING |= {"timeit"}
CHANGING |= {"beside_sdpa"}  # the last bits of a product
# A text follows the prose that a model was trained on, and so every lesson.
CHANGING |= {"train", "speak", "speak_in_torch", "first_difference", "tokens_with_launches"}
CHANGING |= {"where_it_changes"}
CHANGING |= {"triton_tried", "train_on_own"}  # where Triton or a GPU is, and rounding of a CPU
CHANGING |= {"watched_run", "own_faulty_text"}  # who waits, by a clock
CHANGING |= {"products_here", "all_reduces_here"}  # how fast this machine is
CHANGING |= {"the_board"}  # every lesson's numbers, and one's own record
CHANGING |= {"online_film", "own_film"}
CHANGING |= {"own_line"}  # compiles where a compiler is installed
CHANGING |= {"profiled", "call_table", "show_timeline", "save_trace", "recorded_anew", "show_sweep"}
CHANGING |= {
    "show_memory",
    "three_times",
    "roofline_of_this_cpu",
    "show_look_back",
    "show_activity",
    "show_scan",
}
MACHINE = re.compile(
    r"(?<![\w.])(/tmp/|/home/|/root/|/Users/|/var/folders/|/usr/|/opt/|[A-Z]:\\\\)|site-packages"
)


@pytest.fixture
def solved(root: Path, lesson: str) -> NotebookNode:
    """The stored notebook of one lesson."""
    return nbformat.read(teacher_notebook(root, lesson), as_version=4)


@pytest.fixture(scope="session")
def verdicts(tmp_path_factory: pytest.TempPathFactory, solutions: dict[str, str]) -> Path:
    """What `progress()` keeps where all solutions have passed, as `test_solutions.py` sees to.

    It spares each kernel a check of the whole course. A `%%puzzle` cell checks its answer always.
    """
    folder = tmp_path_factory.mktemp("verdicts")
    with answers_copy(solutions, verdicts=folder) as answers, pytest.MonkeyPatch.context() as patch:
        patch.setenv(ANSWERS_VARIABLE, str(answers))
        patch.setenv(SEED_VARIABLE, "0")
        said = tuple(fact("passed"))
        for puzzle in index.puzzles():
            passed = Verdict(puzzle.name, "passed", None, puzzle.points, puzzle.points, said)
            verdict_cache.keep(verdict_cache.key_of(puzzle), puzzle, passed)
    return folder


@pytest.fixture(scope="session")
def run(
    root: Path, solutions: dict[str, str], stubs: dict[str, str], verdicts: Path, fonts: None
) -> Callable[[str], Cells]:
    """Runs a lesson once for all tests: its teacher's edition, then what depends on the answers."""
    done: dict[str, Cells] = {}

    def run(lesson: str) -> Cells:
        if lesson not in done:
            sources = learners_cells(lesson, root, stubs)
            added = with_what_they_need(sources, depends_on_answers(sources))
            done[lesson] = run_nbval(
                nbformat.read(teacher_notebook(root, lesson), as_version=4),
                solutions,
                verdicts,
                SecondPart([sources[number] for number in added], stubs),
            )
        return done[lesson]

    return run


def learners_cells(lesson: str, root: Path, stubs: dict[str, str]) -> list[str]:
    """The code cells of a lesson, its puzzles as stubs."""
    notebook = build_notebook(lesson, read(lesson_sources(root)[lesson]), stubs)
    return [cell.source for cell in code_cells(notebook)]


@LESSONS
def test_stored_outputs_are_those_of_a_fresh_run(
    lesson: str, solved: NotebookNode, run: Callable[[str], Cells]
) -> None:
    cells, own = run(lesson), list(range(len(code_cells(solved))))
    assert {cells.outcomes[number] for number in own} == {"passed"}, cells.text
    assert cells.passed[: len(own)] == own
    # nbval passes a cell it has nothing to compare with; these are the ones it did compare.
    assert cells.with_compared_text == cells_to_compare(solved)
    assert len(cells.with_compared_text) > 0


@LESSONS
def test_what_depends_on_the_answers_runs_clean_before_anything_is_answered(
    lesson: str, solved: NotebookNode, run: Callable[[str], Cells], stubs: dict[str, str]
) -> None:
    cells, own = run(lesson), len(code_cells(solved))
    added = {number: end for number, end in cells.outcomes.items() if number >= own}
    assert len(added) > len(index.lesson(lesson).puzzles)
    assert set(added.values()) == {"passed"}, cells.text
    # A shipped cell holds the stub: it writes nothing.
    assert cells.after == stubs


@LESSONS
def test_no_other_cell_looks_at_the_answers(
    lesson: str, root: Path, stubs: dict[str, str], run: Callable[[str], Cells]
) -> None:
    sources = learners_cells(lesson, root, stubs)
    looked_at = [each for each in run(lesson).looked_at if each[0] < len(sources)]
    depending = depends_on_answers(sources)
    assert [each for each in looked_at if each[0] not in depending] == []
    puzzles = {number for number, source in enumerate(sources) if PUZZLE_CELL.match(source)}
    assert puzzles <= {number for number, _ in looked_at}


@LESSONS
def test_every_code_cell_was_run_in_order(lesson: str, solved: NotebookNode) -> None:
    counts = [cell.execution_count for cell in code_cells(solved)]
    assert counts == list(range(1, len(counts) + 1))


@LESSONS
def test_only_cells_that_may_change_are_left_out(lesson: str, solved: NotebookNode) -> None:
    for cell in code_cells(solved):
        if tags(cell) & IGNORED:
            assert _calls(cell.source) & CHANGING, cell.source
        assert "NBVAL_" not in cell.source, "say it by a tag, where it is seen"


@LESSONS
def test_stored_text_holds_nothing_of_the_machine(lesson: str, solved: NotebookNode) -> None:
    for cell in code_cells(solved):
        for text in _texts(cell):
            assert MACHINE.search(text) is None, text


@LESSONS
def test_every_puzzle_of_the_lesson_is_seen_to_pass(lesson: str, solved: NotebookNode) -> None:
    wanted = {puzzle.short_name for puzzle in index.lesson(lesson).puzzles}
    passed = set()
    for cell in code_cells(solved):
        match = PUZZLE_CELL.match(cell.source)
        if match and any("passed" in text for text in _texts(cell)):
            passed.add(match[1])
    assert passed == wanted


def _calls(source: str) -> set[str]:
    """Returns the names of what a cell calls; a magic line calls nothing."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return set()
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = {call.id for call in calls if isinstance(call, ast.Name)}
    return names | {call.attr for call in calls if isinstance(call, ast.Attribute)}


def _texts(cell: NotebookNode) -> list[str]:
    texts = []
    for output in cell.outputs:
        if output.output_type == "stream":
            texts.append(output.text)
        for kind, data in output.get("data", {}).items():
            if kind.startswith("text/"):
                texts.append(re.sub(r"base64,[A-Za-z0-9+/=\s]+", "base64,", data))
    return texts
