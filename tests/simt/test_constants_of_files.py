"""Constants beside kernels, in files that are read and never run: as Python would have them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simt.errors import KernelRefused
from simt.simulator import simulate

# What stands above the kernel -> what the kernel stores
TAKEN: dict[str, str] = {
    "from math import inf, pi": "pi if inf > 3 else 0",
    "from math import pi as turn": "turn",
    "from math import *": "sqrt(e)",
    "from cmath import pi": "pi",
    "from numpy import pi, e": "pi + e",
    "import math as m": "m.pi + m.sqrt(2.0)",
    "import numpy": "numpy.pi + numpy.int32(2)",
    "import numpy as n": "n.int32(7) / n.float64(2)",
    "from numpy import float32 as f32": "f32(0.1)",
    "from math import sqrt as root": "root(2.0)",
    "TILE, ROWS = 32, 8": "TILE * 100 + ROWS",
    "(A, B), C = (1, 2), 3": "A * 100 + B * 10 + C",
    "[A, B] = [1, 2]": "A * 10 + B",
    "A = B = 8": "A + B",
    "A, B = C = 3, 4": "A * 100 + B * 10 + C[1]",
    "A, *B, C = 1, 2, 3, 4": "A * 10 + C",
    "A, *B = (5,)": "A",
    "SIZES = 3, 4\nA, B = SIZES": "A * 10 + B",
    "A, B = 1, 2\nA, B = B, A": "A * 10 + B",
    "A = 3\nA, B = A + 1, A": "A * 10 + B",
    "N: int = 4": "N",
    "N = 4\nN *= 3\nN += 1": "N",
    "N = 4\nN = N * 2": "N",
    "BIG = True\nN = 64 if BIG else 32": "N",
    "A = 3\nN = A > 2 and A < 9": "1 if N else 0",
    "A = 0\nN = A or 7": "N",
    "N = 1 < 2 <= 2": "1 if N else 0",
    "SIZES = (3, 4, 5)\nN = SIZES[1] + SIZES[-1]\nM = SIZES[1:]": "N * 10 + M[0]",
    "A, B = 3, 9\nN = max(A, B) - min((A, B))": "N",
    "N = int(7.9) + round(2.6) + abs(-3) + len((1, 2)) + sum((3, 4))": "N",
    "import math\nN = math.sqrt(2) * math.ceil(1.2)": "N",
    "from math import log2\nN = int(log2(32))": "N",
    "N = 2 ** 5 | 1 << 3": "N",
    "A = (1, 2)\nB = (*A, 3)": "B[2] * 10 + B[0]",
    "DEBUG = False\nif DEBUG:\n    N = 1\nelse:\n    N = 2": "N",
    "N = 1\nif N > 0:\n    N = 5": "N",
    "try:\n    import math as m\nexcept ImportError:\n    m = None": "m.pi",
    "N = 3\nif __name__ == '__main__':\n    N = 100": "N",
    "N, M = 3, 4\ndel M": "N",
}


def launched(folder: Path, head: str, stored: str) -> float:
    path = folder / "kernel.py"
    text = f"from numba import cuda\n{head}\n\n@cuda.jit\ndef kernel(out):\n    out[0] = {stored}\n"
    path.write_text(text)
    out = np.zeros(1)
    assert simulate(f"{path}:kernel")[1, 1](out).ok
    return float(out[0])


@pytest.mark.parametrize("head", TAKEN)
def test_a_constant_is_what_python_makes_of_it(head: str, tmp_path: Path) -> None:
    stored = TAKEN[head]
    scope: dict[str, Any] = {"__name__": "kernel"}
    exec(head, scope)
    expected = float(eval(stored, scope))
    found = launched(tmp_path, head, stored)
    assert math.isclose(found, expected, rel_tol=1e-15) and expected != 0


@pytest.mark.parametrize("spelled", ["float32", "f32", "nb.float32", "t.float32"])
def test_a_type_by_any_name_makes_an_array(spelled: str, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        "from numba import cuda, float32, int32\nfrom numpy import float32 as f32\n"
        "import numba as nb\nfrom numba import types as t\nTILE, ROWS = 4, 2\n"
        f"@cuda.jit\ndef kernel(out):\n    a = cuda.shared.array((TILE, ROWS), {spelled})\n"
        "    a[0, 0] = 0.1\n    out[0] = a[0, 0]\n"
    )
    out = np.zeros(1)
    simulate(f"{path}:kernel")[1, 1](out)
    assert out[0] == np.float32(0.1)


# What nobody can know without running the file: told as that, and never an older value
UNKNOWN = {
    "N = 3\nfor k in range(4):\n    N += k": "a for assigns it",
    "N = 3\nwhile N < 10:\n    N += 1": "a while assigns it",
    "import os\nN = 3\nif os.cpu_count() > 4:\n    N = 4": "a if assigns it",
    "N, M = divide(7)": "the name divide is not defined above it",
    "N, M = 1, 2, 3": "a value that is taken apart",
    "N = 3\nN *= f(2)": "the name f is not defined above it",
    "N = open('x')": "the name open is not defined above it",
    "import random\nN, M = random.random(), 2": "arithmetic",
}


@pytest.mark.parametrize("head", UNKNOWN)
def test_what_is_no_constant_is_told(head: str, tmp_path: Path) -> None:
    with pytest.raises(KernelRefused) as caught:
        launched(tmp_path, head, "N")
    assert caught.value.fact.startswith("N is not a constant the simulator can evaluate (")
    if head.startswith("import random"):
        return
    assert UNKNOWN[head] in caught.value.fact


def test_names_that_share_a_tuple_share_its_cost(tmp_path: Path) -> None:
    lines = ["A, B = (1, 1), (1, 1)", *["A, B = (A, B, A, B), (B, A)"] * 40]
    with pytest.raises(KernelRefused) as caught:
        launched(tmp_path, "\n".join(lines), "A[0]")
    assert "too large" in caught.value.fact
    lines = ["A = (1, 1)", *["A, *B = ((A, A, A), 1)"] * 40]
    with pytest.raises(KernelRefused) as caught:
        launched(tmp_path, "\n".join(lines), "A[0]")
    assert "too large" in caught.value.fact or "too deeply" in caught.value.fact
