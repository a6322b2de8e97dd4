"""What kernels compute: a table of bodies, each checked against a thread-at-a-time oracle."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simt.simulator import simulate
from tests.sampling import examples
from tests.simt.oracle import run_serially

GRID, BLOCK = (3, 1, 1), (40, 1, 1)  # neither whole warps nor a power of two
N = 120

BODIES = {
    "copy": "out[i] = a[i]",
    "arithmetic": "out[i] = (a[i] + 3) * 2 - i / 4 + (i // 3) * (i % 7) - (-i) ** 2",
    "python signs": "out[i] = (-i - 1) // 4 + (-i - 1) % 4 + (i - 60) % -7",
    "if": """
        if i % 3 == 0:
            out[i] = a[i]
        elif i % 3 == 1:
            out[i] = -a[i]
        else:
            out[i] = 7
    """,
    "nested if": """
        x = 0.0
        if i > 10:
            if a[i] > 0:
                x = 1.0
                if i > 100:
                    x = 5.0
            else:
                x = 2.0
        out[i] = x
    """,
    "early return": """
        if i > 70:
            return
        out[i] = 1
        if i < 5:
            return
        out[i] = 2
    """,
    "for with a bound of its own": """
        s = 0.0
        for k in range(i % 9):
            s += a[k]
        out[i] = s
    """,
    "for downwards": """
        s = 0.0
        for k in range(i, -1, -5):
            s = s * 0.5 + a[k]
        out[i] = s
    """,
    "for over nothing": """
        for k in range(5, 2):
            out[i] = 9
    """,
    "break and continue": """
        s = 0
        for k in range(20):
            if k % 3 == i % 3:
                continue
            if k > i % 13:
                break
            s += k
        out[i] = s
    """,
    "loop else": """
        found = 0
        for k in range(i % 6):
            if k == 3:
                found = 1
                break
        else:
            found = 2
        out[i] = found
    """,
    "while": """
        x = i
        steps = 0
        while x > 1:
            if x % 2 == 0:
                x = x // 2
            else:
                x = 3 * x + 1
            steps += 1
        out[i] = steps
    """,
    "while else": """
        k = 0
        while k < i % 8:
            if k == 5:
                break
            k += 1
        else:
            k = 100
        out[i] = k
    """,
    "return inside a loop": """
        for k in range(10):
            if k == i % 12:
                out[i] = k
                return
        out[i] = -1
    """,
    "nested loops": """
        s = 0
        for p in range(i % 4):
            for q in range(p, 5):
                if q == 3:
                    break
                s += p * q
            else:
                s += 100
        out[i] = s
    """,
    "short circuit guards a load": """
        if i + 1 < 120 and a[i + 1] > 0:
            out[i] = 1
        if i == 0 or a[i - 1] < 0:
            out[i] += 2
    """,
    "conditional expression guards a load": "out[i] = a[i - 1] if i > 0 else 0.0",
    "chained comparison": "out[i] = 1.0 if 10 < i <= 50 else 0.0",
    "min and max": "out[i] = min(max(a[i], -0.5), 0.5)",
    "and as a value": "out[i] = float(i % 3 and i % 5)",
    "math": "out[i] = math.sqrt(abs(a[i])) + math.floor(a[i] * 4) + math.cos(a[i])",
    "tuples": """
        p, q = i, a[i]
        t = (p, q)
        out[t[0]] = t[1] * len(t)
    """,
    "shape": "out[i] = a.shape[0] - a.size + len(a)",
    "augmented store": """
        out[i] = 1
        out[i] += a[i]
        out[i] *= 3
    """,
    "bits": "out[i] = ((i & 12) | 3) ^ (i << 2) + (i >> 1) + (~i)",
    "grid stride": """
        for k in range(i, 120, cuda.gridsize(1)):
            out[k] = a[k] + 1
    """,
    "own index by hand": """
        j = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
        out[j] = j + cuda.gridDim.x
    """,
}


def _source(body: str) -> str:
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    head = "import math\nfrom numba import cuda\n\n@cuda.jit\ndef kernel(out, a):\n"
    return f"{head}    i = cuda.grid(1)\n{lines}\n"


def _run_both(tmp_path: Path, text: str, *args: Any) -> tuple[Any, Any]:
    path = tmp_path / "kernel.py"
    path.write_text(text)
    expected = [np.copy(a) if isinstance(a, np.ndarray) else a for a in args]
    report = simulate(f"{path}:kernel")[GRID, BLOCK](*args)
    oracle = text.replace("import math\nfrom numba import cuda\n", "")
    run_serially(oracle, "kernel", GRID, BLOCK, *expected)
    return report, expected


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_computes_what_one_thread_at_a_time_computes(body: str, tmp_path: Path) -> None:
    a = np.random.default_rng(1).normal(size=N)
    out = np.full(N, -3.0)
    report, expected = _run_both(tmp_path, _source(body), out, a)
    assert report.ok, report
    np.testing.assert_allclose(out, expected[0], rtol=1e-14)


def test_two_and_three_dimensions() -> None:
    def kernel(out, a):
        x, y, z = cuda.grid(3)
        if z < out.shape[0] and y < out.shape[1] and x < out.shape[2]:
            out[z, y, x] = a[x, y, z] + 100 * z + 10 * y + x

    from numba import cuda

    kernel.__globals__["cuda"] = cuda
    a = np.random.default_rng(2).normal(size=(5, 3, 7))
    out = np.zeros((7, 3, 5))
    report = simulate(kernel)[(2, 2, 3), (3, 2, 3)](out, a)
    assert report.ok, report
    z, y, x = np.indices(out.shape)
    np.testing.assert_array_equal(out, a.transpose(2, 1, 0) + 100 * z + 10 * y + x)


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a.reshape(10, 12).T,
        lambda a: a[::2],
        lambda a: a[::-1],
        lambda a: np.asfortranarray(a.reshape(12, 10)),
        lambda a: a.reshape(12, 10)[::-2, 1::3],
    ],
    ids=["transposed", "every second", "reversed", "Fortran order", "both negative and strided"],
)
def test_any_strides(view: Any, tmp_path: Path) -> None:
    array = view(np.arange(120.0))
    path = tmp_path / "kernel.py"
    index = "i" if array.ndim == 1 else "i // a.shape[1], i % a.shape[1]"
    path.write_text(
        "from numba import cuda\n@cuda.jit\ndef kernel(out, a):\n"
        f"    i = cuda.grid(1)\n    if i < a.size:\n        out[i] = a[{index}]\n"
        f"        a[{index}] = -1\n"
    )
    out, before = np.zeros(array.size), array.copy()
    report = simulate(f"{path}:kernel")[4, 32](out, array)
    assert report.ok, report
    np.testing.assert_array_equal(out, before.reshape(-1))
    np.testing.assert_array_equal(array, np.full(before.shape, -1.0))


# Random kernels: integer expressions under nested control flow

_leaves = st.sampled_from(["i", "x", "y", "3", "-2", "7", "b[i]", "cuda.threadIdx.x"])
_expressions = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "&", "|", "^"]), inner).map(
            lambda t: f"({t[0]} {t[1]} {t[2]})"
        ),
        st.tuples(inner, st.sampled_from(["//", "%"]), st.sampled_from(["3", "-5", "11"])).map(
            lambda t: f"({t[0]} {t[1]} {t[2]})"
        ),
        st.tuples(inner, inner, inner).map(
            lambda t: f"({t[0]} if {t[1]} > {t[2]} else {t[0]} - 1)"
        ),
        st.tuples(inner, inner).map(lambda t: f"min({t[0]}, {t[1]})"),
    ),
    max_leaves=5,
)
_conditions = st.tuples(_expressions, st.sampled_from(["<", "==", ">="]), _expressions).map(
    lambda t: f"{t[0]} {t[1]} {t[2]}"
)


def _indent(body: str) -> str:
    return textwrap.indent(body, "    ")


_simple = st.one_of(
    st.tuples(st.sampled_from(["x", "y"]), _expressions).map(lambda t: f"{t[0]} = {t[1]} % 1009"),
    _expressions.map(lambda e: f"out[i] += {e} % 1009"),
)
_blocks = st.recursive(
    _simple,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("\n".join),
        st.tuples(_conditions, inner, inner).map(
            lambda t: f"if {t[0]}:\n{_indent(t[1])}\nelse:\n{_indent(t[2])}"
        ),
        st.tuples(
            st.integers(0, 3), _conditions, inner, st.sampled_from(["break", "continue"])
        ).map(
            lambda t: (
                f"for k in range(i % 3 + {t[0]}):\n    if {t[1]}:\n        {t[3]}\n{_indent(t[2])}"
            )
        ),
        st.tuples(_conditions, inner).map(lambda t: f"if {t[0]}:\n    return\n{t[1]}"),
    ),
    max_leaves=6,
)


@settings(max_examples=examples(60, few=15), deadline=None)
@given(body=_blocks, seed=st.integers(0, 2**16))
def test_random_kernels(body: str, seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    b = np.random.default_rng(seed).integers(-20, 20, N)
    out = np.zeros(N, np.int64)
    text = (
        "import math\nfrom numba import cuda\n\n@cuda.jit\ndef kernel(out, b):\n"
        f"    i = cuda.grid(1)\n    x = 1\n    y = i\n{_indent(body)}\n    out[i] += x - y\n"
    )
    report, expected = _run_both(tmp_path_factory.mktemp("random"), text, out, b)
    assert report.ok, report
    np.testing.assert_array_equal(out, expected[0])
