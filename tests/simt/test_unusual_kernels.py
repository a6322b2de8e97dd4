"""Kernels as people write them, unusual and valid: each is right, or refused in plain words.

Each runs against one generator per thread (oracle.py), which executes the same text in Python.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simt.errors import KernelRefused
from simt.simulator import simulate
from tests.simt.oracle import run_serially

HEAD = """\
from collections import namedtuple

TILE = 8
DIRS = ((0, 1), (1, 0), (0, -1), (-1, 0))
MIXED = (3, 0.5, (7, 8))
CUBE = (((1, 2), (3, 4)), ((5, 6), (7, 8)))
Point = namedtuple("Point", "x y")
ORIGIN = Point(2, 0.5)
CORNERS = (Point(0, 1), Point(2, 3), Point(4, 5))
WEIGHTS = np.array([0.25, 0.5, 0.25])
TABLES = (np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]))
PARTICLE = np.dtype([("x", np.float32), ("kind", np.int32)])
ATOMS = np.array([(1.5, 3), (2.5, 4), (0.25, 7)], dtype=PARTICLE)
FLAGS = (True, False, True)


@cuda.jit(device=True)
def clamp(x, low, high):
    return min(max(x, low), high)


@cuda.jit(device=True)
def step(p, d):
    return p[0] + d[0], p[1] + d[1]


@cuda.jit(device=True)
def horner(x, *, scale=1.0):
    return scale * x


@cuda.jit
def kernel(out, a, m, z, n):
    i = cuda.grid(1)
    s = 0.0
