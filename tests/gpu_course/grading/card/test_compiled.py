"""`gpu-course compile`: an answer as the compiler sees it, and what is told where there is none."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from gpu_course import commands
from gpu_course.grading import workspace
from gpu_course.grading.card import compiled, compiled_text
from gpu_course.hardware.compiled import compiler, record, toolchain
from gpu_course.hardware.compiled.compiler import CAPABILITIES
from gpu_course.hardware.compiled.listing import Compiled, read_compiled
from gpu_course.hardware.compute_capability import capability as limits_of
from gpu_course.hardware.occupancy import occupancy
from gpu_course.puzzle import KernelPuzzle, index
from tests.sampling import share

SOLUTIONS = Path(__file__).parents[4] / "solutions"
SAMPLE = Path(__file__).parents[2] / "hardware" / "compiled" / "add_ten"
COMPILES = pytest.mark.skipif(not toolchain.has_compiler(), reason="needs the extra compile")
KERNELS = [puzzle.name for puzzle in index.puzzles() if isinstance(puzzle, KernelPuzzle)]
Run = Callable[..., Result]


def sample() -> Compiled:
    names = ("add_ten.ptx", "ptxas.txt", "lines.json", "alive.txt")
    return read_compiled("add_ten", "8.0", *((SAMPLE / n).read_text() for n in names), "ptxas 13.5")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command where add_ten is solved, guard is its stub, and clip is refused by Numba."""
    folder = tmp_path / "puzzles"
    solved, stub = index.find("add_ten").name, index.find("guard").name
    text = (SOLUTIONS / f"{solved}.py").read_text(encoding="utf-8")
    workspace.write_text(folder / f"{solved}.py", text)
    workspace.write_text(folder / f"{stub}.py", workspace.stub_text(stub))
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(folder))
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(commands.app, ["compile", *arguments])


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Any:
        raise toolchain.NoCompiler("no compiler for GPUs is installed here", toolchain.TO_INSTALL)

    monkeypatch.setattr(toolchain, "toolchain", missing)


