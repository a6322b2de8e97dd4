"""Reading kernels: live functions, dispatchers, files, and any text at all."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

from gpu_course.errors import AnswerFileError, CourseError
from simt.errors import KernelRefused
from simt.kernel.source import load, show_path
from simt.simulator import simulate
from tests.sampling import examples

SCALE = 3


def scaled(out, a):
    i = cuda.grid(1)
    out[i] = a[i] * SCALE


@cuda.jit
def decorated(out, a):
    i = cuda.grid(1)
    out[i] = a[i] + 1


def test_globals_are_as_they_are_at_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    out, a = np.zeros(4), np.arange(4.0)
    simulate(scaled)[1, 4](out, a)
    np.testing.assert_array_equal(out, a * 3)
    monkeypatch.setattr("tests.simt.test_source.SCALE", 5, raising=False)
    scaled.__globals__["SCALE"] = 5
    simulate(scaled)[1, 4](out, a)
    scaled.__globals__["SCALE"] = 3
    np.testing.assert_array_equal(out, a * 5)


def test_a_dispatcher_is_read_not_compiled() -> None:
    out, a = np.zeros(4), np.arange(4.0)
    report = simulate(decorated)[1, 4](out, a)
    assert report.kernel == "decorated"
    np.testing.assert_array_equal(out, a + 1)


def test_closure_values_are_constants() -> None:
    def make(step: int):  # type: ignore[no-untyped-def]
        def kernel(out):  # type: ignore[no-untyped-def]
            out[cuda.grid(1)] = step

        return kernel

    out = np.zeros(2)
    simulate(make(7))[1, 2](out)
    assert out.tolist() == [7, 7]


def test_line_numbers_are_those_of_the_file() -> None:
    report = simulate(scaled)[1, 6](np.zeros(8), np.zeros(4))
    assert report.hazards[0].line == scaled.__code__.co_firstlineno + 2


@pytest.mark.parametrize("thing", [3, len, "kernel.py", None])
def test_what_is_no_kernel(thing: object) -> None:
    with pytest.raises(CourseError):
        simulate(thing)


@pytest.mark.parametrize(
    ("content", "error", "text"),
    [
        (b"\xff\xfe", AnswerFileError, "is not UTF-8 text"),
        (b"def f(:", KernelRefused, "Python cannot read this file"),
        (b"x = " + b"(" * 5000 + b")" * 5000, KernelRefused, "Python cannot read|nested"),
        (b"x = " + b"-" * 3000 + b"1", KernelRefused, "levels deep|nested"),
        (b"\x00", KernelRefused, "Python cannot read this file"),
        (b"#" * 2_000_000, AnswerFileError, "has 2,000,000 bytes"),
    ],
)
def test_files_that_cannot_be_read(
    content: bytes, error: type[Exception], text: str, tmp_path: Path
) -> None:
    path = tmp_path / "answer.py"
    path.write_bytes(content)
    with pytest.raises(error, match=text):
        load(path)


def test_a_folder_and_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(AnswerFileError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(AnswerFileError, match="cannot be read"):
        load(tmp_path / "missing.py")


def test_a_missing_function_names_those_there(tmp_path: Path) -> None:
    path = tmp_path / "answer.py"
    path.write_text("def one(): pass\ndef two(): pass\n")
    with pytest.raises(CourseError, match="it has one, two"):
        simulate(f"{path}:three")


def test_paths_are_shown_alike_on_every_machine(tmp_path: Path) -> None:
    assert show_path(tmp_path / "puzzles/01_threads/guard.py") == "puzzles/01_threads/guard.py"
    assert show_path("/tmp/ipykernel_1/99.py") == "notebook cell"


@settings(max_examples=examples(150, few=30), deadline=None)
@given(text=st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "answer.py"
    path.write_text(text, encoding="utf-8", errors="ignore")
    with contextlib.suppress(KernelRefused, AnswerFileError):
        load(path)
