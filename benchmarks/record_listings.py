"""Records the kernels of lesson 07 line by line: PTX, SASS and registers in use.

    python -m benchmarks.record_listings

It needs no GPU, but the extra `compile`. What is found is written to
gpu_course/lessons/under_the_hood/listings.json, which the lesson shows; a test compiles the kernels
anew where it can and compares.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import numpy as np

from authoring.stubs import stub_text
from benchmarks.compiled_kernels import VARIANTS, _changed
from gpu_course.hardware.compiled.compiler import CAPABILITIES, compile_kernel
from gpu_course.hardware.compiled.toolchain import toolchain
from gpu_course.lessons.under_the_hood.listings import PATH, Code, Kept, Record, code_of
from gpu_course.puzzle import KernelPuzzle
from gpu_course.puzzle.index import find

SOLUTIONS = Path(__file__).parents[1] / "solutions"
RANGE = "matmul_register with range and signed indices"
FIRST = """
from numba import cuda


@cuda.jit
def fused(out, a, b, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = a[i] * b[i] + a[i]
"""
"""The first kernel of the lesson."""


def kernels() -> Iterator[tuple[str, str, str, list[Any], tuple[str, ...]]]:
    """Yields (name, file's text, function, arguments, capabilities) of all that is recorded."""
    vector = np.zeros(4, np.float32)
    yield "fused", FIRST, "fused", [vector, vector, vector, 4], CAPABILITIES
    puzzle, text = _solution("matmul_register")
    values = _arguments(puzzle)
    for name, changes in (("matmul_register", ()), (RANGE, VARIANTS[RANGE][1])):
        changed = _without_markers(_changed(text, changes))
        yield name, changed, "matmul_register", values, ("8.0", "9.0")
    for name in ("no_float64", "keep_it_in_registers"):
        puzzle, text = _solution(name)
        stub = _without_markers(stub_text(text))
        yield f"{name}, the stub", stub, name, _arguments(puzzle), ("8.0", "12.0")


def _solution(name: str) -> tuple[KernelPuzzle, str]:
    puzzle = find(name)
    assert isinstance(puzzle, KernelPuzzle)
    return puzzle, (SOLUTIONS / f"{puzzle.name}.py").read_text(encoding="utf-8")


def _without_markers(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(each for each in lines if each.strip() not in ("# answer", "# end answer"))


def _arguments(puzzle: KernelPuzzle) -> list[Any]:
    case = puzzle.cases[0]
    inputs = puzzle.inputs(np.random.default_rng(0), case)
    values = {**inputs, **puzzle.outputs(inputs, case)}
    return [values[name] for name in puzzle.launches(case)[0].args]


def kernel_text(text: str, function: str) -> tuple[str, int]:
    """Returns a kernel's own lines of a file, from its decorator on, and the number of the first.

    Args:
        text: of the file.
        function: the kernel.
    """
    lines = text.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith(f"def {function}(")) - 1
    last = first + 2
    while last < len(lines) and (not lines[last] or lines[last].startswith(" ")):
        last += 1
    return "\n".join(lines[first:last]).rstrip() + "\n", first + 1


def compiled(text: str, function: str, arguments: list[Any], capability: str) -> Code:
    """Returns one kernel's code, with lines of its own text."""
    _, first = kernel_text(text, function)
    with tempfile.TemporaryDirectory() as folder:
        module = _module(Path(folder) / "kernel.py", text)
        found = compile_kernel(lambda: getattr(module, function), function, arguments, capability)
    return code_of(found, first)


def _module(path: Path, text: str) -> ModuleType:
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("kernel", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made() -> Record:
    """Returns the record of the kernels as they are."""
    kept = {
        name: Kept(
            kernel_text(text, function)[0],
            {each: compiled(text, function, arguments, each) for each in capabilities},
        )
        for name, text, function, arguments, capabilities in kernels()
    }
    return Record(toolchain().named, kept)


def to_text(record: Record) -> bytes:
    """Returns the record as it is written: a line for each kernel."""
    encode = msgspec.json.encode
    rows = [encode(name) + b": " + encode(kept) for name, kept in record.kernels.items()]
    head = b'{"compiler": ' + encode(record.compiler) + b',\n"kernels": {\n'
    return head + b",\n".join(rows) + b"\n}}\n"


if __name__ == "__main__":
    PATH.write_bytes(to_text(made()))
    print(f"wrote {PATH.name}: {PATH.stat().st_size:,} bytes")