@pytest.fixture
def a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that knows add_ten alone, as it was once printed."""
    tools = toolchain.Toolchain(
        Path("ptxas"), Path("nvdisasm"), dict.fromkeys(toolchain.WHEELS, "")
    )
    monkeypatch.setattr(toolchain, "toolchain", lambda: tools)
    monkeypatch.setattr(compiled, "compile_kernel", lambda *given: sample())


@pytest.mark.usefixtures("a_compiler")
def test_the_table_has_a_row_for_each_line(run: Run) -> None:
    done = run("add_ten")
    assert done.exit_code == 0, done.output
    assert "10 registers, no spills, no stack, no shared memory" in done.output
    (row,) = (line for line in done.output.splitlines() if "out[i] = a[i] + 10" in line)
    found = sample().by_line
    line = max(found)
    ptx = [t for n, t in sample().ptx if n == line and not t.startswith(".") and t not in "{}"]
    alive = max(each.registers for each in found[line])
    assert row.split()[:4] == [str(line), str(len(ptx)), str(len(found[line])), str(alive)]
    assert max(map(len, done.output.splitlines())) <= 70


@pytest.mark.usefixtures("a_compiler")
@pytest.mark.parametrize(("option", "shown"), [("--sass", "LDG.E R2"), ("--ptx", "ld.global")])
def test_a_listing_stands_below_the_lines_it_is_of(run: Run, option: str, shown: str) -> None:
    lines = run("add_ten", option).output.splitlines()
    at = next(place for place, line in enumerate(lines) if shown in line)
    heads = [line for line in lines[:at] if line.strip().startswith(str(max(sample().by_line)))]
    assert heads and "out[i] = a[i] + 10" in heads[-1]


@pytest.mark.usefixtures("a_compiler")
def test_json_has_it_all(run: Run) -> None:
    (found,) = json.loads(run("add_ten", "--format", "json").output)
    assert found["from"] == "compiler"
    assert (found["registers"], found["instructions"]) == (10, len(found["sass"]))
    fits = occupancy(limits_of("8.0"), 10, 0, found["threads"])
    assert (found["blocks_per_sm"], found["occupancy"]) == (fits.blocks, fits.fraction)
    assert found["sass"][0] == {"line": 17, "registers": 1, "text": sample().instructions[0].text}


@pytest.mark.usefixtures("a_compiler")
def test_what_cannot_be_compiled(run: Run) -> None:
    stub = run("guard")
    assert (stub.exit_code, stub.stdout) == (2, "") and "guard" in stub.stderr
    python = run("occupancy")
    assert python.exit_code == 2 and "asks for no kernel" in python.stderr
    unknown = run("add_ten", "--cc", "8.5")
    assert unknown.exit_code == 2 and "known ones: " in unknown.stderr
    both = run("add_ten", "--ptx", "--sass")
    assert both.exit_code == 2 and "two listings" in both.stderr


@pytest.mark.usefixtures("a_compiler")
@pytest.mark.parametrize(
    "fact",
    [
        "ptxas was not done after 60 s, and was ended",
        "ptxas failed: ptxas fatal : Memory allocation failure",
    ],
)
def test_a_tool_that_fails_is_one_line(
    run: Run, fact: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failed(*given: Any) -> Any:
        raise toolchain.ToolFailed(fact, "")

    monkeypatch.setattr(compiled, "compile_kernel", failed)
    done = run("add_ten")
    assert (done.exit_code, done.stdout, done.stderr.splitlines()) == (2, "", [fact])


REFUSED = "from numba import cuda\n\n\n@cuda.jit\ndef add_ten(out, a):\n    {}\n"


@COMPILES
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (REFUSED.format("out[0] = 1\n    x = [k for k in a]"), "Numba does not compile add_ten: "),
        ("N = 1 // 0\n" + REFUSED.format("out[0] = 1"), "add_ten.py:1 ends with ZeroDivisionError"),
    ],
)
def test_an_answer_that_cannot_be_compiled_is_told_in_a_line(
    run: Run, text: str, said: str
) -> None:
    workspace.write_text(workspace.answer_path(index.find("add_ten")), text)
    done = run("add_ten")
    assert done.exit_code == 2 and done.stdout == ""
    fact, *rest = done.stderr.splitlines()
    assert fact.startswith(said) and [line.split()[0] for line in rest] == ["try:"]


@COMPILES
def test_a_statement_that_is_no_part_of_a_kernel_does_not_run(run: Run) -> None:
    text = "exit(3)\n" + REFUSED.format("out[0] = 1")
    workspace.write_text(workspace.answer_path(index.find("add_ten")), text)
    assert run("add_ten").exit_code == 0


@pytest.mark.usefixtures("no_compiler")
def test_without_a_compiler_the_record_speaks_and_is_named(run: Run) -> None:
    done = run("add_ten", "--cc", "9.0")
    kept = record.figures("00_start_here/add_ten", "add_ten", "9.0")
    assert done.exit_code == 0
    assert "from the record of the course's own solution, not your answer" in done.stdout
    assert f"{kept.registers} registers" in done.stdout
    assert toolchain.TO_INSTALL in done.stderr
    assert run("add_ten", "--sass").exit_code == 2
    none = run("add_ten", "--cc", "8.6")
    assert none.exit_code == 2 and f"it has {', '.join(CAPABILITIES)}" in none.stderr


def asks_for_float64(name: str) -> bool:
    """True for a puzzle that gives or wants an array of float64, as its statement then says."""
    puzzle = index.find(name)
    assert isinstance(puzzle, KernelPuzzle)
    case = puzzle.cases[0]
    inputs = puzzle.inputs(np.random.default_rng(0), case)
    arrays = [*inputs.values(), *puzzle.outputs(inputs, case).values()]
    return any(getattr(each, "dtype", None) == np.float64 for each in arrays)


@pytest.mark.parametrize("puzzle", KERNELS)
def test_the_record_holds_each_kernel_and_none_spills(puzzle: str) -> None:
    solution = [seen.function for seen in compiled.recorded(puzzle)]
    in_ptx = sum(record.record().float64[f"{puzzle}:{function}"] for function in solution)
    assert not in_ptx or asks_for_float64(puzzle)
    for each in CAPABILITIES:
        for seen in compiled.recorded(puzzle, each):
            assert not seen.figures.spill_bytes and not seen.figures.stack_bytes
            assert not seen.figures.mix.get("float64") or asks_for_float64(puzzle)
            assert seen.occupancy.blocks > 0
            assert "record" in compiled_text.summary_text(seen)


def test_the_record_is_no_larger_than_it_needs_to_be() -> None:
    assert record.PATH.stat().st_size < 1_000_000


@COMPILES
@pytest.mark.series(share(16, of=len(KERNELS) * len(CAPABILITIES)))
@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("puzzle", KERNELS)
def test_the_record_is_what_the_compiler_makes(
    puzzle: str, capability: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if toolchain.toolchain().versions != record.record().versions:
        pytest.skip("the record was made by other versions")
    (tmp_path / "puzzles").mkdir()
    monkeypatch.setenv("GPU_COURSE_ANSWERS", os.fspath(tmp_path / "puzzles"))
    for seen in compiled.compile_answer(puzzle, capability, SOLUTIONS / f"{puzzle}.py"):
        assert seen.figures == record.figures(puzzle, seen.function, capability)
        assert seen.compiled is not None
        assert all(each.line <= len(seen.text) for each in seen.compiled.instructions)
        assert all(
            each.opcode == "NOP" for each in seen.compiled.instructions if each.kind == "other"
        )


@COMPILES
def test_a_function_of_a_lesson(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from numba import cuda

    monkeypatch.chdir(tmp_path)

    @cuda.jit
    def twice(out: Any, a: Any) -> None:
        i = cuda.grid(1)
        out[i] = a[i] + a[i]

    numbers = np.zeros(8, np.float32)
    seen = compiled.compile_function(twice, [numbers, numbers], 128)
    assert "out[i] = a[i] + a[i]" in compiled_text.line_table(seen)
    assert seen.capability == compiler.USUAL
