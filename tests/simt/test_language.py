"""Inner functions, functions as values, None, tuples, views and loops over them: under divergence.

Each kernel runs against one generator per thread (oracle.py), which executes the same text.
"""

from __future__ import annotations

import textwrap
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_course.errors import CourseError
from simt.simulator import simulate
from tests.simt.oracle import run_serially

N = 96
HEAD = """\
FLAG = True
SCALE = 3
NOTHING = None
Point = namedtuple("Point", "x y")


@cuda.jit(device=True)
def apply(f, x):
    return f(x)


@cuda.jit(device=True)
def twice(x):
    return x * 2


@cuda.jit(device=True)
def fold(f, start, row):
    total = start
    for x in row:
        total = f(total, x)
    return total


@cuda.jit(device=True)
def maybe(x, y=None, z=0.5):
    if y is None:
        return x + z
    return x * y


@cuda.jit
def kernel(out, a, m):
    i = cuda.grid(1)
    s = 0.0
"""

KERNELS = {
    "an inner function sees the variables as they are at its call": """
        k = 2.0
        def inner(x):
            return x * k + i
        s = inner(1.0)
        k = a[i]
        if i % 3:
            s += inner(2.0)
        out[i] = s
    """,
    "an inner function with branches, a loop and an early return": """
        def inner(x, most=4):
            total = 0.0
            for k in range(most):
                if k > x:
                    return total
                total += k * a[i]
            return -total
        out[i] = inner(i % 7) if i % 2 else inner(i % 5, 2)
    """,
    "an inner function that stores": """
        def put(k, x):
            out[k] = x
        if i % 4:
            put(i, a[i])
        else:
            put(i, -1.0)
    """,
    "inner functions that call each other": """
        def one(x):
            return x + i
        def two(x):
            def three(y):
                return one(y) * x
            return three(x) + one(1)
        out[i] = two(a[i])
    """,
    "lambdas": """
        f = lambda v: v * a[i] + s
        s = 1.0
        out[i] = f(2) + (lambda v: v - i)(5) + apply(lambda v: v * SCALE, i)
    """,
    "a function as an argument, called by some": """
        if i % 3 == 0:
            out[i] = apply(twice, a[i])
        else:
            g = twice
            out[i] = g(i) + fold(lambda p, q: p + 2 * q, 0.0, a[i % 5 : i % 5 + i % 4])
    """,
    "None, default values and keywords": """
        out[i] = maybe(a[i]) + maybe(a[i], 3) + maybe(y=2, x=i) + maybe(1, z=a[i])
        if NOTHING is None and not (i is None):
            out[i] += 1
    """,
    "a view from the end": """
        back = a[::-1]
        part = a[40:3:-2]
        out[i] = back[i] - part[i % 19] * part.size
    """,
    "views whose steps and lengths differ": """
        step = 1 + i % 3 if i % 2 else -1 - i % 4
        v = a[i % 50 + 10 : i % 7 + 80 : step] if i % 2 else a[i % 50 + 10 : i % 9 : step]
        for x in v:
            s += x
        out[i] = s + 100 * v.size
    """,
    "a loop over a view that some leave": """
        for k, x in enumerate(a[: i % 9]):
            if x > 1.0:
                s += 100
                break
            if k % 2:
                continue
            s += x * k
        else:
            s -= 1
        out[i] = s
    """,
    "zip of views of different lengths": """
        for x, y in zip(a[i % 5 :: 7], m[i % 4, : i % 6]):
            s += x * y
        out[i] = s
    """,
    "a loop over the rows of a matrix": """
        for row in m[i % 3 :]:
            s += row[i % 6] + row.size
        for k, row in enumerate(m[:, ::-1]):
            s += k * row[0]
        out[i] = s
    """,
    "a range with a name": """
        r = range(i % 5, 20, 3)
        for k in r:
            s += k
        for k, x in zip(range(10, 0, -2), a[: i % 4]):
            s += k * x
        out[i] = s
    """,
    "steps that are 0 in threads which do not come here": """
        by = i % 4
        if by > 0:
            for k in range(3, 20, by):
                s += k
            for k in range(9, 2, -by):
                s += 100 * k
            for k, x in enumerate(range(1, 9, by)):
                s += k * x
            s += a[::by].size
        out[i] = s + 1000 * by
    """,
    "tuples compared, sliced and asked": """
        t = (i % 3, i % 2, 5)
        if t[:2] == (1, 1) or (i % 4, i) < (2, 50):
            s = sum(t) + min(t) * max((2, i % 7))
        if i % 11 in (2, 3, 7):
            s += t[1:][1]
        q, r = divmod(i - 40, 7)
        out[i] = s + 10 * q + r
    """,
    "named tuples": """
        p = Point(i % 5, a[i])
        q = Point(y=2.0, x=1)
        out[i] = p.x * q.y + p.y - q[0]
    """,
    "math with two results": """
        whole = 3 * a[i]
        rest, part = math.modf(whole)
        fraction, exponent = math.frexp(whole)
        out[i] = rest + 2 * part + math.ldexp(fraction, exponent + 1)
        out[i] += math.remainder(whole, 0.7) + math.nextafter(whole, 9.0)
    """,
    "a constant branch with a barrier in it": """
        tile = cuda.shared.array(32, np.float64)
        t = cuda.threadIdx.x
        tile[t] = a[i]
        if FLAG:
            cuda.syncthreads()
        s = tile[31 - t]
        if not FLAG:
            s = tile.nosuch
        out[i] = s
    """,
}


