"""Lines that a thread comes to by what an atomic found, and lines that it comes to anyway."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
import pytest

from simt.kernel.legality import check
from simt.kernel.lower import lower
from simt.kernel.source import load
from simt.machine import launch
from simt.observe.decided import decided_lines

HEAD = """from numba import cuda, int64
@cuda.jit(device=True)
def ask(count):
    return cuda.atomic.add(count, 0, 1)
@cuda.jit(device=True)
def is_last(count, n):
    if cuda.atomic.add(count, 0, 1) == n - 1:
        return True
    return False
@cuda.jit(device=True)
def twice(x):
    return 2 * x
@cuda.jit
def kernel(count, out, n):
    s = cuda.shared.array(2, int64)
    t = cuda.threadIdx.x
"""
MARK = "out[t] = 5"

DECIDED = {
    "a test": "if cuda.atomic.add(count, 0, 1) == n:\n    @",
    "the other way": "if cuda.atomic.add(count, 0, 1) == n:\n    pass\nelse:\n    @",
    "a variable": "x = cuda.atomic.add(count, 0, 1)\ny = x + 1\nif y > n:\n    @",
    "shared memory": """
        if t == 0:
            s[0] = cuda.atomic.add(count, 0, 1)
        cuda.syncthreads()
        if s[0] == n:
            @
        """,
    "a flag set on the way": """
        last = False
        if cuda.atomic.add(count, 0, 1) == n:
            last = True
        if last:
            @
        """,
    "a vote": "x = cuda.atomic.add(count, 0, 1)\nif cuda.syncthreads_or(x - n):\n    @",
    "a shuffle": "x = cuda.atomic.add(count, 0, 1)\nif cuda.shfl_sync(-1, x, 0) == n:\n    @",
    "a way out": "if cuda.atomic.add(count, 0, 1) != n:\n    return\n@",
    "a loop that waits": "while cuda.atomic.add(count, 0, 0) < n:\n    pass\n@",
    "a loop that one thread waits in": """
        if t == 0:
            while cuda.atomic.add(count, 0, 0) < n:
                pass
        cuda.syncthreads()
        @
        """,
    "a lock": "while cuda.atomic.cas(count, 0, 0, 1) != 0:\n    pass\n@",
    "a function that asks": "if ask(count) == n:\n    @",
    "a function that decides": "if is_last(count, n):\n    @",
    "what goes through a function": "x = twice(cuda.atomic.add(count, 0, 1))\nif x == n:\n    @",
    "a turn of a loop": "for k in range(n):\n    if cuda.atomic.add(count, 0, 1) == k:\n        @",
}
ANYWAY = {
    "after it": "x = cuda.atomic.add(count, 0, 1)\n@",
    "an atomic that gives nothing back": "cuda.atomic.add(count, 0, 1)\nif t == n:\n    @",
    "past a test": "if cuda.atomic.add(count, 0, 1) == n:\n    s[0] = 1\n@",
    "another variable": "x = cuda.atomic.add(count, 0, 1)\nif t == n - 1:\n    @",
    "past a loop that goes on": "for k in range(cuda.atomic.add(count, 0, 1)):\n    s[0] = 1\n@",
    "a plain load": "if count[0] == n:\n    @",
    "a function of something else": "x = cuda.atomic.add(count, 0, 1)\nif twice(t) == n:\n    @",
    "before it": "if t == n:\n    @\nx = cuda.atomic.add(count, 0, 1)",
}


def marked(folder: Path, body: str) -> bool:
    """Returns whether the marked line is decided."""
    path = folder / "kernel.py"
    text = HEAD + textwrap.indent(textwrap.dedent(body).strip().replace("@", MARK), "    ") + "\n"
    path.write_text(text)
    program = check(load(path).kernel("kernel"))
    values = launch.bind_arguments(program, (np.zeros(1, np.int64), np.zeros(64), 4))
    code = lower(program.written, tuple(map(launch.type_of, values.values())))
    line = next(k for k, each in enumerate(text.splitlines(), 1) if MARK in each)
    return (code.kernel.file, line) in decided_lines(code)


@pytest.mark.parametrize("name", DECIDED)
def test_what_an_atomic_found_decides(name: str, tmp_path: Path) -> None:
    assert marked(tmp_path, DECIDED[name])


@pytest.mark.parametrize("name", ANYWAY)
def test_what_comes_anyway_is_not_decided(name: str, tmp_path: Path) -> None:
    assert not marked(tmp_path, ANYWAY[name])
