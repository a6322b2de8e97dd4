"""Arrays of structures: fields are cells that lie between other fields."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import cuda

from gpu_course.errors import CourseError
from simt.errors import KernelRefused
from simt.report import Report
from simt.simulator import simulate

PARTICLE = np.dtype([("x", np.float32), ("y", np.float32), ("z", np.float32), ("kind", np.int32)])


def launch(tmp_path: Path, body: str, *arrays: Any) -> Report:
    path = tmp_path / "kernel.py"
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    path.write_text(
        f"from numba import cuda\n@cuda.jit\ndef kernel(p, out):\n    i = cuda.grid(1)\n{lines}"
    )
    return simulate(f"{path}:kernel")[1, 32](*arrays)


def particles() -> np.ndarray:
    p = np.zeros(32, PARTICLE)
    for k, name in enumerate(PARTICLE.names or ()):
        p[name] = np.arange(32) + 100 * k
    return p


def test_fields_are_read_and_written(tmp_path: Path) -> None:
    p, out = particles(), np.zeros(32, np.float32)
    body = "p[i].x = p[i].y + 1\np[i].kind += 5\nout[i] = p[31 - i].z"
    report = launch(tmp_path, body, p, out)
    assert report.ok, report
    before = particles()
    np.testing.assert_array_equal(p["x"], before["y"] + 1)
    np.testing.assert_array_equal(p["kind"], before["kind"] + 5)
    np.testing.assert_array_equal(out, before["z"][::-1])


def test_one_field_of_all_costs_sectors_of_all(tmp_path: Path) -> None:
    counters = launch(tmp_path, "out[i] = p[i].x", particles(), np.zeros(32, np.float32)).counters
    assert counters.global_load.sectors == 16  # where 4 would hold the numbers asked for
    assert counters.global_load.excess_sectors == 12


def test_fields_race_and_end_like_any_cell(tmp_path: Path) -> None:
    out = np.zeros(32, np.float32)
    race = launch(tmp_path, "p[0].x = i", particles(), out)
    assert [h.kind for h in race.hazards] == ["race"]
    beyond = launch(tmp_path, "out[i] = p[i + 1].x", particles(), out)
    assert "p.x[32] is outside" in beyond.hazards[0].message
    apart = launch(tmp_path, "p[i].x = 1\np[i].y = 2", particles(), out)
    assert apart.ok


@pytest.mark.parametrize(
    ("body", "fact"),
    [
        ("q = p[i]\nq.w = 1", "an attribute cannot be assigned to"),
        ("out[i] = p[i].w", "has no .w"),
        ("p[i].w = 1", "an attribute cannot be assigned to"),
        ("p.x = 1", "an attribute cannot be assigned to"),
    ],
)
def test_what_structures_cannot_do(body: str, fact: str, tmp_path: Path) -> None:
    with pytest.raises(KernelRefused) as caught:
        launch(tmp_path, body, particles(), np.zeros(32, np.float32))
    assert fact in caught.value.fact


def test_fields_must_be_numbers(tmp_path: Path) -> None:
    odd = np.zeros(4, [("name", "U3"), ("x", np.float32)])
    with pytest.raises(CourseError, match="does not know the field name of p"):
        launch(tmp_path, "out[i] = 1", odd, np.zeros(32))


# Structures in a kernel's own memory

OWN = """
import numpy as np
from numba import cuda, float32

MIXED = np.dtype([("x", np.float64), ("kind", np.int32), ("w", np.float32)])


@cuda.jit
def kernel(out, a):
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    s = cuda.shared.array(32, MIXED)
    own = cuda.local.array((2, 3), dtype=MIXED)
"""


def own_memory(folder: Path, body: str, *arrays: Any) -> Report:
    path = folder / "kernel.py"
    path.write_text(OWN + "".join(f"    {line}\n" for line in body.splitlines()))
    return simulate(f"{path}:kernel")[2, 32](*arrays)


EXCHANGE = """\
s[t].x = a[i]
s[t]["kind"] = i
own[1, 2].w = 0.5
if t % 2:
    own[1, 2].w += 1