@pytest.mark.parametrize("body", KERNELS.values(), ids=KERNELS.keys())
def test_computes_what_generators_compute(body: str, tmp_path: Path) -> None:
    text = HEAD + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n"
    path = tmp_path / "kernel.py"
    imports = "import math\nfrom collections import namedtuple\nimport numpy as np\n"
    path.write_text(f"{imports}from numba import cuda\n\n{text}")
    rng = np.random.default_rng(5)
    a, m = rng.normal(size=N), rng.normal(size=(4, 6))
    out = np.full(N, -1.0)
    expected = out.copy()
    report = simulate(f"{path}:kernel", policy="foreign")[3, 32](out, a, m)
    assert report.ok, report
    oracle = f"from collections import namedtuple\n{text}"
    run_serially(oracle, "kernel", (3, 1, 1), (32, 1, 1), expected, a, m)
    np.testing.assert_allclose(out, expected, rtol=1e-13)
    assert len(np.unique(out)) > 2


def launch(folder: Path, text: str, *arguments: Any, threads: int = 32) -> Any:
    path = folder / "kernel.py"
    path.write_text(
        "import math\nimport numpy as np\nfrom numba import cuda, float32, float64\n" + text
    )
    policy = "foreign" if "lambda" in text else "puzzle"
    return simulate(f"{path}:kernel", policy=policy)[1, threads](*arguments)


# Tuples as arguments

Pair = namedtuple("Pair", "left right")


def test_a_tuple_of_arrays_and_numbers_is_an_argument(tmp_path: Path) -> None:
    text = """
@cuda.jit
def kernel(pair, sizes, named):
    i = cuda.grid(1)
    into, source = pair
    if i % 2:
        into[i] = source[i] * sizes[0] + len(sizes)
    else:
        pair[0][i] = named.left[i] + named.right + sizes[1][1]
"""
    a, b, out = np.arange(32.0), np.arange(32.0) * 10, np.zeros(32)
    report = launch(tmp_path, text, (out, a), (3, (4, 0.5)), Pair(b, 7))
    assert report.ok, report
    odd = np.arange(32) % 2 > 0
    np.testing.assert_array_equal(out, np.where(odd, a * 3 + 2, b + 7 + 0.5))
    assert report.counters.global_load.requests == 2
    assert report.counters.global_store.requests == 2


