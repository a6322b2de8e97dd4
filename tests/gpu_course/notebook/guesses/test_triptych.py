"""Guess, simulator, compiler and card side by side: whose kernel, and where each number is from."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpu_course.errors import CourseError, UnknownName
from gpu_course.grading import workspace
from gpu_course.grading.card.bench import FOLDER as BENCH
from gpu_course.grading.card.compiled import recorded
from gpu_course.grading.kernel import passing
from gpu_course.hardware import records
from gpu_course.hardware.compiled import toolchain
from gpu_course.notebook.guesses.prediction import Prediction
from gpu_course.notebook.guesses.triptych import NO_RECORD, Triptych, triptych

# The package has a function of that name.
module = importlib.import_module("gpu_course.notebook.guesses.triptych")
ROOT = Path(__file__).parents[4]
SOLUTION = ROOT / "solutions" / "02_warps" / "warp_sum.py"
COMPILES = pytest.mark.skipif(not toolchain.has_compiler(), reason="needs the extra compile")


def guess(answer: int | None = None) -> Prediction:
    prediction = Prediction("How many?", [1, 5, 10], "shuffles")
    prediction.panel()
    if answer is not None:
        prediction.field.value = answer
    return prediction


@pytest.fixture(autouse=True)
def _no_records_but_the_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "folder", lambda: tmp_path / "shipped")


@pytest.fixture
def solved(answers: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """warp_sum is answered, in a folder far from the course."""
    monkeypatch.chdir(answers)
    path = answers / "02_warps" / "warp_sum.py"
    workspace.write_text(path, SOLUTION.read_text(encoding="utf-8"))
    return path


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Any:
        raise toolchain.NoCompiler("no compiler for GPUs is installed here", toolchain.TO_INSTALL)

    monkeypatch.setattr(toolchain, "toolchain", missing)


def rows(seen: Triptych) -> dict[str, str]:
    return dict(seen.rows)


@pytest.mark.usefixtures("solved", "no_compiler")
def test_without_a_compiler_the_record_of_the_solution_speaks_and_is_named() -> None:
    seen = triptych("warp_sum", guess(5), "shuffles", "SHFL")
    (kept,) = recorded("warp_sum")
    assert (seen.counted, seen.compiled) == (10, kept.figures.mix["SHFL"])
    assert rows(seen) == {
        "your guess": "5 shuffles",
        "the simulator": "warps shuffled 10 times",
        "the compiler": f"5 SHFL, {kept.figures.instructions} instructions, "
        f"{kept.figures.registers} registers",
        "a card": NO_RECORD,
    }
    assert seen.about == (
        "Counted: your answer, visible example (size 40).",
        "Compiled: the course's solution, for 8.0, on record.",
    )


@pytest.mark.usefixtures("solved", "no_compiler")
@pytest.mark.parametrize(
    "text", ["", "def warp_sum(out, a, size):\n    pass\n"], ids=["missing", "wrong"]
)
def test_before_the_answer_passes_it_is_the_solution(solved: Path, text: str) -> None:
    solved.unlink()
    if text:
        workspace.write_text(solved, "from numba import cuda\n\n\n@cuda.jit\n" + text)
    seen = triptych("warp_sum", guess(), "shuffles", "registers", cc="9.0")
    assert seen.counted == 10 and rows(seen)["your guess"] == "none"
    assert rows(seen)["the compiler"].startswith(f"{seen.compiled} registers, ")
    assert seen.about == (
        "Your answer does not pass yet.",
        "Counted: the course's solution, visible example (size 40).",
        "Compiled: the course's solution, for 9.0, on record.",
    )


@COMPILES
@pytest.mark.usefixtures("solved")
def test_with_a_compiler_the_own_answer_is_compiled(solved: Path) -> None:
    text = solved.read_text().replace("ALL, total, delta)", "ALL, total + float32(1), delta)")
    text = text.replace("total += cuda", "total += float32(-1) + cuda")
    assert "float32(-1)" in text
    workspace.write_text(solved, text)
    seen = triptych("warp_sum", guess(5), "shuffles", "instructions")
    (kept,) = recorded("warp_sum")
    assert seen.compiled > kept.figures.instructions
    assert seen.about[-1] == "Compiled: your answer, for 8.0."


@pytest.mark.usefixtures("solved")
def test_what_the_compiler_refuses_leaves_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(name: str, cc: str) -> Any:
        raise toolchain.ToolFailed("ptxas was not done after 60 s, and was ended", "")

    monkeypatch.setattr(module, "compile_answer", refused)
    assert triptych("warp_sum", guess(), "shuffles", "SHFL").about[-1].endswith("on record.")


def timings(share: float) -> records.Record:
    """A record in which warp_sum takes a hundredth of a millisecond."""
    least = 4 * 2**20
    timed = {"state": "timed", "sizes": {"size": 8}, "low_s": 1e-5, "high_s": 1e-5}
    items = {
        "copy": {**timed, "seconds": 1e-5 * share, "least_bytes": least},
        "02_warps/warp_sum": {**timed, "seconds": 1e-5, "least_bytes": least},
    }
    device = {"name": "NVIDIA H100"}
    return records.Record("nvidia-h100", "timings", device, {}, "2026-11-23", items=items)


@pytest.mark.usefixtures("solved", "no_compiler")
def test_the_time_of_a_card_is_from_the_shipped_record_or_the_own_one() -> None:
    def card() -> str:
        return rows(triptych("warp_sum", guess(), "shuffles", "SHFL"))["a card"]

    records.write(timings(0.9))
    assert card() == "10 µs on NVIDIA H100, 90% of a copy (the solution, 2026-11-23)"
    records.write(timings(0.8), workspace.state_folder() / BENCH)
    assert card() == "10 µs on NVIDIA H100, 80% of a copy (yours, 2026-11-23)"


@pytest.mark.usefixtures("solved", "no_compiler")
def test_a_kind_counts_whatever_its_width_and_a_kernel_may_be_named() -> None:
    wide = triptych("count_smaller", guess(), "shared_load.requests", "LDS")
    mix = recorded("count_smaller")[0].figures.mix
    assert wide.compiled == mix["LDS"] + mix["LDS.128"]
    assert rows(wide)["the compiler"].startswith(f"{wide.compiled} LDS, ")
    shared = triptych("transpose_padded", guess(), "shared_load.conflicts", "shared_bytes")
    assert rows(shared)["the compiler"].startswith("4,224 bytes of shared memory, ")
    second = triptych("scan_grid", guess(), "barriers", "BAR", function="add_before")
    assert second.compiled == 0


@pytest.mark.usefixtures("solved", "no_compiler")
def test_what_cannot_be_asked(
    solved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CourseError, match="asks for no kernel"):
        triptych("occupancy", guess(), "shuffles", "SHFL")
    with pytest.raises(CourseError, match=r"has no kernel twice\n.*it has warp_sum"):
        triptych("warp_sum", guess(), "shuffles", "SHFL", function="twice")
    with pytest.raises(UnknownName, match=r"it has 7\.5, 8\.0"):
        triptych("warp_sum", guess(), "shuffles", "SHFL", cc="8.5")
    solved.unlink()
    monkeypatch.setattr(module, "solutions_folder", lambda: tmp_path)
    with pytest.raises(CourseError, match="does not pass yet, and its solution is not here"):
        triptych("warp_sum", guess(), "shuffles", "SHFL")


@pytest.mark.usefixtures("solved", "no_compiler")
@pytest.mark.parametrize("counter", passing.COUNTED)
def test_the_table_is_narrow_and_is_html_as_well(counter: str) -> None:
    seen = triptych("warp_sum", guess(5), counter, "SHFL")
    assert max(map(len, repr(seen).splitlines())) <= 70
    shown = seen._repr_html_()
    assert shown.count("<tr>") == 4 and 'scope="row"' in shown
    assert all(said in shown for said in rows(seen).values())


CELL = """seen = triptych("warp_sum", guess, "shuffles", "SHFL")
guess.compare(seen.compiled)
seen"""


@pytest.mark.usefixtures("solved", "no_compiler")
def test_it_waits_with_the_answer_and_then_has_the_guess(shell: Any) -> None:
    outputs: Callable[..., Any] = shell.outputs
    shell.run("from gpu_course.notebook import predict, triptych")
    shell.run("guess = predict('How many?', choices=[1, 5, 10])")
    before = outputs(CELL)
    assert not any("SHFL" in str(each.data) for each in before)
    field = shell.names()["guess"].field

    def answered() -> None:
        field.value = 10

    told = "\n".join(each.data.get("text/plain", "") for each in outputs(answered))
    assert "your guess     10" in told and "5 SHFL" in told
    assert "You said 10. It is 5." in told
