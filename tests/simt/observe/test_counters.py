"""Counters against brute force, and against what anybody can count by hand."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda, float32

from simt.observe.transactions import count_request
from simt.report import Counters, GlobalCounters, Report
from simt.simulator import simulate
from simt.stepping import record


def brute_force(address: list[int], warps: list[int], itemsize: int) -> GlobalCounters:
    total = GlobalCounters()
    for warp in sorted(set(warps)):
        asked = {
            a + k for a, w in zip(address, warps, strict=True) if w == warp for k in range(itemsize)
        }
        sectors = len({byte // 32 for byte in asked})
        total += GlobalCounters(1, sectors, sectors - -(-len(asked) // 32), len(asked))
    return total


@given(
    lanes=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 300)), min_size=1, max_size=80),
    itemsize=st.sampled_from([1, 2, 4, 8]),
)
def test_sectors_against_brute_force(lanes: list[tuple[int, int]], itemsize: int) -> None:
    lanes = sorted(lanes, key=lambda lane: lane[0])
    warps = [warp for warp, _ in lanes]
    address = [4096 + cell * itemsize for _, cell in lanes]
    counted = count_request(np.array(address), np.array(warps), itemsize)
    assert counted == brute_force(address, warps, itemsize)


HEAD = "from numba import cuda, float32, float64, int32\n"
ANOTHER_TILE = """\
r = cuda.shared.array(64, float64)
r[i] = 1
cuda.syncthreads()
"""
FILLED_TILE = """\
i = cuda.grid(1)
s = cuda.shared.array(64, float64)
s[i] = 0
cuda.syncthreads()
"""


def launch(tmp_path: Path, body: str, grid: int, block: int, n: int = 4096) -> Report:
    path = tmp_path / "kernel.py"
    text = "".join(f"    {line}\n" for line in body.splitlines())
    path.write_text(f"{HEAD}@cuda.jit\ndef kernel(out, a, n):\n{text}")
    report = simulate(f"{path}:kernel")[grid, block](
        np.zeros(n, np.float32), np.arange(n, dtype=np.float32), n
    )
    assert report.ok, report
    return report


@pytest.mark.parametrize(
    ("index", "sectors", "excess"),
    [
        ("i", 4, 0),
        ("i * 2", 8, 4),
        ("i * 8", 32, 28),
        ("i * 40", 32, 28),
        ("i + 1", 5, 1),
        ("0", 1, 0),
        ("31 - i", 4, 0),
        ("i // 2", 2, 0),
        ("(i * 7) % 32", 4, 0),
    ],
)
def test_sectors_of_one_warp(index: str, sectors: int, excess: int, tmp_path: Path) -> None:
    report = launch(tmp_path, f"i = cuda.grid(1)\nout[i] = a[{index}]", 1, 32)
    load = report.counters.global_load
    assert (load.requests, load.sectors, load.excess_sectors) == (1, sectors, excess)


def test_a_fresh_array_is_aligned_and_a_view_keeps_its_offset(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        "from numba import cuda\n@cuda.jit\ndef kernel(out, a):\n"
        "    i = cuda.grid(1)\n    out[i] = a[i]\n"
    )
    whole = np.zeros(64, np.float32)
    out = np.zeros(32, np.float32)
    one = simulate(f"{path}:kernel")[1, 32](out, whole[:32]).counters.global_load
    assert one.sectors == 4
    # Alone, a view starts a memory of its own; beside its base it lies where it lies.
    path.write_text(path.read_text().replace("(out, a)", "(out, a, base)"))
    two = simulate(f"{path}:kernel")[1, 32](out, whole[1:33], whole).counters.global_load
    assert two.sectors == 5


def test_counts_go_to_lines_and_add_up(tmp_path: Path) -> None:
    body = "i = cuda.grid(1)\nif i < 40:\n    out[i] = a[i] * 2.0\n    out[i] += 1.0"
    report = launch(tmp_path, body, 2, 32)
    assert set(report.by_line) == {5, 6, 7}
    assert report.by_line[5].branches == 2
    assert report.by_line[5].divergent_branches == 1
    assert report.by_line[6].global_load == GlobalCounters(2, 5, 0, 160)
    assert report.by_line[7].global_load == report.by_line[7].global_store
    assert sum(report.by_line.values(), Counters()) == report.counters
    assert report.launch.warps == 2
    assert report.launch.lanes == 64


@pytest.mark.parametrize(
    ("body", "dynamic", "most"),
    [
        ("i = 0", 0, 0),
        ("s = cuda.shared.array((3, 5), float32)", 0, 60),
        ("s = cuda.shared.array(0, float32)\nt = cuda.local.array(9, float32)", 24, 24),
        ("if cuda.threadIdx.x > 99:\n    s = cuda.shared.array(8, float32)", 16, 48),
    ],
)
def test_a_block_takes_shared_memory(body: str, dynamic: int, most: int, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(f"{HEAD}\ndef kernel(out):\n{indent(body, '    ')}\n")
    for counters in (True, False):
        ready = simulate(f"{path}:kernel", counters=counters)
        report = ready[2, 32, 0, dynamic](np.zeros(1, np.float32))
        assert report.ok and report.launch.shared_bytes == most


@pytest.mark.parametrize(
    ("body", "branches", "divergent"),
    [
        ("if cuda.threadIdx.x % 2:\n    out[cuda.threadIdx.x] = 1", 2, 2),
        ("if cuda.threadIdx.x < 32:\n    out[cuda.threadIdx.x] = 1", 2, 0),
        ("if n > 3:\n    out[cuda.threadIdx.x] = 1", 2, 0),
        ("for k in range(3):\n    n += 1", 8, 0),
        ("for k in range(cuda.threadIdx.x % 2):\n    n += 1", 4, 2),
        ("n = 1 if cuda.threadIdx.x % 2 else 2", 0, 0),
        ("n = a[0] if cuda.threadIdx.x % 2 else 2.0", 2, 2),
        ("n = min(n, cuda.threadIdx.x)", 0, 0),
    ],
)
def test_branches_are_counted_per_warp(
    body: str, branches: int, divergent: int, tmp_path: Path
) -> None:
    counters = launch(tmp_path, body, 1, 64).counters
    assert (counters.branches, counters.divergent_branches) == (branches, divergent)


# An if of scalars: whether it has a branch in the PTX that Numba 0.68 and NVVM 13.0 make of it for
# compute capability 8.0, with v and w float32 loads, lo and hi float32, k and m int32.
SELECTS = {
    "if v < lo:\n    v = lo": True,
    "if v < lo:\n    v = v * 2": True,
    "if v < lo:\n    v = (v * lo + hi) * w + lo * v": True,
    "if v < lo:\n    v += w\n    v *= w\n    v -= lo": True,
    "if v < lo:\n    v = v * w * v * w * v * w * v": False,
    "if k < m:\n    k = k * 3 + m * 5 + (k ^ m) + (k & 7) + (m | 3) + k * m": False,
    "if v < lo:\n    v = lo\n    w = hi\n    k = 1": True,
    "if v < lo:\n    v = lo\n    w = hi\n    k = 1\n    m = 2": False,
    "if v < lo:\n    v = v + lo\nelse:\n    v = v - hi": True,
    "if v < lo:\n    v = v * w * v * w * v\nelse:\n    v = v + w + v + w + v": False,
    "if v < lo and w < hi:\n    k += 1": True,
    "if v < lo or w < hi:\n    k += 1": True,
    "if v > w:\n    v, w = w, v": True,
    "if v > w:\n    w = v\n    k = m": True,
    "if cuda.threadIdx.x == 0:\n    v = 1.0": True,
    "if k < m:\n    k = k >> 2": True,
    "if v < lo:\n    k = int32(v)": True,
    "if v < lo:\n    k = w < hi": True,
    "if v < lo:\n    pass\nelse:\n    v = hi": True,
    "if v < lo:\n    v = v / hi": False,
    "if k < m:\n    k = k // m": False,
    "if k < m:\n    k = k % 8": False,
    "if v < lo:\n    v = math.sqrt(v)": False,
    "if v < lo:\n    v = a[i + 2]": False,
    "if v < lo:\n    out[i + 64] = v": False,
    "if v < lo:\n    return": False,
    # One inside the other
    "if v < lo:\n    if w < hi:\n        v = w": True,
    "if v < lo:\n    v = lo\nelif v > hi:\n    v = hi\nelse:\n    v = w": True,
    "if v >= lo:\n    if v > hi:\n        v = hi\nelse:\n    v = lo": True,
    "if v < lo:\n    k = 1\nelif v < hi:\n    k = 2\nelse:\n    k = 3": True,
    "if v < lo:\n    v = lo\nelif v > hi:\n    v = hi": False,
    "if v < lo:\n    k = 1\nelif v < hi:\n    k = 2\nelif v < w:\n    k = 3": False,
    "if v < lo:\n    v = v * 2\n    if w < hi:\n        v = v + 1": False,
}


# The same where an arm loads, for compute capabilities 8.0 and 9.0: a select has no branch there.
# Nor has what is "kept": there the simulator counts one, since the rule asks for more than it has
# to, so that no branch is called a select. t is a float32 matrix, s is shared memory.
LOADS = {
    "if a[i + 2] > lo:\n    v = a[i + 2]": "select",
    "if a[i + 2] < lo:\n    v = lo\nelse:\n    v = a[i + 2]": "select",
    "if a[i + 2] < lo:\n    pass\nelse:\n    v = a[i + 2]": "select",
    "if a[i + 2] > a[i + 3]:\n    v = a[i + 3]": "select",
    "if a[i + 2] > a[i + 3]:\n    v, w = a[i + 3], a[i + 2]": "select",
    "if a[i + 2] > lo:\n    v = v * w * a[i + 2] * w * v * a[i + 2]": "select",
    "if a[i + 2] > lo:\n    k = int32(a[i + 2])": "select",
    "if a[i + 2] + w > lo:\n    v += a[i + 2]": "select",
    "if a[i + 2] < hi and v > lo:\n    v = a[i + 2]": "select",
    "if lo < a[i + 2] < hi:\n    v = a[i + 2]": "select",
    "if a[i + 2] < a[i + 3]:\n    v = a[i + 2] + w\nelse:\n    v = a[i + 3] - lo": "select",
    "if n[i + 2] & 1:\n    k += n[i + 2]": "select",
    "if a[n[i + 2]] > lo:\n    v = a[n[i + 2]]": "select",
    "if a[cuda.threadIdx.x + 2] > lo:\n    v = a[cuda.threadIdx.x + 2]": "select",
    "if t[k, m] > t[m, k]:\n    v = t[k, m]": "select",
    "if s[i + 1] > lo:\n    v = s[i + 1]": "select",
    "if out[i] > lo:\n    v += out[i]": "select",
    "out[i + 5] = w\nif a[i + 2] > lo:\n    v = a[i + 2]": "select",
    "for j in range(4):\n    if a[j] > v:\n        v = a[j]": "select",
    # Loads that the test has not made
    "if a[i + 2] > lo:\n    v = a[i + 2] + a[i + 3]": "branch",
    "if s[i] > lo:\n    v = s[i + 1]": "branch",
    "w = a[i + 2]\nout[i + 5] = w\nif v > lo:\n    v = a[i + 2]": "branch",
    "w = a[i + 2]\ncuda.syncthreads()\nif v > lo:\n    v = a[i + 2]": "branch",
    "if v > lo and a[i + 2] < hi:\n    v = a[i + 2]": "branch",
    "if v > lo or a[i + 2] < hi:\n    v = a[i + 2]": "branch",
    "if lo < v < a[i + 2]:\n    v = a[i + 2]": "branch",
    "if a[i + 2] < v < a[i + 3]:\n    v = a[i + 2]": "branch",
    "if a[i + 2] < lo or a[i + 3] > hi:\n    v = a[i + 2]": "branch",
    "if a[i + 2] > cuda.atomic.add(out, 0, v):\n    v = a[i + 2]": "branch",
    # Loads that it has made, and yet
    "if s[i + 1] > lo:\n    s[i] = s[i + 1]": "branch",
    "if a[i + 2] > lo:\n    v = math.sqrt(a[i + 2])": "branch",
    "if a[k // m] > lo:\n    v = a[k // m]": "branch",
    "if a[i + 2] < lo:\n    v = a[i + 2]\n    w = a[i + 2]\n    k = m": "branch",
    "if a[i + 2] < a[i + 3]:\n    v = a[i + 2] + w\nelse:\n    w = a[i + 3] - lo": "branch",
    "if a[i + 2] < lo:\n    v = a[i + 2] * w\nelse:\n    v = a[i + 2] + w * v": "branch",
    "if a[i + 2] < lo:\n    v = lo\nelif v > hi:\n    v = hi\nelse:\n    v = a[i + 2]": "branch",
    "if a[i + 2] > lo:\n    if a[i + 3] > hi:\n        v = a[i + 2]": "branch",
    "if a[i + 2] > lo:\n    v = a[i + 2] if a[i + 2] < hi else hi": "branch",
    # Selects that the rule does not know; of the first the compiler chooses the address
    "if a[i + 2] > lo:\n    v = a[i + 3]": "kept",
    "if a[i + 2] > lo and a[i + 2] < hi:\n    v = a[i + 2]": "kept",
    "if a[i + 2] > lo:\n    if w > hi:\n        v = a[i + 2]": "kept",
    "if a[i + 2] > lo:\n    i += 1\n    v = a[i + 2]": "kept",
    "if a[i + 2] > lo:\n    v = a[i + 2]\n    w = hi\n    k = 1": "kept",
    "if a[i + 2] < a[i + 3]:\n    v = a[i + 2] * 2\n    w = a[i + 3] * 2": "kept",
    "if abs(a[i + 2]) > lo:\n    v = a[i + 2]": "kept",
    "j = i + 2\nif a[j] > lo:\n    v = a[i + 2]": "kept",
    "w = a[i + 2]\nif v > lo:\n    v = a[i + 2]": "kept",
    "v = a[i + 2] if a[i + 2] > lo else lo": "kept",
}

# Within an arm that stays a branch, i < 128: how many branches the compiler makes of both.
LOADS_IN_AN_ARM = {
    "out[i + 9] = v\nif a[i + 2] > lo:\n    v = a[i + 2]": 2,
    "if a[i + 2] > lo:\n    v = a[i + 2]": 2,
    "if a[i + 2] > lo:\n    v = a[i + 2]\nk = 1": 2,
    "if a[i + 2] > lo:\n    v = a[i + 2]\nj = i * 4": 2,
    "if a[i + 2] > lo:\n    v = a[i + 2]\nout[i + 9] = v": 1,
    "if a[i + 2] > lo:\n    v = a[i + 2]\nif v > hi:\n    v = hi\nout[i + 9] = v": 1,
}


def _branches(path: Path, body: str) -> Counters:
    start = "i = cuda.grid(1)\ns = cuda.shared.array(128, float32)\ns[i] = s[i + 64] = a[i + 9]"
    loaded = "cuda.syncthreads()\nv, w, k, m = a[i], a[i + 1], n[i], n[i + 1]"
    text = indent(f"{start}\n{loaded}\n{body}\nout[i] = v + w + k + m\n", "    ")
    imports = "import math\nfrom numba import cuda, float32, int32\n"
    path.write_text(f"{imports}@cuda.jit\ndef kernel(out, a, n, lo, hi, t):\n{text}")
    report = simulate(f"{path}:kernel")[1, 64](
        np.zeros(128, np.float32),
        np.arange(128, dtype=np.float32),
        np.arange(1, 129, dtype=np.int32),
        np.float32(20),
        np.float32(50),
        np.ones((128, 128), np.float32),
    )
    assert not [each for each in report.hazards if each.kind != "race"], report
    return report.counters


@pytest.mark.parametrize("body", LOADS)
def test_an_arm_may_load_again_what_its_test_has_loaded(body: str, tmp_path: Path) -> None:
    loops = _branches(tmp_path / "loops.py", "for j in range(4):\n    pass").branches
    counted = _branches(tmp_path / "kernel.py", body).branches
    assert (counted == (loops if body.startswith("for") else 0)) is (LOADS[body] == "select")


@pytest.mark.parametrize("body", LOADS_IN_AN_ARM)
def test_what_loads_again_at_the_end_of_an_arm_stays_a_branch(body: str, tmp_path: Path) -> None:
    guarded = f"if i < 128:\n{indent(body, '    ')}"
    assert _branches(tmp_path / "kernel.py", guarded).branches == 2 * LOADS_IN_AN_ARM[body]


@pytest.mark.parametrize("body", SELECTS)
def test_an_if_that_changes_a_few_variables_is_no_branch(body: str, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    text = indent(f"i = cuda.grid(1)\nv, w, k, m = a[i], a[i + 1], n[i], n[i + 1]\n{body}", "    ")
    ending = "    out[i] = v + w + k + m\n"
    imports = "import math\nfrom numba import cuda, int32\n"
    path.write_text(f"{imports}@cuda.jit\ndef kernel(out, a, n, lo, hi):\n{text}\n{ending}")
    a, n = np.arange(128, dtype=np.float32), np.arange(1, 129, dtype=np.int32)
    report = simulate(f"{path}:kernel")[1, 64](
        np.zeros(128, np.float32), a, n, np.float32(40), np.float32(50)
    )
    assert report.ok, report
    assert (report.counters.branches == 0) is SELECTS[body]


def test_a_recording_still_shows_who_took_a_select() -> None:
    def chosen(out, a):
        i = cuda.threadIdx.x
        v = a[i]
        if v > 3:
            v = 3.0
        out[i] = v

    made = record(chosen)[1, 8](np.zeros(8), np.arange(8.0))
    taken = [step.taken.tolist() for step in made.steps if step.taken is not None]
    assert taken == [[4, 5, 6, 7]]


@pytest.mark.parametrize(
    ("body", "updates"),
    [
        ("cuda.atomic.add(out, 0, 1.0)", 64),
        ("if i < 5:\n    cuda.atomic.add(out, 0, 1.0)", 5),
        ("if i < 5:\n    out[i] = cuda.atomic.add(out, i, 1.0)", 5),
        ("for k in range(3):\n    cuda.atomic.max(out, i, 1.0)", 192),
        ("s = cuda.shared.array(64, int32)\ns[i] = 0\ncuda.atomic.exch(s, i, 1)", 0),
        ("out[i] = 1", 0),
    ],
)
def test_atomics_on_global_memory_are_counted_lane_by_lane(
    body: str, updates: int, tmp_path: Path
) -> None:
    counters = launch(tmp_path, f"i = cuda.grid(1)\n{body}", 1, 64).counters
    assert counters.atomic_updates == updates


@pytest.mark.parametrize(
    ("body", "updates"),
    [
        ("cuda.atomic.add(s, 0, 1.0)", 64),
        ("if i < 5:\n    cuda.atomic.max(s, i, 1.0)", 5),
        ("cuda.atomic.add(out, 0, 1.0)", 0),
        ("s[i] += 1", 0),
    ],
)
def test_atomics_on_shared_memory_are_counted_lane_by_lane(
    body: str, updates: int, tmp_path: Path
) -> None:
    counters = launch(tmp_path, f"{FILLED_TILE}{body}", 1, 64).counters
    assert counters.shared_updates == updates


@pytest.mark.parametrize(
    ("body", "idle"),
    [
        ("s[i] = a[i]", 2),
        ("s[i] = a[i] + a[i]", 4),
        ("x = a[i]\nx += s[i]\ns[i] = x", 0),
        ("x = s[i]\nx += a[i]\ns[i] = x", 2),
        # Each warp for itself: here the second works meanwhile, and the first does not.
        ("x = a[i]\nif i >= 32:\n    x += s[i]\ns[i] = x", 1),
        ("x = a[i]\nif i < 16:\n    x += s[i]\ns[i] = x", 1),
        ("x = a[i]\ncuda.syncthreads()\ncuda.atomic.add(s, i, x)", 2),
        ("out[i] = a[i]", 0),
        ("for k in range(3):\n    x = a[i]\n    x += s[i]\n    s[i] = x", 0),
        ("for k in range(3):\n    x = s[i]\n    x += a[i]\n    s[i] = x", 6),
    ],
)
def test_loads_with_no_work_on_a_tile_while_they_travel_are_counted_warp_by_warp(
    body: str, idle: int, tmp_path: Path
) -> None:
    assert launch(tmp_path, f"{FILLED_TILE}{body}", 1, 64).counters.idle_loads == idle


def test_idle_loads_are_those_of_each_block_whatever_its_size(tmp_path: Path) -> None:
    body = "s = cuda.shared.array(64, float64)\ni = cuda.threadIdx.x\ns[i] = a[i]"
    for blocks, threads, warps in ((1, 1, 1), (3, 33, 6), (2, 40, 4)):
        assert launch(tmp_path, body, blocks, threads).counters.idle_loads == warps


@pytest.mark.parametrize(
    ("body", "wide"),
    [
        ("out[i] = s[i]", 2),
        # Pairs of float64 are 16 bytes, and neighbours of other pairs are not.
        ("out[i] = s[i // 2 * 2] + s[i // 2 * 2 + 1]", 2),
        ("out[i] = s[i % 62 + 1] + s[i % 62 + 2]", 4),
        ("x = 0.0\nfor k in range(4):\n    x += s[k]\nout[i] = x", 4),
        ("out[i] = s[i] + s[i]", 2),
        # What a store or a barrier may have changed is loaded anew; by each warp for itself.
        ("x = s[0]\ncuda.syncthreads()\nout[i] = x + s[1]", 4),
        ("x = s[i]\ncuda.syncwarp()\nout[i] = x + s[i]", 4),
        ("x = s[i]\ns[i] = x\nout[i] = x + s[i]", 4),
        ("x = s[i]\nif i < 32:\n    s[i] = x\nout[i] = x + s[i]", 3),
        ("x = s[i]\na[i] = x\nout[i] = x + s[i]", 2),
        # Only where every lane that asks has it.
        ("x = 0.0\nif i < 16:\n    x = s[i]\nout[i] = x + s[i]", 3),
        (f"{ANOTHER_TILE}out[i] = s[i % 4] + r[i % 4]", 4),
        ("v = s[2:]\nout[i] = v[i % 62] + s[i % 62 + 2]", 2),
        ("cuda.atomic.add(s, i, 1.0)", 0),
        ("out[i] = a[i]", 0),
    ],
)
def test_loads_from_the_same_sixteen_bytes_are_one(body: str, wide: int, tmp_path: Path) -> None:
    assert launch(tmp_path, f"{FILLED_TILE}{body}", 1, 64).counters.wide_loads == wide


def test_a_wide_load_is_counted_for_each_warp_of_each_block(tmp_path: Path) -> None:
    body = (
        "s = cuda.shared.array(64, float64)\ni = cuda.threadIdx.x\ns[i] = 1\ncuda.syncthreads()\n"
        "out[cuda.grid(1)] = s[i // 2 * 2] + s[i // 2 * 2 + 1]"
    )
    for blocks, threads, warps in ((1, 2, 1), (3, 34, 6), (2, 40, 4)):
        assert launch(tmp_path, body, blocks, threads).counters.wide_loads == warps


@pytest.mark.parametrize(
    ("condition", "comparisons"),
    [
        ("x < a[1]", 64),
        ("a[1] < x", 64),
        ("a[0] < a[1] < x", 64),
        ("a[0] < a[1]", 0),
        ("n < 3", 0),
        # The compiler compares a float32 with a number that is written down in float32.
        ("a[0] < 0.5", 0),
        ("float32(x) < a[1]", 0),
    ],
)
def test_comparisons_in_float64_are_counted_lane_by_lane(
    condition: str, comparisons: int, tmp_path: Path
) -> None:
    body = f"x = float64(n)\nif {condition}:\n    n = 1"
    assert launch(tmp_path, body, 1, 64).counters.float64_comparisons == comparisons


@pytest.mark.parametrize(
    ("update", "red", "atom"),
    [
        ("cuda.atomic.add(whole, i, 1)", 2, 0),
        ("n = cuda.atomic.add(whole, i, 1)", 0, 2),
        ("cuda.atomic.exch(whole, i, 1)", 0, 2),
        ("cuda.atomic.cas(whole, i, 0, 1)", 0, 2),
    ],
)
def test_an_exchange_brings_the_old_value_back_though_nobody_asks(
    update: str, red: int, atom: int, tmp_path: Path
) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        "from numba import cuda\n\n\n@cuda.jit\ndef kernel(whole):\n"
        f"    i = cuda.grid(1)\n    {update}\n"
    )
    counters = simulate(f"{path}:kernel")[1, 64](np.zeros(64, np.int32)).counters
    assert (counters.red.requests, counters.atom.requests) == (red, atom)


@pytest.mark.parametrize(
    ("line", "single", "double"),
    [
        ("out[i] = a[i] + 10", 32, 0),  # the compiler narrows it, bit for bit the same
        ("out[i] = a[i] + 0.5", 32, 0),
        ("out[i] = a[i] + 0.1", 0, 32),  # 0.1 is no float32
        ("out[i] = a[i] + a[i]", 32, 0),
        ("out[i] = a[i] * 2 + 1", 0, 64),  # two roundings would become different ones
        ("out[i] += 1", 32, 0),
        ("x = a[i] + 10", 0, 32),
        ("x = i + 10", 0, 0),
        ("x = a[i] + 10\nif i < n:\n    out[i] = x", 32, 0),  # narrowed all the same
        ("x = a[i] + 10\nout[i] = x\nout[i] = x * 2", 0, 64),
        # Where it is stored is made after the value: nothing there is read too early.
        ("x = a[i] + 10\ns = cuda.shared.array(32, float32)\ns[i] = x\nout[i] = s[i]", 32, 0),
        ("x = a[i] + 10\ns = cuda.shared.array(32, float64)\ns[i] = x\nout[i] = s[i]", 0, 32),
        ("x = a[i] + 10\nend = out[0:]\nend[i] = x", 32, 0),
        ("x = a[i] + 10\nout[0:][i] = x", 32, 0),
    ],
)
def test_operations_by_width(line: str, single: int, double: int, tmp_path: Path) -> None:
    counters = launch(tmp_path, f"i = cuda.grid(1)\n{line}", 1, 32).counters
    assert (counters.float32_operations, counters.float64_operations) == (single, double)


def test_touches_say_who_touched_what(tmp_path: Path) -> None:
    report = launch(tmp_path, "i = cuda.grid(1)\nif i < 3:\n    out[i] = a[i + 1]", 2, 2)
    read, write = report.touches
    assert (read.array, read.kind, read.line) == ("a", "read", 6)
    assert read.threads.tolist() == [0, 1, 2]
    assert read.cells.tolist() == [1, 2, 3]
    assert (write.array, write.kind, write.cells.tolist()) == ("out", "write", [0, 1, 2])


def test_large_launches_keep_no_touches(tmp_path: Path) -> None:
    report = launch(tmp_path, "i = cuda.grid(1)\nif i < n:\n    out[i] = 1", 40, 256)
    assert report.touches == ()


@pytest.mark.parametrize(
    ("line", "operations", "fma"),
    [
        ("x = a[i] * a[i] + a[i]", 64, 32),
        ("x += a[i] * a[i]", 64, 32),
        ("x = a[i] - a[i] * a[i]", 64, 32),
        ("x = (a[i] + a[i]) * a[i]", 64, 0),
        ("x = cuda.fma(a[i], a[i], a[i])", 64, 32),
        ("x = cuda.libdevice.fmaf_rn(a[i], a[i], a[i])", 64, 32),
        ("x = cuda.libdevice.fadd_rn(cuda.libdevice.fmul_rn(a[i], a[i]), a[i])", 64, 0),
        ("n = i * 3 + 1", 0, 0),
    ],
)
def test_a_product_in_a_sum_is_one_instruction(
    line: str, operations: int, fma: int, tmp_path: Path
) -> None:
    body = f"i = cuda.grid(1)\nx = a[i]\n{line}\nout[i] = x"
    counters = launch(tmp_path, body, 1, 32).counters
    assert (counters.float32_operations, counters.fma) == (operations, fma)


@pytest.mark.parametrize("word", ["cuda.fma", "cuda.libdevice.fma", "cuda.libdevice.fma_rn"])
def test_a_fused_operation_of_float64_counts_as_two_of_them(word: str, tmp_path: Path) -> None:
    body = f"i = cuda.grid(1)\nout[i] = {word}(a[i], 0.5, a[i])"
    counters = launch(tmp_path, body, 1, 32).counters
    assert (counters.float64_operations, counters.fma) == (64, 32)


ALIKE = """
from numba import cuda, float32

