"""Kernels compiled here, where the extra `compile` is installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_course.errors import CourseError, UnknownName
from gpu_course.hardware.compiled import compiler
from gpu_course.hardware.compiled.compiler import CAPABILITIES, compile_kernel
from gpu_course.hardware.compiled.listing import KINDS
from gpu_course.hardware.compiled.toolchain import ToolFailed, has_compiler

pytestmark = pytest.mark.skipif(not has_compiler(), reason="needs the extra compile")
NUMBERS = np.zeros(8, np.float32)


def plain(out, a):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)  # type: ignore[name-defined] # noqa: F821
    out[i] = a[i] + a[i]


def refused(out, a):  # type: ignore[no-untyped-def]
    doubled = [each + each for each in a]
    out[0] = doubled[1]


def mistyped(out, a):  # type: ignore[no-untyped-def]
    out[0] = "text"


def with_a_helper(out, a):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)  # type: ignore[name-defined] # noqa: F821
    out[i] = twice(a[i])  # type: ignore[name-defined] # noqa: F821


def loaded(function: Callable[..., Any]) -> Callable[..., Any]:
    from numba import cuda

    function.__globals__["cuda"] = cuda
    return function


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_each_capability(capability: str) -> None:
    found = compile_kernel(lambda: loaded(plain), "plain", [NUMBERS, NUMBERS], capability)
    assert found.capability == capability
    assert found.mix["STG"] == 1 and found.mix["LDG"] == 1
    assert not found.float64
    first = plain.__code__.co_firstlineno
    assert set(found.by_line) <= {first, first + 1, first + 2}
    assert set(found.mix) - {"other"} <= set(KINDS)
    assert all(each.opcode == "NOP" for each in found.instructions if each.kind == "other")


def test_kept_and_taken_again(tmp_path: Path) -> None:
    def never() -> Callable[..., Any]:
        raise AssertionError("compiled a second time")

    how: Any = ([NUMBERS, NUMBERS], "8.0", tmp_path, "text of the file")
    first = compile_kernel(lambda: loaded(plain), "plain", *how)
    assert compile_kernel(never, "plain", *how) == first
    (kept,) = tmp_path.iterdir()
    kept.write_text("{")
    assert compile_kernel(lambda: loaded(plain), "plain", *how) == first


def test_without_lines_it_is_the_same_code() -> None:
    how: Any = (lambda: loaded(plain), "plain", [NUMBERS, NUMBERS])
    lined, bare = compile_kernel(*how), compile_kernel(*how, lines=False)
    texts = [[each.text for each in found.instructions] for found in (lined, bare)]
    assert texts[0] == texts[1] and bare.registers == lined.registers
    assert set(bare.by_line) == {0} != set(lined.by_line)


@pytest.mark.parametrize(
    "other",
    [
        ([NUMBERS, NUMBERS.astype(np.float64)], "8.0", "text"),
        ([NUMBERS, np.zeros(16, np.float32)[::2]], "8.0", "text"),
        ([NUMBERS, NUMBERS], "9.0", "text"),
        ([NUMBERS, NUMBERS], "8.0", "another text"),
    ],
)
def test_another_key_is_compiled_anew(tmp_path: Path, other: Any) -> None:
    compile_kernel(lambda: loaded(plain), "plain", [NUMBERS, NUMBERS], "8.0", tmp_path, "text")
    arguments, capability, text = other
    compile_kernel(lambda: loaded(plain), "plain", arguments, capability, tmp_path, text)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_kernel_that_numba_refuses() -> None:
    with pytest.raises(CourseError) as raised:
        compile_kernel(lambda: refused, "refused", [NUMBERS, NUMBERS])
    said, line = raised.value.fact, refused.__code__.co_firstlineno + 1
    assert said.startswith("Numba does not compile refused: ")
    assert said.endswith(f" ({Path(__file__).name}:{line})") and "\n" not in said


def test_what_numba_found_no_function_for_is_named_with_its_types() -> None:
    with pytest.raises(CourseError, match=r"found for signature: setitem\(array\(float32, 1d, C\)"):
        compile_kernel(lambda: mistyped, "mistyped", [NUMBERS, NUMBERS])


def test_a_kernel_that_calls_another_function_needs_no_card() -> None:
    from numba import cuda
    from numba.cuda import dispatcher

    @cuda.jit
    def twice(x):  # type: ignore[no-untyped-def]
        return x + x

    asked = dispatcher.get_current_device
    with_a_helper.__globals__["twice"] = twice
    found = compile_kernel(lambda: loaded(with_a_helper), "with_a_helper", [NUMBERS, NUMBERS])
    assert found.mix["STG"] == 1 and found.mix["float32"] == 1
    assert dispatcher.get_current_device is asked


def test_a_listing_that_is_not_known_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*given: Any) -> Any:
        raise ValueError("nvdisasm lists FADD,\nand then FMUL")

    monkeypatch.setattr(compiler, "read_compiled", unknown)
    with pytest.raises(ToolFailed, match=r"cannot be read: nvdisasm lists FADD,\?and then FMUL"):
        compile_kernel(lambda: loaded(plain), "plain", [NUMBERS, NUMBERS])


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    how: Any = ([NUMBERS, NUMBERS], "8.0", file / "below", "text")
    assert compile_kernel(lambda: loaded(plain), "plain", *how).registers


def test_capabilities_that_cannot_be() -> None:
    with pytest.raises(UnknownName, match=r"known ones: .*8\.0.*12\.0"):
        compile_kernel(lambda: plain, "plain", [NUMBERS, NUMBERS], "8.5")
    with pytest.raises(CourseError, match=r"CUDA 13 compiles nothing for compute capability 7.0"):
        compile_kernel(lambda: plain, "plain", [NUMBERS, NUMBERS], "7.0")