"""

RIGHT = {
    "neighbours by a constant table": """
        for dx, dy in DIRS:
            s += m[(i % 4 + dx) % 4, (i % 6 + dy) % 6]
    """,
    "neighbours by a counter": """
        for k in range(4):
            d = DIRS[k]
            s = s * 0.5 + m[(i % 4 + d[0]) % 4, (i + d[1]) % 6]
    """,
    "a direction of each thread": "s = DIRS[i % 4][0] * 10 + DIRS[i % 4][1]",
    "two levels by variables": "s = CUBE[i % 2][i % 3 % 2][1] + CUBE[1][i % 2][0]",
    "unpacked by a variable": "dx, dy = DIRS[i % 4]\ns = 3 * dx + dy",
    "tuples of mixed types by numbers": "s = MIXED[0] * MIXED[1] + MIXED[2][1] + MIXED[-1][0]",
    "mixed types unpacked": "p, q, r = MIXED\ns = p * q + r[0] * i",
    "slices of constant tuples": "for d in DIRS[1:3]:\n    s += d[0] - 2 * d[1]",
    "enumerate over a constant table": "for k, d in enumerate(DIRS):\n    s += k * d[0] - d[1]",
    "zip over two tables": "for d, e in zip(DIRS, CUBE):\n    s += d[0] * e[0][1] + e[1][0]",
    "a step of a walk, tuple in, tuple out": """
        p = (i, 0)
        for d in DIRS:
            p = step(p, d)
            s += p[0] + 100 * p[1]
    """,
    "named tuples beside the kernel": "s = ORIGIN.x * a[i] + ORIGIN.y + CORNERS[i % 3].y",
    "a loop over named tuples": "for c in CORNERS:\n    s += c.x * i - c.y",
    "stencil weights": "for k in range(3):\n    s += WEIGHTS[k] * a[(i + k - 1) % n]",
    "a tuple of tables": "s = TABLES[0][i % 3] + 10 * TABLES[1][(i + 1) % 3]",
    "structures beside the kernel": "s = ATOMS[i % 3].x + ATOMS[i % 3].kind * 10",
    "structures by text": 's = ATOMS[i % 3]["x"] + ATOMS["kind"][1]',
    "flags in a tuple": "if FLAGS[i % 3]:\n    s = a[i]",
    "a list in a loop": "for k in [1, 2, 5]:\n    s += a[(i + k) % n] * k",
    "a list of pairs in a loop": "for p, q in [(0, 1), (2, 3)]:\n    s += a[p] * a[q] + i",
    "a list of variables": "for v in [a[i], a[0], s]:\n    s += v * v",
    "membership of a list": "s = 1.0 if i in [1, 2, 3, 5, 8, 13] else 2.0",
    "no member of a tuple": "s = 1.0 if i not in (1, 2, 3) else 2.0",
    "infinity as the first minimum": """
        best = float("inf")
        for k in range(n):
            if abs(a[k] - a[i]) < best and k != i:
                best = abs(a[k] - a[i])
        s = best
    """,
    "negative infinity": """
        best = -float("inf")
        for k in range(i + 1):
            best = max(best, a[k])
        s = best
    """,
    "functions of NumPy": "s = np.sin(a[i]) + np.minimum(a[i], 0.5) + np.hypot(a[i], 2.0)",
    "maximum of NumPy with a nan": "s = 1.0 if np.isnan(np.maximum(a[i], math.nan)) else 0.0",
    "fmax of NumPy with a nan": "s = np.fmax(a[i], math.nan)",
    "logic of NumPy": "s = 1.0 if np.logical_and(a[i] > 0, i % 2 == 0) else -1.0",
    "a bound by ceil": "for k in range(math.ceil(abs(a[i]))):\n    s += k + 1",
    "a bound by floor of a quotient": "for k in range(1, math.floor(n / 7)):\n    s += k * a[k]",
    "round to digits": "s = round(a[i], 2) + round(100 * a[i], -1) + round(a[i], i % 4)",
    "halves to the even side": "s = round(i + 0.5) + round(i / 4, 1)",
    "complex numbers": "w = z[i] * z[i].conjugate()\ns = w.real + abs(z[i]) + z[i].imag",
    "a fractal": """
        c = complex(a[i], 0.25)
        w = 0j
        k = 0
        while k < 20 and w.real * w.real + w.imag * w.imag < 4.0:
            w = w * w + c
            k += 1
        s = k
    """,
    "the conjugate of a real number": "s = a[i].conjugate() + n.conjugate()",
    "a local array by a name of the kernel": """
        SIZE = 4
        own = cuda.local.array(SIZE, float64)
        for k in range(SIZE):
            own[k] = a[(i + k) % n]
        for k in range(SIZE):
            s = s * 2 + own[SIZE - 1 - k]
    """,
    "a shared array by text": """
        tile = cuda.shared.array(TILE, dtype="float64")
        t = cuda.threadIdx.x
        tile[t] = a[i]
        cuda.syncthreads()
        s = tile[TILE - 1 - t]
    """,
    "a shared array of the type of an argument": """
        tile = cuda.shared.array(shape=TILE, dtype=a.dtype)
        t = cuda.threadIdx.x
        tile[t] = 2 * a[i]
        cuda.syncthreads()
        s = tile[(t + 3) % TILE]
    """,
    "a tile of two dimensions and a pad": """
        ROWS, PADDED = 4, 9
        shape = (4, 9)
        tile = cuda.shared.array(shape, float64)
        t = cuda.threadIdx.x
        if t < 4:
            for k in range(9):
                tile[t, k] = k * t
        cuda.syncthreads()
        s = tile[t % 4, t]
    """,
    "the last cell": "s = a[-1] - a[-2] + m[-1, -1] + m[i % 4, -2]",
    "a window around each cell": """
        for d in range(-2, 3):
            s += a[(i + d) % n] * (d + 3)
    """,
    "a window from the end": "for d in range(-3, 3):\n    s = s * 0.5 + a[d]",
    "rows as views": "row = m[i % 4]\nfor x in row:\n    s += x\ns *= row.size",
    "a column as a view": "column = m[:, i % 6]\ns = column[0] - column[-1] * column.size",
    "backwards": "back = a[::-1]\ns = back[i] + back[-1]",
    "every other cell": "even = a[::2]\ns = even[i // 2] + len(even)",
    "chained comparisons": "s = 1.0 if 0.0 <= a[i] < 1.0 <= i < n - 3 else 2.0",
    "chained assignment": "p = q = a[i]\np += 1\ns = p * q",
    "a swap": "p, q = a[i], a[0]\np, q = q, p\ns = p - 3 * q",
    "three at once": "p, q, r = a[i], i, n\np, q, r = r, p, q\ns = p - q * r",
    "while ... else": """
        k = i
        while k > 0:
            if a[k] > 1.5:
                break
            k -= 1
        else:
            s = 100.0
        s += k
    """,
    "for ... else": """
        for k in range(2, 7):
            if (i + 2) % k == 0:
                s = k
                break
        else:
            s = -1.0
    """,
    "conditions that return numbers": "s = (i % 3 or 7) + (i % 2 and a[i])",
    "bits": "s = (i ^ (i >> 1)) + ((i << 3) & 0xFF) + (~i) % 5 + (i | 9)",
    "powers": "s = a[i] ** 2 + 2.0 ** (i % 5) + (i % 7) ** 3 + abs(a[i]) ** 0.5",
    "quotients and remainders of negative numbers": """
        j = i - 20
        s = j // 7 * 100 + j % 7 + divmod(j, -3)[1]
    """,
    "a hash": "h = i * 2654435761 % 4294967296\ns = (h >> 16) % 1000 + h % 7",
    "a linear congruence": """
        x = i
        for k in range(5):
            x = (1103515245 * x + 12345) % 2147483648
        s = x
    """,
    "bool arithmetic": "s = (a[i] > 0) + 2 * (i % 2 == 0) + True",
    "a nested conditional": "s = 1.0 if a[i] > 1 else 2.0 if a[i] > 0 else 3.0 if i % 2 else 4.0",
    "a function within": """
        def area(w, h=2.0):
            return w * h + i
        s = area(a[i]) + area(1.0, h=a[0])
    """,
    "min and max of many": "s = min(a[i], 0.5, i, 3) + max((i % 5, 2, 3)) + max(a[i], -a[i])",
    "sum of a tuple": "s = sum((a[i], i, 0.5))",
    "sorting a few numbers": """
        p, q, r = a[i], a[(i + 1) % n], a[(i + 2) % n]
        if p > q:
            p, q = q, p
        if q > r:
            q, r = r, q
        if p > q:
            p, q = q, p
        s = p + 10 * q + 100 * r
    """,
    "insertion sort in local memory": """
        own = cuda.local.array(5, float64)
        for k in range(5):
            x = a[(i + 3 * k) % n]
            j = k
            while j > 0 and own[j - 1] > x:
                own[j] = own[j - 1]
                j -= 1
            own[j] = x
        for k in range(5):
            s = s * 2 + own[k]
    """,
    "binary search": """
        low, high = 0, 32
        while low < high:
            middle = (low + high) // 2
            if middle * middle < i:
                low = middle + 1
            else:
                high = middle
        s = low
    """,
    "a grid-stride loop": """
        total = 0.0
        for k in range(i, n, cuda.gridsize(1)):
            total += a[k]
        s = total
    """,
    "two buffers with an early return": """
        now, after = a, out
        if i >= n - 5:
            return
        if i % 2 == 0:
            now = a[:]
        s = now[i] * 2
    """,
    "a type beside a store": "s = np.float32(a[i]) + np.int32(a[i] * 10) + float32(0.1)",
    "an assertion that holds": 'assert n > 0, "no cells"\ns = a[i]',
    "a docstring and pass": '"""What it does."""\nif i < 3:\n    pass\nelse:\n    s = 1.0',
    "an annotation": "x: float64 = a[i]\ns = x * 2",
    "underscores": "for _ in range(3):\n    s += a[i]\n_, q = divmod(i, 4)\ns += q",
    "a complex power": "s = (z[i] ** 2).real + (z[i] / (1 + 2j)).imag",
    "constants of math": "s = math.pi * math.e + math.tau if not math.isinf(math.inf) else math.pi",
}

REFUSED = {
    "a keyword-only argument": ("s = horner(a[i], scale=2.0)", "keyword-only"),
    "a lambda in a dict": ("f = {0: 1}\ns = f[0]", "a dict cannot be used in a kernel"),
    "clip of NumPy": ("s = np.clip(a[i], 0, 1)", "np.clip cannot be used in a kernel"),
    "sum of a whole row": ("s = sum(m[i % 4])", "does not know sum of a whole array, Numba does"),
    "a whole array scaled": ("b = a * 2\ns = b[i]", "a is a whole array"),
    "a mixed tuple by a variable": ("s = MIXED[i % 2]", "takes constant indices only"),
    "recursion": (
        "def fact(k):\n    return 1 if k < 2 else k * fact(k - 1)\ns = fact(i)",
        "fact calls itself before anything says what it returns",
    ),
    "an index by a bool": ("s = a[i > 3]", "an index must be a whole number, and i > 3 is bool"),
    "a comprehension": ("v = [a[k] for k in range(3)]\ns = v[0]", "a list comprehension"),
    "min of fmin": ("s = math.fmin(a[i], 1.0)", "there is no math.fmin"),
    "exceptions": ("try:\n    s = a[i]\nexcept IndexError:\n    s = 0.0", "try ... except"),
    "an f-string": ('print(f"{i}")', "an f-string cannot be used"),
}


def written(body: str) -> str:
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return f"{HEAD}{lines}\n    out[i] = s\n"


def launched(folder: Path, body: str, *arguments: Any) -> Any:
    path = folder / "kernel.py"
    imports = "import math\nimport operator\nimport numpy as np\n"
    path.write_text(f"{imports}from numba import cuda, float32, float64\n{written(body)}")
    return simulate(f"{path}:kernel", policy="foreign")[5, 8](*arguments)


def arguments() -> list[Any]:
    rng = np.random.default_rng(11)
    a, m = rng.normal(size=40), rng.normal(size=(4, 6))
    return [np.full(40, -1.0), a, m, rng.normal(size=40) + 1j * rng.normal(size=40), 40]


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT.keys())
def test_a_valid_kernel_computes_what_python_computes(body: str, tmp_path: Path) -> None:
    found, expected = arguments(), arguments()
    report = launched(tmp_path, body, *found)
    assert report.ok, report
    # In Python the fields of a structure have names with a dot in a recarray only.
    text = written(body).replace("dtype=PARTICLE)", "dtype=PARTICLE).view(np.recarray)")
    run_serially(text, "kernel", (5, 1, 1), (8, 1, 1), *expected)
    np.testing.assert_allclose(found[0], expected[0], rtol=2e-7)


@pytest.mark.parametrize(("body", "fact"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_known_is_said(body: str, fact: str, tmp_path: Path) -> None:
    with pytest.raises(KernelRefused) as refused:
        launched(tmp_path, body, *arguments())
    assert fact in refused.value.fact
