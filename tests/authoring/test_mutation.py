"""Mutants as a table of (kernel's body, kind, the bodies it becomes), and a hole that is found."""

from __future__ import annotations

import ast
import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from authoring import __main__ as commands
from authoring.mutation import Mutant, describe, mutants_of, row_of, table_text
from authoring.mutation.table import PYTHON_KINDS, chosen
from gpu_course.errors import CourseError
from gpu_course.puzzle import Case, KernelPuzzle, Puzzle, PythonPuzzle, index
from gpu_course.puzzle.builders import arrays, enough_blocks

GUARDED = "if {}:\n    out[0] = 1"
LOOP = "for k in {}:\n    out[k] = 1"
BARRIER = "cuda.syncthreads()"
EITHER = "if n:\n    out[0] = 1\nelse:\n    out[0] = 2"

TABLE: list[tuple[str, str, list[str]]] = [
    (f"{BARRIER}\nout[0] = 1", "barrier-dropped", ["out[0] = 1"]),
    (f"{BARRIER}\nout[0] = 1", "barrier-of-a-warp", ["cuda.syncwarp()\nout[0] = 1"]),
    ("cuda.syncwarp()\nout[0] = 1", "barrier-dropped", ["out[0] = 1"]),
    ("grid = cuda.cg.this_grid()\ngrid.sync()", "barrier-dropped", ["grid = cuda.cg.this_grid()"]),
    ("cuda.threadfence()\nout[0] = 1", "fence-dropped", ["out[0] = 1"]),
    (GUARDED.format("n"), "guard-dropped", ["out[0] = 1"]),
    (GUARDED.format("n"), "guard-inverted", [GUARDED.format("not n")]),
    (GUARDED.format("n and a"), "half-dropped", [GUARDED.format("a"), GUARDED.format("n")]),
    (
        GUARDED.format("n and a"),
        "half-inverted",
        [GUARDED.format("not n and a"), GUARDED.format("n and not a")],
    ),
    (GUARDED.format("n and a"), "and-or", [GUARDED.format("n or a")]),
    (
        GUARDED.format("0 <= n < 3"),
        "half-dropped",
        [GUARDED.format("0 <= n"), GUARDED.format("n < 3")],
    ),
    (EITHER, "guard-dropped", ["out[0] = 1"]),
    (EITHER, "else-kept", ["out[0] = 2"]),
    (EITHER, "else-dropped", ["if n:\n    out[0] = 1"]),
    (
        f"{GUARDED.format('n')}\n{BARRIER}",
        "barrier-in-guard",
        [f"{GUARDED.format('n')}\n    {BARRIER}"],
    ),
    (
        f"{BARRIER}\n{GUARDED.format('n')}",
        "barrier-in-guard",
        [f"if n:\n    {BARRIER}\n    out[0] = 1"],
    ),
    ("out[0] = a[n]", "index-later", ["out[1] = a[n]", "out[0] = a[n + 1]"]),
    ("out[0] = a[n + 1]", "index-earlier", ["out[-1] = a[n + 1]", "out[0] = a[n]"]),
    ("out[n, 2] = 0", "index-later", ["out[n + 1, 2] = 0", "out[n, 3] = 0"]),
    ("out[n, 2] = 0", "indices-swapped", ["out[2, n] = 0"]),
    ("cuda.atomic.add(out, n, 1)", "index-earlier", ["cuda.atomic.add(out, n - 1, 1)"]),
    ("cuda.atomic.add(out, n, 1)", "atomic-to-plain", ["out[n] = out[n] + 1"]),
    ("cuda.atomic.max(out, n, 1)", "atomic-to-plain", ["out[n] = max(out[n], 1)"]),
    ("old = cuda.atomic.add(out, n, 1)", "atomic-to-plain", ["old = out[n]\nout[n] = out[n] + 1"]),
    ("cuda.atomic.add(out, n, 1)", "function", ["cuda.atomic.sub(out, n, 1)"]),
    (
        "tile = cuda.shared.array((4, 5), n)",
        "array-smaller",
        ["tile = cuda.shared.array((3, 5), n)", "tile = cuda.shared.array((4, 4), n)"],
    ),
    ("out[n] = a[n]", "other-array", ["a[n] = a[n]", "out[n] = out[n]"]),
    ("out[n, 0] = a[n]", "other-array", []),
    (
        "j = 0\nout[j] = a[0] - n",
        "other-name",
        ["j = 0\nout[n] = a[0] - n", "j = 0\nout[j] = a[0] - j"],
    ),
    (LOOP.format("range(n)"), "loop-starts-late", [LOOP.format("range(1, n)")]),
    (LOOP.format("range(n)"), "loop-ends-early", [LOOP.format("range(0, n - 1)")]),
    (LOOP.format("range(2, n, 3)"), "loop-ends-late", [LOOP.format("range(2, n + 3, 3)")]),
    (LOOP.format("range(2, n, 3)"), "loop-starts-late", [LOOP.format("range(2 + 3, n, 3)")]),
    (LOOP.format("a"), "loop-ends-early", [LOOP.format("list(a)[:-1]")]),
    ("while n:\n    n -= 1", "loop-once", ["if n:\n    n -= 1"]),
    ("n += 2", "operator", ["n -= 2"]),
    ("n += 2", "update-to-store", ["n = 2"]),
    ("n = 3 * n", "operator", ["n = 3 + n"]),
    ("n = 3 - n", "operands-swapped", ["n = n - 3"]),
    ("n = 3 + n", "operands-swapped", []),
    ("n = 3 - n", "operand-dropped", ["n = 3", "n = n"]),
    ("n = -n", "operator-dropped", ["n = n"]),
    (GUARDED.format("n < 3"), "comparison", [GUARDED.format("n <= 3"), GUARDED.format("n > 3")]),
    (GUARDED.format("n == 3"), "comparison", [GUARDED.format("n != 3")]),
    ("n = 7", "constant", ["n = 8", "n = 6"]),
    ("n = 0.5", "constant", ["n = 1.5", "n = -0.5"]),
    ("n = True", "constant", ["n = False"]),
    ("n = min(n, 3)", "function", ["n = max(n, 3)"]),
    ("n = min(n, 3)", "operand-dropped", ["n = n", "n = 3"]),
    ("n = 1 if n else 2", "choice-inverted", ["n = 2 if n else 1"]),
    ("n = 1 if n else 2", "choice-dropped", ["n = 1", "n = 2"]),
    ("n = math.sqrt(n)", "call-dropped", ["n = n"]),
    ("a = a.clone().T", "call-dropped", ["a = a.T"]),
    ("n = torch.get_rng_state()", "call-dropped", []),
    (
        "with a, n:\n    out[0] = 1",
        "context-dropped",
        [f"with {kept}:\n    out[0] = 1" for kept in "an"],
    ),
    ("with a:\n    out[0] = 1", "context-dropped", ["out[0] = 1"]),
    ("n = cuda.threadIdx.x", "axis", ["n = cuda.threadIdx.y"]),
    ("n = cuda.blockDim.y", "name", ["n = cuda.gridDim.y"]),
    ("n, m = cuda.grid(2)", "targets-swapped", ["m, n = cuda.grid(2)"]),
    ("n = 1\nout[0] = n", "statement-dropped", ["out[0] = n", "n = 1"]),
    ("n = 1\nm = n", "return-early", ["return\nn = 1\nm = n", "n = 1\nreturn\nm = n"]),
]