cuda.syncthreads()
x = s[31 - t].x
out[i] = x * s.kind[31 - t] + own["w"][1, 2]"""


@pytest.mark.parametrize(
    ("odd", "fact"),
    [
        ("np.dtype([])", "an array of structures without a field"),
        ('np.dtype([("a", np.int8), ("b", np.float32)])', "of 5 bytes with a field of 4"),
        ('np.dtype([("z", np.complex64), ("n", np.int32)], align=True)', "of 12 bytes"),
    ],
)
@pytest.mark.parametrize("space", ["shared", "local"])
def test_cells_of_a_field_lie_whole_steps_apart(
    odd: str, fact: str, space: str, tmp_path: Path
) -> None:
    path = tmp_path / "kernel.py"
    head, _, tail = OWN.partition("MIXED = ")
    rest = tail.partition("\n")[2].replace("MIXED", "np.float64")
    path.write_text(f"{head}ODD = {odd}\n{rest}    odd = cuda.{space}.array(4, ODD)\n")
    with pytest.raises(KernelRefused) as caught:
        simulate(f"{path}:kernel")[2, 32](np.zeros(64), np.zeros(64))
    assert fact in caught.value.fact and "Numba does" in caught.value.fact


def test_structures_in_shared_and_local_memory(tmp_path: Path) -> None:
    a, out = np.random.default_rng(2).normal(size=64), np.zeros(64)
    report = own_memory(tmp_path, EXCHANGE, out, a)
    assert report.ok, report
    other = np.arange(64) // 32 * 32 + 31 - np.arange(64) % 32
    np.testing.assert_array_equal(out, a[other] * other + 0.5 + np.arange(64) % 2)
    stored, loaded = report.counters.shared_store, report.counters.shared_load
    assert (stored.requests, loaded.requests) == (4, 4)
    # A structure is 16 bytes: 4 bytes of each take 4 passes where 1 would do, 8 take 4 for 2.
    assert stored.conflicts == loaded.conflicts == 2 * (4 - 1) + 2 * (4 - 2)
    assert (report.counters.local_store, report.counters.local_load) == (4, 4)


@pytest.mark.parametrize(
    ("body", "kind", "fact"),
    [
        ("out[i] = s[t].x", "uninitialised-read", "s.x[0] is read before it is written"),
        ("s[t].x = 1\nout[i] = s[t].kind", "uninitialised-read", "s.kind[0]"),
        ("own[1, 2].x = 1\nout[i] = own[1, 2].w", "uninitialised-read", "own.w[1, 2]"),
        ("s[t + 1].x = 1\nout[i] = 0", "out-of-bounds", "s.x[32] is outside"),
        ("s[t].x = t\nout[i] = s[31 - t].x", "race", "s.x["),
    ],
)
def test_hazards_in_structures_of_a_kernel(body: str, kind: str, fact: str, tmp_path: Path) -> None:
    report = own_memory(tmp_path, body, np.zeros(64), np.zeros(64))
    assert kind in [h.kind for h in report.hazards]
    assert fact in next(h.message for h in report.hazards if h.kind == kind)


def test_a_structure_takes_memory_for_its_bytes_however_many_fields(tmp_path: Path) -> None:
    fields, threads = 120, 512
    pairs = ", ".join(f"('f{k}', np.float32)" for k in range(fields))
    path = tmp_path / "kernel.py"
    path.write_text(
        f"import numpy as np\nfrom numba import cuda\nWIDE = np.dtype([{pairs}])\n"
        "@cuda.jit\ndef kernel(out):\n    own = cuda.local.array(4, WIDE)\n"
        + "".join(f"    own[3].f{k} = {k}\n" for k in range(fields))
        + "    out[0] = own[3].f7\n"
    )
    tracemalloc.start()
    try:
        simulate(f"{path}:kernel")[1, threads](np.zeros(1))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # The cells and their flags are 2 MB; flags of its own for each field would be 29 MB.
    assert most < 15e6


def test_the_fields_of_two_threads_do_not_race(tmp_path: Path) -> None:
    body = "if t == 0:\n    s[3].x = 1\nelse:\n    if t == 1:\n        s[3].kind = 2\nout[i] = 0"
    assert own_memory(tmp_path, body, np.zeros(64), np.zeros(64)).ok


def test_a_view_of_structures_views_their_fields(tmp_path: Path) -> None:
    p, out = particles(), np.zeros(32, np.float32)
    report = launch(tmp_path, "q = p[::-1]\nr = q[2:]\nout[i] = r[i % 30].x", p, out)
    assert report.ok, report
    np.testing.assert_array_equal(out, p["x"][::-1][2:][np.arange(32) % 30])


# Structures that a name holds

NESTED = np.dtype(
    [("a", np.float64), ("h", np.float64, (3,)), ("m", np.int64, (2, 2)), ("size", np.int64)],
    align=True,
)


@cuda.jit(device=True)
def total(r):
    return r.x + r.kind


@cuda.jit(device=True)
def raised(r, by):
    r.x += by


def by_name(p, out, one):
    i = cuda.grid(1)
    r = p[i]
    raised(r, 1.5)
    r["kind"] = r.kind + i
    s = 0.0
    for each in p[i : i + 1]:
        s += each.x
    out[i] = total(p[i]) + total(r) + s + one.y
    if i == 0:
        one.z = 9


def test_a_name_for_a_structure_is_its_place() -> None:
    p, one, out = particles(), particles()[3], np.zeros(32, np.float32)
    x, kind = p["x"].copy(), p["kind"].copy()
    assert simulate(by_name)[1, 32](p, out, one).ok
    i = np.arange(32)
    assert np.array_equal(p["x"], x + 1.5)
    assert np.array_equal(p["kind"], kind + i)
    assert np.allclose(out, 2 * (p["x"] + p["kind"]) + p["x"] + one["y"])
    assert one["z"] == 9


def one_for_all(p):
    r = p[0]
    r.x = cuda.grid(1)


def test_threads_that_hold_the_same_structure_race() -> None:
    report = simulate(one_for_all)[1, 32](particles())
    assert [hazard.kind for hazard in report.hazards] == ["race"]


def holds_beyond(p, out):
    r = p[cuda.grid(1) + 1]
    out[cuda.grid(1)] = r.x


def test_a_structure_that_is_not_there_is_told() -> None:
    report = simulate(holds_beyond)[1, 32](particles(), np.zeros(32))
    assert {hazard.kind for hazard in report.hazards} == {"out-of-bounds"}


def arrays_in_fields(t, out, r):
    i = cuda.grid(1)
    p = t[i]
    p.h[0] = i
    p.m[0] = 7
    out[i] = t[i].h[1] + t[i].m[1, 0] + r.h[2] + p.size
    for x in p.h:
        out[i] += x


def test_a_field_may_hold_an_array() -> None:
    t, r, out = np.zeros(4, NESTED), np.zeros(1, NESTED), np.zeros(4)
    t["h"], t["m"], t["size"], r["h"] = [1, 2, 3], 5, 11, [4, 5, 6]
    assert simulate(arrays_in_fields)[1, 4](t, out, r[0]).ok
    assert np.array_equal(out, 2 + 5 + 6 + 11 + np.arange(4) + 5)
    assert np.array_equal(t["h"][:, 0], np.arange(4))
    assert t["m"].reshape(4, 4).tolist() == [[7, 7, 5, 5]] * 4


def packed_sum(p, out):
    i = cuda.grid(1)
    out[i] = p[i].c + p[i].b


def test_numba_reads_structures_without_padding_byte_by_byte() -> None:
    p = np.zeros(4, np.dtype([("b", np.int32), ("c", np.float64), ("d", np.int32)]))
    p["b"], p["c"], out = 1, np.arange(4), np.zeros(4)
    assert simulate(packed_sum)[1, 4](p, out).ok
    assert out.tolist() == [1, 2, 3, 4]