@cuda.jit
def kernel(out, a):
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[2 * t] = a[i + 3]
    cuda.syncthreads()
    if t < 100:
        part[2 * t + 1] = part[(6 * t) % 256]
    cuda.syncthreads()
    for k in range(3):
        out[i] += a[i + 5 * k]
"""


def test_many_blocks_count_as_often_as_one(tmp_path: Path) -> None:
    """Large launches, whose blocks do alike, are counted block by block in fewer steps."""
    path = tmp_path / "kernel.py"
    path.write_text(ALIKE)

    def counted(blocks: int) -> Counters:
        a = np.ones(128 * blocks + 16, np.float32)
        report = simulate(f"{path}:kernel")[blocks, 128](np.zeros_like(a), a)
        assert report.ok, report
        return report.counters

    assert counted(16) == Counters.total([counted(1)] * 16)
    assert counted(1).shared_load.conflicts > 0
    assert counted(1).global_load.excess_sectors > 0


def test_wide_loads_of_a_warp_do_not_depend_on_what_another_warp_loads() -> None:
    def kernel(out, a):  # type: ignore[no-untyped-def]
        tile = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        tile[t] = t
        cuda.syncthreads()
        total = float32(0)
        for k in range(3):
            total += tile[k * a[t]]
        out[t] = total

    steps = np.repeat([0, 8], 32)  # warp 0 stays in 16 bytes, warp 1 goes on by 32
    report = simulate(kernel)[1, 64](np.zeros(64, np.float32), steps)
    assert report.counters.wide_loads == 1 + 3