def program(body: str, parameters: str = "out, a, n") -> str:
    return f"def k({parameters}):\n{textwrap.indent(body, '    ')}\n"


def of_kind(solution: str, kind: str) -> list[Mutant]:
    return [mutant for mutant in mutants_of(solution) if mutant.kind == kind]


@pytest.mark.parametrize(("body", "kind", "bodies"), TABLE)
def test_what_a_kind_of_mutant_is(body: str, kind: str, bodies: list[str]) -> None:
    found = {mutant.text for mutant in of_kind(program(body), kind)}
    wanted = {ast.unparse(ast.parse(program(changed))) for changed in bodies}
    assert wanted == found


@pytest.mark.series(1 / 8)
@pytest.mark.parametrize("puzzle", index.puzzles(), ids=lambda puzzle: puzzle.name)
def test_the_mutants_of_the_course(puzzle: Puzzle) -> None:
    solution = (Path(__file__).parents[2] / "solutions" / f"{puzzle.name}.py").read_text("utf-8")
    found = mutants_of(solution)
    texts = {ast.dump(ast.parse(mutant.text)) for mutant in found}  # each is legal Python
    assert len(texts) == len(found) == len({mutant.name for mutant in found}) > 5
    assert ast.dump(ast.parse(solution)) not in texts


