"""Accesses of whole blocks: compiled, a launch gives the results and counters that it gives now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simt.compiled import run as compiled
from simt.compiled.writing.emitter import Emitter
from simt.kernel.lower import lower
from simt.machine import memory
from simt.machine.launch import bind_arguments, bound, type_of
from simt.report import Counters
from simt.simulator import simulate

HEAD = "from numba import cuda, float32, int64, uint8\n\n\n@cuda.jit\ndef kernel(out, a, n):\n"
LINES = """
guarded          i = cuda.grid(1); if i < n:; .out[i] = a[i] + 1
early            i = cuda.grid(1); if i >= n:; .return; out[i] = a[i] * 2
none             if n == 0:; .return; i = cuda.grid(1); out[i] = a[i]
strides          for i in range(cuda.grid(1), n, cuda.gridsize(1)):; .out[i] = a[i] - 3
backwards        i = cuda.grid(1); out[n - 1 - i] = a[n - 1 - i]
one for all      i = cuda.grid(1); s = float32(0); for k in range(5):; .s += a[k]; out[i] = s
by two           i = cuda.grid(1); out[i] = a[2 * i]
by n             i = cuda.grid(1); out[i] = a[cuda.threadIdx.x // 16 * n + cuda.threadIdx.x % 16]
choice           i = cuda.grid(1); out[i] = a[i] if i < n else float32(7)
twice            i = cuda.grid(1); out[i] = a[i]; out[i] = out[i] + 1
all to one       i = cuda.grid(1); out[cuda.threadIdx.x % 16] = a[i]
beyond           i = cuda.grid(1); out[i + 1] = a[i]
before           i = cuda.grid(1); out[i] = a[i - 1]
halves           i = cuda.grid(1); out[i] = a[i // 2]
each warp alike  i = cuda.grid(1); t = cuda.threadIdx.x; out[i] = a[t % 32 * 9] + a[t % 16 * 5 + n]
exchange         t = cuda.threadIdx.x; s = cuda.shared.array(64, float32); s[t] = a[t]; cuda.syncthreads(); out[t] = s[63 - t]
no barrier       t = cuda.threadIdx.x; s = cuda.shared.array(64, float32); s[t] = a[t]; out[t] = s[63 - t]
own cells        t = cuda.threadIdx.x; s = cuda.shared.array(64, float32); s[t] = a[t]; out[t] = s[t] + s[t]
not written      t = cuda.threadIdx.x; s = cuda.shared.array(65, float32); s[t] = a[t]; cuda.syncthreads(); out[t] = s[t + 1]
columns          t = cuda.threadIdx.x; s = cuda.shared.array((8, 9), int64); s[t % 8, t // 8] = t; cuda.syncthreads(); out[t] = s[t // 8, t % 8]
bytes            t = cuda.threadIdx.x; s = cuda.shared.array((8, 64), uint8); for k in range(8):; .s[k, t] = t + k; cuda.syncthreads(); for k in range(8):; .out[t] += float32(s[k, t]); .out[t] += float32(s[k, 63 - t])
wide loads       t = cuda.threadIdx.x; s = cuda.shared.array((16, 64), float32); for k in range(16):; .s[k, t] = a[t]; cuda.syncthreads(); for k in range(16):; .out[t] += s[t % 16, k] + s[k, 3] + s[t // 4, k]; .if t < 40:; ..out[t] += s[t % 16, k] + s[0, t]
part of a tile   t = cuda.threadIdx.x; s = cuda.shared.array(64, float32); s[t] = a[t]; cuda.syncthreads(); if t < 32:; .out[t] = s[t + 32]; out[t + 64] = s[t]; out[t + 128] = s[t ^ 1]
halves           t = cuda.threadIdx.x; s = cuda.shared.array(64, float32); s[t] = a[t]; cuda.syncthreads(); k = 32; while k > 0:; .if t < k and t + k < n:; ..s[t] += s[t + k]; .cuda.syncthreads(); .k //= 2; if t == 0:; .out[cuda.blockIdx.x] = s[0]
no barrier below t = cuda.threadIdx.x; s = cuda.shared.array(64, float32); s[t] = a[t]; cuda.syncthreads(); k = 32; while k > 0:; .if t < k:; ..s[t] += s[t + k]; .k //= 2; if t == 0:; .out[0] = s[0]
sums so far      t = cuda.threadIdx.x; s = cuda.shared.array(64, float32); s[t] = a[t]; cuda.syncthreads(); k = 1; while k < 64:; .x = float32(0); .if t >= k:; ..x = s[t - k]; .cuda.syncthreads(); .s[t] += x; .cuda.syncthreads(); .k *= 2; out[t] = s[t]
beyond a tile    t = cuda.threadIdx.x; s = cuda.shared.array(64, float32); s[t] = a[t]; cuda.syncthreads(); if t < n:; .out[t] = s[t + 30]
before a tile    t = cuda.threadIdx.x; s = cuda.shared.array(64, float32); if t > n % 32:; .s[t - 20] = a[t]; cuda.syncthreads(); if t > 40:; .out[t] = s[t - 20]
idle loads       t = cuda.threadIdx.x; s = cuda.shared.array(64, float32); for k in range(3):; .s[t] = a[t + k]; .cuda.syncthreads(); .out[t] += s[t ^ 32]; .cuda.syncthreads()
"""  # noqa: E501
KERNELS = {
    name.strip(): body.strip()
    for name, body in ((line[:17], line[17:]) for line in LINES.splitlines() if line.strip())
}
RACED = ("no barrier", "no barrier below", "not written", "all to one", "before")
LAUNCHES = {"whole blocks": (2, 64), "a block": (1, 64), "a part": (1, 45)}
SIZES = {"all": 128, "fewer": 100, "far": 31}


def text_of(body: str) -> str:
    """A kernel; the points at the beginning of a part say how deep it stands."""
    lines = []
    for part in body.split(";"):
        part = part.strip()
        deep = len(part) - len(part.lstrip("."))
        lines.append("    " * (deep + 1) + part.lstrip("."))
    return HEAD + "\n".join(lines) + "\n"


def both(path: Path, launch: Any, given: list[Any]) -> tuple[Any, dict[int, Counters] | None, Any]:
    """Returns a report, the counters of the compiled launch, and its arrays."""
    mine = [given[0].copy(), *given[1:]]
    simulation = simulate(f"{path}:kernel")
    configured = simulation[launch]
    report = configured(*given)
    values = bind_arguments(simulation.program, tuple(mine))
    arrays = memory.bind({n: v for n, v in values.items() if isinstance(v, np.ndarray)})
    code = lower(simulation.program.written, tuple(map(type_of, values.values())))
    arguments = {name: bound(name, value, arrays) for name, value in values.items()}
    order = np.arange(np.prod(configured.grid))
    grid, block = configured.grid, configured.block
    return report, compiled.run(code, grid, block, arguments, order, simulation.step_budget), mine


@pytest.mark.parametrize("name", KERNELS)
def test_compiled_as_interpreted(name: str, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(text_of(KERNELS[name]))
    clean = 0
    for launch in LAUNCHES.values():
        for n in (*SIZES.values(), 0):
            rng = np.random.default_rng(n)
            given: list[Any] = [np.zeros(260, np.float32), rng.standard_normal(300, np.float32), n]
            report, counters, mine = both(path, launch, given)
            if report.hazards:
                assert counters is None
                continue
            clean += 1
            assert counters == dict(report.by_line)
            assert mine[0].tobytes() == given[0].tobytes()
    assert clean or name in RACED


MATRICES = (
    HEAD
    + """\
    column, row = cuda.grid(2)
    if row < a.shape[0] and column < a.shape[1]:
        out[row, column] = a[row, column] + a[row, 0] + a[0, column]
"""
)


@pytest.mark.parametrize("block", [(16, 4), (32, 2), (8, 8), (64, 1)])
@pytest.mark.parametrize("way", ["rows", "columns"])
def test_strides_that_a_launch_brings(block: tuple[int, int], way: str, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(MATRICES)
    a = np.arange(33 * 70, dtype=np.float32).reshape(33, 70)
    given = {"rows": a, "columns": a.T}[way]
    grid = -(-given.shape[1] // block[0]), -(-given.shape[0] // block[1])
    report, counters, mine = both(
        path, (grid, block), [np.zeros(given.shape, np.float32), given, 0]
    )
    assert not report.hazards
    assert counters == dict(report.by_line)
    assert (mine[0] == given + given[:, :1] + given[:1]).all()


PRODUCTS = {
    "x is the row": """\
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[i, k] * a[k, j]
        out[i, j] = total
""",
    "in place": """\
    x, y = cuda.grid(2)
    if x >= n or y >= n:
        return
    out[y, x] = 0
    for k in range(n):
        out[y, x] += a[y, k] * a[k, x]
""",
    "rows of rows": """\
    x, y = cuda.grid(2)
    wide, high = cuda.gridsize(2)
    for row in range(y, a.shape[0], high):
        for column in range(x, a.shape[1], wide):
            total = float32(0)
            for k in range(a.shape[1]):
                total += a[row][k] * a[k][column]
            out[row][column] = total
""",
    "backwards": """\
    x, y = cuda.grid(2)
    wide, high = cuda.gridsize(2)
    for row in range(n - 1 - y, -1, -high):
        for column in range(n - 1 - x, -1, -wide):
            total = float32(0)
            for k in range(len(a)):
                total += a[row][k] * a[k, column]
            out[row, column] = total
""",
}
FAULTY = {
    "one row too many": ("x is the row", "i < out.shape[0]", "i <= out.shape[0]"),
    "one column too many": ("rows of rows", "a[k][column]", "a[k][column + 1]"),
    "a row from the end": ("rows of rows", "a[row][k]", "a[row - 1][k]"),
    "all to one row": ("rows of rows", "out[row][column] = total", "out[0][column] = total"),
    "the next one's row": (
        "rows of rows", "out[row][column] = total", "out[row][column] = out[row // 2][column]"
    ),
    "the next one's cell": ("in place", "out[y, x] +=", "out[y, n - 1 - x] +="),
}  # fmt: skip


@pytest.mark.parametrize("n", [32, 37])
@pytest.mark.parametrize("block", [(16, 16), (32, 4), (8, 8)])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str, block: tuple[int, int], n: int, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(HEAD + PRODUCTS[name])
    a = np.random.default_rng(n).standard_normal((n, n), np.float32)
    grids = [(-(-n // block[0]), -(-n // block[1]))]
    for grid in [*grids, (2, 1)] if name in ("rows of rows", "backwards") else grids:
        report, counters, mine = both(path, (grid, block), [np.zeros((n, n), np.float32), a, n])
        assert not report.hazards
        assert counters == dict(report.by_line)
        assert np.allclose(mine[0], a @ a, atol=1e-4)


@pytest.mark.parametrize("block", [(16, 16), (32, 4)])
@pytest.mark.parametrize("name", FAULTY)
def test_faulty_products(name: str, block: tuple[int, int], tmp_path: Path) -> None:
    kernel, right, wrong = FAULTY[name]
    assert right in PRODUCTS[kernel]
    path = tmp_path / "kernel.py"
    path.write_text(HEAD + PRODUCTS[kernel].replace(right, wrong))
    a = np.random.default_rng(0).standard_normal((32, 32), np.float32)
    grid = 64 // block[0], 64 // block[1]
    report, counters, _ = both(path, (grid, block), [np.zeros((32, 32), np.float32), a, 32])
    assert report.hazards
    assert counters is None


def test_a_whole_block_is_looked_at_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(text_of(KERNELS["guarded"]))
    program = simulate(f"{path}:kernel").program
    given = bind_arguments(program, (np.zeros(9, np.float32), np.zeros(9, np.float32), 9))
    code = lower(program.written, tuple(map(type_of, given.values())))
    whole, part = (Emitter(code, (threads, 1, 1)) for threads in (64, 63))
    whole.text(), part.text()
    assert len(whole.whole.places) == 2
    assert not part.whole.places


SCATTERED = """\
from numba import cuda


@cuda.jit
def kernel(out, a, places):
    i = cuda.grid(1)
    if i < out.size and places[i] >= 0:
        out[i] = a[places[i]]
"""


@pytest.mark.parametrize("far", [3, 60, 1 << 15, 1 << 16, 1 << 18])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.int64])
def test_sectors_of_scattered_lanes(far: int, dtype: type[np.generic], tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(SCATTERED)
    rng = np.random.default_rng(far)
    places = rng.integers(-1 - far // 3, far, 200)
    a = rng.integers(0, 100, 1 << 18).astype(dtype)
    given: list[Any] = [np.zeros(200, dtype), a, places]
    report, counters, mine = both(path, (4, 64), given)
    assert not report.hazards
    assert counters == dict(report.by_line)
    assert (mine[0] == np.where(places < 0, 0, a[places])).all()
