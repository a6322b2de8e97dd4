"""Indices from the end in scripts: the cells that NumPy takes, in loops, views and atomics.

A loop keeps the pattern of an access and moves it. An index that goes from below 0 to above it
moves by no such step, along any axis, so random kernels of such loops are held against NumPy.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simt.report import Report
from simt.simulator import simulate
from tests.sampling import examples
from tests.simt.oracle import run_serially

IMPORTS = "import numpy as np\nfrom numba import cuda, uint32, uint64, int8, float64\n\n\n"
SHAPE = (5, 4, 3, 6)
LANES = 40


def kernel_of(body: str) -> str:
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return (
        "@cuda.jit\ndef kernel(out, total, a, b, c, e):\n"
        f"    i = cuda.grid(1)\n    s = 0\n{lines}\n    out[i, -1] = s\n"
    )


def arguments() -> list[np.ndarray]:
    """out, total, and one array for each number of dimensions."""
    rng = np.random.default_rng(3)
    inputs = [rng.integers(-99, 99, SHAPE[:n]) for n in (1, 2, 3, 4)]
    return [np.full((LANES, 4), -7), np.zeros((3, 4), np.int64), *inputs]


def launched(folder: Path, text: str, given_arrays: list[np.ndarray], policy: str) -> Report:
    path = folder / "kernel.py"
    path.write_text(IMPORTS + text)
    return simulate(f"{path}:kernel", policy=policy)[2, 20](*given_arrays)


def check(folder: Path, body: str) -> Report:
    """Runs a script's kernel, and NumPy on the same text: the same values, and no error."""
    text, found, expected = kernel_of(body), arguments(), arguments()
    report = launched(folder, text, found, "foreign")
    assert report.ok, report
    head = "uint32 = uint64 = int8 = int\n"
    run_serially(head + text, "kernel", (2, 1, 1), (20, 1, 1), *expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other, text)
    return report


