"""Kernels that a script makes by `exec`: their text is found again."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_course.errors import CourseError
from simt.foreign import cuda, sources
from simt.foreign.launches import Launches

TEXT = """
def kernel(out):
    i = cuda.grid(1)
    out[i] = {factor} * i
"""


@pytest.fixture(autouse=True)
def launches(monkeypatch: pytest.MonkeyPatch) -> Launches:
    sources.listen()
    found = Launches()
    monkeypatch.setattr(cuda.GPU, "launcher", found.launch)
    return found


def made(factor: int):
    scope = {"cuda": cuda}
    exec(TEXT.format(factor=factor), scope)
    return cuda.jit(scope["kernel"])


def test_each_kernel_gets_its_own_text() -> None:
    kernels = [made(factor) for factor in (2, 3, 5)]
    for kernel, factor in zip(kernels, (2, 3, 5), strict=True):
        out = np.zeros(4)
        kernel[1, 4](out)
        assert out.tolist() == [factor * i for i in range(4)]


def test_a_hazard_in_it_is_told_with_its_line(launches: Launches) -> None:
    made(2)[1, 8](np.zeros(4))
    (finding,) = launches.findings
    assert finding.hazard.kind == "out-of-bounds"
    assert finding.hazard.details["code"].strip() == "out[i] = 2 * i"


def test_a_function_without_a_text_is_refused() -> None:
    scope = {"cuda": cuda}
    code = compile(TEXT.format(factor=9), "<nowhere>", "exec")
    sources._texts.clear()
    exec(code, scope)
    with pytest.raises(CourseError, match="the source of kernel cannot be found"):
        cuda.jit(scope["kernel"])[1, 4](np.zeros(4))