def test_arrays_of_a_tuple_race_and_end_like_any(tmp_path: Path) -> None:
    text = "\n@cuda.jit\ndef kernel(t):\n    i = cuda.grid(1)\n    t[1][{}] = i\n"
    race = launch(tmp_path, text.format("0"), (1, np.zeros(32)))
    assert [h.kind for h in race.hazards] == ["race"]
    beyond = launch(tmp_path, text.format("i + 1"), (1, np.zeros(32)))
    assert "t[1][32] is outside" in beyond.hazards[0].message
    assert launch(tmp_path, text.format("i"), (1, np.zeros(32))).ok
    frozen = np.zeros(32)
    frozen.flags.writeable = False
    with pytest.raises(CourseError, match=r"writes to t\[1\], which is a read-only array"):
        launch(tmp_path, text.format("i"), (1, frozen))
    with pytest.raises(CourseError, match=r"cannot take a str \(argument t\[0\]\)"):
        launch(tmp_path, text.format("i"), ("x", np.zeros(32)))


# Hazards are seen through all of it


@pytest.mark.parametrize(
    ("body", "kind", "offset"),
    [
        ("def inner(k):\n    return a[k + 1]\nout[i] = inner(i)", "out-of-bounds", 1),
        ("v = a[::-1]\nout[i] = v[i + 1]", "out-of-bounds", 1),
        ("v = a[10 : 3 : -1]\nout[i] = v[i % 8]", "out-of-bounds", 1),
        ("f = lambda: cuda.syncthreads()\nif i < 9:\n    f()\nout[i] = 1", "barrier-divergence", 0),
        ("def inner():\n    out[0] = i\ninner()", "race", 1),
        ("for row in a[: i % 4]:\n    x = row\nout[i] = x", "uninitialised-read", 2),
        ("for k in range(40):\n    x = a[k]\nout[i] = x", "out-of-bounds", 1),
        (
            "k = 1.0\nf = lambda v: v + k\nif i < 3:\n    z = f(1)\nout[i] = z",
            "uninitialised-read",
            4,
        ),
    ],
)
def test_a_hazard_has_its_line(body: str, kind: str, offset: int, tmp_path: Path) -> None:
    lines = textwrap.indent(body, "    ")
    text = f"\n@cuda.jit\ndef kernel(out, a):\n    i = cuda.threadIdx.x\n{lines}\n"
    report = launch(tmp_path, text, np.zeros(32), np.arange(32.0))
    assert [(h.kind, h.line) for h in report.hazards] == [(kind, 8 + offset)]


# Counters


def test_a_branch_left_out_costs_nothing(tmp_path: Path) -> None:
    text = """
WIDE = {}

@cuda.jit
def kernel(out, a):
    i = cuda.grid(1)
    x = a[i]
    if WIDE:
        x = x * 1.5
    y = x * x if not WIDE else x + x
    out[i] = y
"""
    a, out = np.ones(32, np.float32), np.zeros(32, np.float32)
    narrow = launch(tmp_path, text.format("False"), out, a).counters
    assert (narrow.float32_operations, narrow.float64_operations, narrow.branches) == (32, 0, 0)
    wide = launch(tmp_path, text.format("True"), out, a).counters
    assert (wide.float32_operations, wide.float64_operations, wide.branches) == (0, 64, 0)


def test_an_inner_function_counts_as_its_text_does(tmp_path: Path) -> None:
    inner = """
@cuda.jit
def kernel(out, a):
    i = cuda.grid(1)
    def f(x):
        return x * a[i] + 1
    if i % 2:
        out[i] = f(a[i])
"""
    plain = inner.replace("    def f(x):\n        return x * a[i] + 1\n", "").replace(
        "f(a[i])", "a[i] * a[i] + 1"
    )
    a = np.arange(32.0)
    one = launch(tmp_path, inner, np.zeros(32), a).counters
    other = launch(tmp_path, plain, np.zeros(32), a).counters
    assert one == other
    assert (one.float64_operations, one.fma, one.divergent_branches) == (32, 16, 1)


def test_a_view_from_the_end_is_coalesced(tmp_path: Path) -> None:
    text = """
@cuda.jit
def kernel(out, a):
    i = cuda.grid(1)
    b = a[::{}]
    out[i] = b[i]
"""
    a, out = np.zeros(64, np.float32), np.zeros(32, np.float32)
    for step, sectors in ((-1, 4), (-2, 8), (2, 8)):
        load = launch(tmp_path, text.format(step), out, a).counters.global_load
        assert (load.requests, load.sectors) == (1, sectors)