BODIES = {
    "lanes that all come up over the first cell": """
        for d in range(5):
            s = s * 3 + a[i % 2 - 2 + d]
    """,
    "lanes that all go down below the first cell": """
        for d in range(5):
            s = s * 3 + b[2 - d, i % 2 + 2 - d]
    """,
    "a window that starts before the first cell": """
        for d in range(-1, 2):
            s += a[d]
    """,
    "along the first axis": """
        for d in range(-2, 3):
            s = s * 3 + b[d, i % 4]
    """,
    "along the last axis": """
        for d in range(-2, 3):
            s = s * 3 + b[i % 5, d]
    """,
    "two axes at once": """
        for d in range(-2, 3):
            for k in range(-1, 2):
                s = s * 3 + c[d, k, -k]
    """,
    "four axes": """
        for d in range(-3, 3):
            s = s * 3 + e[d, -1, d // 2, -d]
    """,
    "downwards": """
        for d in range(2, -3, -1):
            s = s * 3 + b[d, i % 4] - b[0, d]
    """,
    "a while loop": """
        d = -4
        while d < 4:
            s = s * 3 + a[d]
            d += 3
    """,
    "from one lane to the next": """
        for d in range(-2, 3):
            s = s * 3 + b[i % 3 - d, d]
    """,
    "an index of each lane that stays": """
        j = i % 9 - 4
        for d in range(-2, 3):
            s = s * 3 + b[j, d]
    """,
    "stores": """
        for d in range(-2, 2):
            out[i, d] = 10 * d + i
    """,
    "a store and its own load": """
        for d in range(-2, 2):
            out[i, d] = d
            out[i, d] += i
            s = s * 3 + out[i, d]
    """,
    "atomics": """
        for d in range(-2, 2):
            cuda.atomic.add(total, (d % 3 - 1, d), i + 1)
    """,
    "rows": """
        for d in range(-2, 3):
            row = b[d]
            s = s * 3 + row[-1] + row[0] + row.size
    """,
    "a column of the end": """
        for d in range(-2, 3):
            column = b[:, d % 4 - 2]
            s = s * 3 + column[d]
    """,
    "a slab from the end": """
        for d in range(-2, 2):
            slab = e[d, :, d]
            s = s * 3 + slab[-1, -2] + slab[d, 0]
    """,
    "views of each lane": """
        for d in range(-2, 1):
            part = a[i % 3 : 5]
            s = s * 3 + part[d % 2 - 1]
    """,
    "slices from the end": """
        for d in range(-3, 0):
            part = a[d:]
            back = a[d::-1]
            s = s * 3 + part[-1] + part[0] + back[-1] + back[0]
    """,
    "unsigned ones": """
        for d in range(4):
            s = s * 3 + a[uint32(d)] + b[uint64(d), uint64(i % 4)] + a[int8(d - 2)]
    """,
    "shared memory": """
        tile = cuda.shared.array((4, 20), np.int64)
        t = cuda.threadIdx.x
        for d in range(-2, 2):
            tile[d, t] = d + i
        cuda.syncthreads()
        for d in range(-2, 2):
            s = s * 3 + tile[d, -t]
    """,
    "local memory": """
        own = cuda.local.array(4, np.int64)
        for d in range(-2, 2):
            own[d] = d * i
        for d in range(-4, 4):
            s = s * 3 + own[d]
    """,
    "a tuple by a variable": """
        t = (i, 2 * i, 5)
        for d in range(-3, 3):
            s = s * 3 + t[d] + t[i % 6 - 3]
    """,
    "views of two extents under one name": """
        for d in range(-2, 2):
            part = a[:3]
            if d % 2:
                part = a[:5]
            s = s * 3 + part[d]
    """,
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_a_loop_across_zero_takes_the_cells_that_numpy_takes(body: str, tmp_path: Path) -> None:
    check(tmp_path, body)


# Random index expressions in loops


@st.composite
def indices(draw: Any, size: int, names: list[str]) -> str:
    """An index from -size to size - 1, the same in all lanes or not."""
    name = draw(st.sampled_from([*names, "i", "d", "d"]))
    by, on = draw(st.integers(-3, 3)) or 1, draw(st.integers(-9, 9))
    kind = draw(st.sampled_from(["number", "wrapped", "from 0", "clamped"]))
    if kind == "number":
        return str(draw(st.integers(-size, size - 1)))
    if kind == "wrapped":
        return f"({by} * {name} + {on}) % {2 * size} - {size}"
    if kind == "from 0":
        return f"({by} * {name} + {on}) % {size}"
    return f"max(-{size}, min({size - 1}, {by} * {name} + {on}))"


@st.composite
def bodies(draw: Any) -> str:
    def index(shape: tuple[int, ...], names: list[str]) -> str:
        return ", ".join(draw(indices(n, names)) for n in shape)

    low = draw(st.integers(-4, 0))
    high, step = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    loop = f"for d in range({low}, {high}, {step}):"
    lines = [draw(st.sampled_from([loop, f"d = {low}\nwhile d < {high}:"]))]
    inner = draw(st.booleans())
    names = ["j", "k"] if inner else ["j"]
    lines += ["    j = i % 5 - 2"]
    deep = "    "
    if inner:
        lines += [f"    for k in range(-2, {draw(st.integers(0, 3))}):"]
        deep += "    "
    for _ in range(draw(st.integers(1, 3))):
        ndim = draw(st.integers(1, 4))
        name, shape = " abce"[ndim], SHAPE[:ndim]
        match draw(st.sampled_from(["load", "load", "row", "slice", "store", "atomic", "guard"])):
            case "load":
                lines += [f"{deep}s = (s * 3 + {name}[{index(shape, names)}]) % 10007"]
            case "guard":
                lines += [f"{deep}if {draw(st.sampled_from(names))} % 2 == 0:"]
                lines += [f"{deep}    s = (s * 5 + {name}[{index(shape, names)}]) % 10007"]
            case "row" if ndim > 1:
                cut = draw(st.integers(1, ndim - 1))
                lines += [f"{deep}row = {name}[{index(shape[:cut], names)}]"]
                lines += [f"{deep}s = (s * 3 + row[{index(shape[cut:], names)}]) % 10007"]
            case "slice" if shape[0] == 5:
                first = draw(st.integers(-5, 2))
                size = 5 - first % 5
                lines += [f"{deep}part = {name}[{first}:]"]
                lines += [f"{deep}s = (s * 3 + part[{index((size, *shape[1:]), names)}]) % 10007"]
            case "store":
                lines += [f"{deep}out[i, {index((4,), names)}] = s + d"]
            case "atomic":
                lines += [f"{deep}cuda.atomic.add(total, ({index((3, 4), names)}), d + i)"]
    if lines[0].startswith("d ="):
        lines += [f"    d += {step}"]
    return "\n".join(lines)


@settings(
    max_examples=examples(60, few=15),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(body=bodies())
def test_random_indices_in_loops_take_the_cells_that_numpy_takes(body: str, tmp_path: Path) -> None:
    check(tmp_path, body)


# What is said of them


def hazards(folder: Path, body: str, policy: str = "foreign") -> list[tuple[str, str, int]]:
    report = launched(
        folder, kernel_of(body).replace("out[i, -1] = s", "pass"), arguments(), policy
    )
    return [(h.kind, h.severity, h.line) for h in report.hazards]


ADVICE = ("out-of-bounds", "advice", 9)


@pytest.mark.parametrize(
    "line",
    [
        "s = a[-1]",
        "s = a[i % 5 - 3]",
        "s = b[-2, i % 4]",
        "s = b[i % 5, -1] + b[-1, -1] + a[-1]",
        "out[i, -2] = 1",
        "out[i, -2] += 1",
        "cuda.atomic.add(total, (-1, i % 4), 1)",
        "s = b[-1][0]",
        "s = e[1, :, -1, 2][0]",
        "s = a[-3:][-1]",
    ],
)
def test_an_index_from_the_end_is_advice_once_per_line(line: str, tmp_path: Path) -> None:
    assert hazards(tmp_path, line) == [ADVICE]
    assert hazards(tmp_path, f"for d in range(2):\n    {line}") == [(*ADVICE[:2], 10)]
    strict = hazards(tmp_path, line, "puzzle")
    assert {(kind, severity) for kind, severity, _ in strict} == {("out-of-bounds", "error")}


@pytest.mark.parametrize(
    "line",
    [
        "s = a[4] + a[i % 5]",
        "s = a[-2:][0] + a[::-1][0]",
        "if i < 0:\n    s = a[-1]",
        "t = (1, 2, i)\ns = t[-1]",
    ],
)
def test_what_counts_from_the_start_is_no_advice(line: str, tmp_path: Path) -> None:
    assert hazards(tmp_path, line) == []


def test_the_advice_says_which_cell_is_taken(tmp_path: Path) -> None:
    text = kernel_of("j = i % 5 - 2\ns = b[j, 3]").replace("out[i, -1] = s", "pass")
    (hazard,) = launched(tmp_path, text, arguments(), "foreign").hazards
    shown = [line.partition("    ")[0] for line in hazard.text().splitlines()]
    assert shown[0] == "OutOfBoundsError: b[-2, 3] counts from the end of an array of shape (5, 4)"
    assert hazard.details["why"] == (
        "j is -2..-1 there (j = i % 5 - 2, line 9); Numba takes it for b[3, 3], and reports nothing"
    )
    assert hazard.details["try"] == (
        "where the end is meant, write b.shape[0] - 2; where it is not, guard the access"
    )


@pytest.mark.parametrize(
    ("line", "index"),
    [
        ("s = a[i % 2 - 7]", "a[-7]"),
        ("s = a[-6]", "a[-6]"),
        ("s = b[-6][0]", "b[-6, 0]"),
        ("for d in range(-6, -4):\n    s = a[d]", "a[-6]"),
        ("s = a[uint64(i) - uint64(41)]", "a[9223372036854775807]"),
        ("k = uint64(0) - uint64(1)\ns = a[k]", "a[9223372036854775807]"),
        ("t = (1, 2, 3)\ns = t[i % 2 - 4]", "t[-4]"),
    ],
)
def test_an_index_before_the_end_is_outside_under_its_own_name(
    line: str, index: str, tmp_path: Path
) -> None:
    text = kernel_of(line).replace("out[i, -1] = s", "pass")
    report = launched(tmp_path, text, arguments(), "foreign")
    (error,) = (h for h in report.hazards if h.severity == "error")
    assert f"OutOfBoundsError: {index} is outside" in error.message


def test_slices_of_nothing_are_empty_views(tmp_path: Path) -> None:
    body = "part = a[5:]\nnone = part[:]\ns = part.size + none.size + b[:, 4:].shape[1] + 1"
    assert check(tmp_path, body).hazards[0].severity == "advice"  # out[i, -1]


def test_a_loop_across_zero_makes_no_race(tmp_path: Path) -> None:
    body = """
        for d in range(-1, 3):
            out[i, d] = i
            s += out[i, d]
    """
    assert {h.severity for h in check(tmp_path, body).hazards} == {"advice"}