def test_a_name_stays_when_comments_and_other_lines_change() -> None:
    before = program("i = cuda.grid(1)\nif i < n:\n    out[i] = a[i] + 1")
    after = '"""A kernel."""\n\n# what follows is short\n' + before.replace(
        "    if i", "    # the guard\n\n    j = 3\n    if i"
    )
    kept = {mutant.name for mutant in mutants_of(before)}
    assert kept <= {mutant.name for mutant in mutants_of(after)}
    assert "k:guard-dropped:if i < n:" in kept
    assert "k:index-later:out[i] = a[i + 1] + 1" in kept


def test_two_lines_that_read_alike_have_names_of_their_own() -> None:
    found = of_kind(program("out[0] = 1\nn = 2\nout[0] = 1"), "statement-dropped")
    assert [mutant.name for mutant in found] == [
        "k:statement-dropped:out[0] = 1",
        "k:statement-dropped:n = 2",
        "k:statement-dropped:out[0] = 1 #2",
    ]


SOLUTION = """from numba import cuda


@cuda.jit
def half(out, a, size):
    i = cuda.grid(1)
    # answer
    if i < size:
        out[i] = a[i] * 0.5
    # end answer
"""
PUZZLE = KernelPuzzle(
    name="91_mutants/half",
    title="half",
    statement="Put half of a[i] into out[i].",
    parameters={"half": ("out", "a", "size")},
    cases=(Case("visible example", {"size": 10, "block": 4}, visible=True),),
    random_case=lambda rng: Case("at random", {"size": 31, "block": 16}),
    inputs=arrays("size", a="size"),
    launches=enough_blocks("half", "out", "a", "size"),
    reference=lambda inputs, case: {"out": inputs["a"] / np.float32(2)},
    hints=("weak", "stronger", "strongest"),
)
HOLED = replace(
    PUZZLE,
    # Blocks that divide the size: nobody is turned away, so the guard is not asked for.
    cases=(Case("visible example", {"size": 8, "block": 4}, visible=True),),
    random_case=lambda rng: Case("at random", {"size": 32, "block": 16}),
)
DROPPED = "half:guard-dropped:if i < size:"


