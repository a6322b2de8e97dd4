"""Records which kernels of the course compute in float64 once they are compiled to PTX.

    python -m benchmarks.record_float64

It compiles every solution and every named mistake for compute capability 8.0 and looks for float64
arithmetic in the PTX. That needs no GPU, but NVIDIA's compiler: numba-cuda with the wheels
nvidia-cuda-runtime, nvidia-cuda-nvrtc and nvidia-cuda-nvcc. What it found is kept in
tests/course/records/float64_in_ptx.json and compared with the simulator's counters by the tests.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gpu_course.puzzle import KernelPuzzle, Launch
from gpu_course.puzzle.index import puzzles

ROOT = Path(__file__).parents[1]
SOLUTIONS = ROOT / "solutions"
RECORD = ROOT / "tests" / "course" / "records" / "float64_in_ptx.json"
CAPABILITY = (8, 0)
ARITHMETIC = re.compile(r"\b(add|sub|mul|div|fma|mad|sqrt|rcp)(\.[a-z]+)*\.f64\b")


def kernels() -> Iterator[tuple[str, Path, str, Launch, list[Any]]]:
    """Yields (key, file, function, launch, arguments) of every solution and named mistake."""
    for puzzle in puzzles():
        if not isinstance(puzzle, KernelPuzzle):
            continue
        case = puzzle.cases[0]
        inputs = puzzle.inputs(np.random.default_rng(0), case)
        values = {**inputs, **puzzle.outputs(inputs, case)}
        for launch in puzzle.launches(case):
            for path, function in _files(puzzle, launch):
                arguments = [_copy(values[name]) for name in launch.args]
                yield f"{puzzle.name}:{function}", path, function, launch, arguments


def _files(puzzle: KernelPuzzle, launch: Launch) -> Iterator[tuple[Path, str]]:
    yield SOLUTIONS / f"{puzzle.name}.py", launch.function
    for mistake in puzzle.mistakes:
        if (mistake.stands_for or puzzle.functions[0]) == launch.function:
            path = SOLUTIONS / puzzle.lesson / "mistakes" / f"{puzzle.short_name}.py"
            yield path, mistake.function


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def record() -> dict[str, Any]:
    """Returns {"compiler", "kernels": {key: whether the PTX computes in float64}}."""
    from numba import cuda, typeof

    found = {}
    for key, path, function, _, arguments in kernels():
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        kernel = getattr(module, function).py_func
        ptx, _ = cuda.compile_ptx(kernel, tuple(map(typeof, arguments)), cc=CAPABILITY)
        found[key] = bool(ARITHMETIC.search(ptx))
    return {"compiler": f"numba-cuda {importlib.metadata.version('numba-cuda')}", "kernels": found}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text(json.dumps(record(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"wrote {RECORD.relative_to(ROOT)}")