PYTHON_SOLUTION = """def first_and_last(numbers):
    first = last = 0
    # answer
    first = numbers[0]
    # end answer
    for number in numbers:
        # answer
        last = number * 1
        # end answer
    return first, last
"""
PYTHON_PUZZLE = PythonPuzzle(
    name="91_mutants/first_and_last",
    title="first and last",
    statement="Return the first number and the last.",
    parameters={"first_and_last": ("numbers",)},
    cases=PUZZLE.cases,
    random_case=PUZZLE.random_case,
    inputs=lambda rng, case: {"numbers": rng.normal(size=case.sizes["size"]).tolist()},
    reference=lambda inputs, case: {"result": (inputs["numbers"][0], inputs["numbers"][-1])},
    hints=PUZZLE.hints,
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    file = tmp_path / "solutions" / f"{PUZZLE.name}.py"
    file.parent.mkdir(parents=True)
    file.write_text(SOLUTION)
    return tmp_path


def test_a_sound_puzzle_rejects_them_all(checkout: Path) -> None:
    row = row_of(PUZZLE, checkout)
    assert row.complete and describe(row, SOLUTION) == []
    assert row.total == len(row.killed) == len(mutants_of(SOLUTION))
    assert row.killed[DROPPED] == "hazard"
    assert row.killed["half:constant:out[i] = a[i] * 1.5"] == "wrong-result"


def test_a_planted_hole_is_found_and_shown(checkout: Path) -> None:
    row = row_of(HOLED, checkout)
    assert not row.complete
    assert DROPPED in {mutant.name for mutant in row.survived}
    shown = describe(row, SOLUTION)
    assert f"91_mutants/half: the grader passes {DROPPED!r}" in shown
    assert "    -    if i < size:" in shown


def test_an_equivalent_mutant_is_listed_by_name(checkout: Path) -> None:
    survived = {
        mutant.name: "every thread has a cell" for mutant in row_of(HOLED, checkout).survived
    }
    row = row_of(replace(HOLED, equivalent_mutants=survived), checkout)
    assert row.complete
    assert set(row.equivalent) == set(survived)
    assert len(row.killed) + len(row.equivalent) == row.total


def test_a_listed_name_that_nothing_carries_is_found(checkout: Path) -> None:
    listed = {DROPPED: "it is rejected, so it is no equivalent", "half:gone:x": "no such line"}
    row = row_of(replace(PUZZLE, equivalent_mutants=listed), checkout)
    assert not row.complete
    assert row.mislaid == (DROPPED, "half:gone:x")
    assert "no mutant that passes is called 'half:gone:x'" in describe(row, SOLUTION)[1]


def test_the_graders_own_failure_is_no_kill(checkout: Path) -> None:
    def broken(*_: object) -> dict[str, np.ndarray]:
        raise ZeroDivisionError("a slip in the catalogue")

    row = row_of(replace(PUZZLE, reference=broken), checkout)
    assert not row.complete
    judged = [reason for reason in row.killed.values() if reason not in ("refused", "not-started")]
    assert judged == [] and row.failed
    assert "a slip in the catalogue" in "\n".join(describe(row, SOLUTION))


def test_of_a_python_solution_only_the_answer_is_changed() -> None:
    assert {mutant.name for mutant in chosen(PYTHON_PUZZLE, PYTHON_SOLUTION)} == {
        "first_and_last:statement-dropped:first = numbers[0]",
        "first_and_last:return-early:before first = numbers[0]",
        "first_and_last:index-later:first = numbers[1]",
        "first_and_last:index-earlier:first = numbers[-1]",
        "first_and_last:statement-dropped:last = number * 1",
        "first_and_last:return-early:before last = number * 1",
        "first_and_last:operator:last = number + 1",
        "first_and_last:operand-dropped:last = number",
        "first_and_last:operand-dropped:last = 1",
        "first_and_last:constant:last = number * 2",
        "first_and_last:constant:last = number * 0",
    }
    assert chosen(PUZZLE, SOLUTION) == mutants_of(SOLUTION)


def test_the_kinds_of_python_are_kinds_there_are() -> None:
    assert {kind for _, kind, _ in TABLE} >= PYTHON_KINDS


def test_a_puzzle_without_a_solution(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="91_mutants/half has no solution"):
        row_of(PUZZLE, tmp_path)


def test_the_table_adds_up(checkout: Path) -> None:
    rows = [row_of(PUZZLE, checkout), row_of(HOLED, checkout)]
    head, *body = [line.split() for line in table_text(rows).splitlines()]
    assert head[0] == "puzzle" and head[-2:] == ["equivalent", "survived"]
    numbers = np.array([line[1:] for line in body], int)
    assert (numbers[:-1].sum(axis=0) == numbers[-1]).all()
    assert (numbers[:, 0] == numbers[:, 1:].sum(axis=1)).all()
    assert numbers[0, -1] == 0 < numbers[1, -1]


def test_the_command(checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: object) -> None:
    monkeypatch.setattr(commands, "find_root", lambda: checkout)
    monkeypatch.setattr(index, "puzzles", lambda: (PUZZLE,))
    assert commands.main(["mutants"]) == 0
    assert commands.main(["mutants", "--list", "--only", "half"]) == 0
    printed = capsys.readouterr().out  # type: ignore[attr-defined]
    assert f"{DROPPED}    hazard" in printed
    monkeypatch.setattr(index, "puzzles", lambda: (HOLED,))
    assert commands.main(["mutants"]) == 1


def test_a_finally_that_loses_its_statement_is_still_python() -> None:
    body = "try:\n        use(i)\n    finally:\n        done(i)"
    texts = [mutant.text for mutant in mutants_of(f"def kernel(i):\n    {body}\n")]
    assert any("finally:\n        pass" in text for text in texts)
    assert all(ast.parse(text) for text in texts)
