"""Every detector: planted faults that must be found, and clean twins that must not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpu_course.errors import CourseError
from simt.errors import HAZARD_ERRORS, HazardError, OutOfBoundsError, RaceError
from simt.report import Report
from simt.simulator import simulate

HEAD = "from numba import cuda\n\n\n@cuda.jit\ndef kernel(out, a, size):\n    i = cuda.grid(1)\n"


def launch(tmp_path: Path, body: str, *, grid: int = 2, block: int = 16, size: int = 20) -> Report:
    path = tmp_path / "kernel.py"
    path.write_text(HEAD + "".join(f"    {line}\n" for line in body.splitlines()))
    out = np.zeros(size, np.float32)
    a = np.arange(1, size + 1, dtype=np.float32)
    return simulate(f"{path}:kernel", step_budget=20_000)[grid, block](out, a, size)


FAULTS = {  # body -> kinds found
    "load past the end": ("if i < size:\n    out[i] = a[i + 1]", {"out-of-bounds"}),
    "no guard": ("out[i] = 1", {"out-of-bounds"}),
    "guard off by one": ("if i <= size:\n    out[i] = 1", {"out-of-bounds"}),
    "negative index": ("if i < size:\n    out[i] = a[i - 1]", {"out-of-bounds"}),
    "far below": ("if i < size:\n    out[i] = a[i - 100]", {"out-of-bounds"}),
    "same index everywhere": ("out[99] = 1", {"out-of-bounds"}),
    "all threads write one cell": ("out[0] = i", {"race"}),
    "all threads write one value": ("out[0] = 1", {"race"}),
    "two blocks write one cell": ("out[cuda.threadIdx.x] = i", {"race"}),
    "neighbours write one cell": ("if i < size:\n    out[i // 2] = a[i]", {"race"}),
    "reads what a neighbour writes": (
        "if i < size:\n    out[i] = 1\nif i + 1 < size:\n    out[i] = out[i + 1]",
        {"race"},
    ),
    "reads before a neighbour writes": (
        "x = out[(i + 1) % size]\nif i < size:\n    out[i] = x",
        {"race"},
    ),
    "a second reader races": ("x = out[3]\nif i == 3:\n    out[3] = x", {"race"}),
    "the sum of all": ("if i < size:\n    out[0] += a[i]", {"race"}),
    "assigned in one branch only": (
        "if i < 5:\n    x = 1.0\nif i < size:\n    out[i] = x",
        {"uninitialised-read"},
    ),
    "assigned in a loop that may not run": (
        "for k in range(i % 2):\n    x = 1.0\nif i < size:\n    out[i] = x",
        {"uninitialised-read"},
    ),
    "condition never changes": ("j = 0\nwhile j < 1:\n    i += 1", {"endless-loop"}),
    "condition keeps changing": ("j = 0\nwhile j >= 0:\n    j += 1", {"endless-loop"}),
    "while True": ("while True:\n    i += 1", {"endless-loop"}),
}
TWINS = {
    "guard": "if i < size:\n    out[i] = a[i]",
    "guard first": "if i >= size:\n    return\nout[i] = a[i]",
    "wraps with %": "if i < size:\n    out[i] = a[(i + 1) % size]",
    "short circuit": "if i + 1 < size and a[i + 1] > 0:\n    out[i] = 1",
    "everybody reads one cell": "if i < size:\n    out[i] = a[0]",
    "everybody reads, one thread writes elsewhere": "if i == 0:\n    out[0] = a[1] + a[2]",
    "a thread reads what it wrote": "if i < size:\n    out[i] = 1\n    out[i] = out[i] + a[i]",
    "a thread writes twice": "if i < size:\n    out[i] = 1\n    out[i] = 2",
    "one thread does it all": "if i == 7:\n    for k in range(size):\n        out[k] = a[k]",
    "assigned on both branches": (
        "if i < 5:\n    x = 1.0\nelse:\n    x = 2.0\nif i < size:\n    out[i] = x"
    ),
    "read only where assigned": "if i < 5:\n    x = 1.0\nif i < 4:\n    out[i] = x",
    "assigned before the loop": (
        "x = 0.0\nfor k in range(i % 2):\n    x = 1.0\nif i < size:\n    out[i] = x"
    ),
    "a loop that ends late": "j = 0\nwhile j < 3000:\n    j += 1",
    "while True with a way out": "while True:\n    i += 1\n    if i > 50:\n        break",
    "loops of different lengths": "while i < 40:\n    i += 7",
}


@pytest.mark.parametrize(("body", "kinds"), FAULTS.values(), ids=FAULTS.keys())
def test_a_planted_fault_is_found(body: str, kinds: set[str], tmp_path: Path) -> None:
    report = launch(tmp_path, body)
    assert {h.kind for h in report.hazards} == kinds, report
    assert not report.ok


@pytest.mark.parametrize("body", TWINS.values(), ids=TWINS.keys())
def test_its_clean_twin_is_not(body: str, tmp_path: Path) -> None:
    report = launch(tmp_path, body)
    assert report.ok, report
    assert report.hazards == ()


@pytest.mark.parametrize("seed", range(5))
def test_a_race_is_found_whatever_the_order_of_blocks(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        HEAD + "    if i == 5:\n        out[0] = 1\n    if i == 45:\n        out[0] = 2\n"
    )
    report = simulate(f"{path}:kernel", order_seed=seed)[4, 16](np.zeros(4), np.zeros(4), 4)
    assert [h.kind for h in report.hazards] == ["race"]
    assert report.hazards[0].threads == (((0, 0, 0), (5, 0, 0)), ((2, 0, 0), (13, 0, 0)))


def test_a_race_between_batches_of_blocks_is_found(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(HEAD + "    if i == 5 or i == size - 1:\n        out[0] = i\n")
    size = 1 << 17
    report = simulate(f"{path}:kernel")[size // 256, 256](np.zeros(4), np.zeros(4), size)
    assert [h.kind for h in report.hazards] == ["race"]


def test_overlapping_arrays_are_one_memory(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(HEAD + "    if i < size:\n        out[i] = a[i]\n")
    memory = np.zeros(40)
    assert not simulate(f"{path}:kernel")[1, 32](memory[1:], memory, 30).ok
    assert simulate(f"{path}:kernel")[1, 32](memory, memory, 30).ok
    assert not simulate(f"{path}:kernel")[1, 32](memory.view(np.float32)[1:], memory, 8).ok


def test_an_out_of_bounds_hazard_tells_five_things(tmp_path: Path) -> None:
    path = tmp_path / "puzzles" / "01_threads" / "guard.py"
    path.parent.mkdir(parents=True)
    path.write_text(
        "from numba import cuda\n\n\n@cuda.jit\ndef guard(out, a, size):\n"
        "    i = cuda.grid(1)\n    out[i] = a[i] + 10\n"
    )
    report = simulate(f"{path}:guard")[1, 12](np.zeros(12), np.arange(8.0), 8)
    (hazard,) = report.hazards
    assert hazard.text().splitlines() == [
        "OutOfBoundsError: a[8] is outside an array of shape (8,)",
        "  where:  kernel guard, puzzles/01_threads/guard.py:7",
        "          out[i] = a[i] + 10",
        "  who:    block (0,0,0), threads 8..11 of 12 (warp 0)",
        "  why:    i is 8..11 there (i = cuda.grid(1), line 6); the array ends at 7",
        "  try:    let only threads with i < size touch memory",
    ]
    assert hazard.line == 7
    assert hazard.threads[0] == ((0, 0, 0), (8, 0, 0))
    assert hazard.details["count"] == 4


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("out[i + 1] = a[i]", "which cell does i + 1 give the first thread, which the last?"),
        ("out[i - 2] = a[i]", "which cell does i - 2 give the first thread, which the last?"),
        ("out[2 * i] = a[i]", "which cell does 2 * i give the first thread, which the last?"),
        ("out[i] = a[i + 1]", "which cell does i + 1 give the first thread, which the last?"),
    ],
)
def test_where_no_thread_is_left_over_the_advice_is_no_guard(
    tmp_path: Path, line: str, advice: str
) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(HEAD + f"    {line}\n")
    (exact,) = simulate(f"{path}:kernel")[2, 4](np.zeros(8), np.arange(8.0), 8).hazards
    assert advice in exact.details["try"]
    assert "guard" in exact.details["try"]


# Index and guard of a kernel, what is advised; launched with 12 threads for 8 cells.
ADVICE = {
    "a[i]": "let only threads with i < size touch memory",
    "a[cuda.grid(1)]": "let only threads with cuda.grid(1) < size touch memory",
    "a[i + 1]": "work out i + 1 for a thread named above: where does it get too large?",
    "a[size - i]": "work out size - i for a thread named above: where does it get outside?",
    "a[i - 20]": "work out i - 20 for a thread named above: where does it get below 0?",
    "tile[i]": "let only threads with i < SIDE touch memory",
    "short[i]": "let only threads with i < short.size touch memory",
    "table[cuda.threadIdx.x, cuda.threadIdx.y]": "check the order of the indices",
    "table[cuda.threadIdx.y, cuda.threadIdx.x]": "let only threads with cuda.threadIdx.x < ",
    "column[0, i]": "work out i for a thread named above",
}


@pytest.mark.parametrize(("cell", "advice"), ADVICE.items(), ids=ADVICE)
def test_the_advice_fits_the_index_and_holds_no_number_of_the_launch(
    tmp_path: Path, cell: str, advice: str
) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        "from numba import cuda, float64\n\nSIDE = 6\n\n\n@cuda.jit\n"
        "def kernel(out, a, short, table, column, size):\n"
        "    tile = cuda.shared.array(SIDE, float64)\n"
        f"    i = cuda.grid(1)\n    {cell} = 1\n"
    )
    arrays = [np.zeros(8), np.zeros(8), np.zeros(7), np.zeros((2, 3)), np.zeros((8, 1))]
    block = (4, 3) if "threadIdx" in cell else 12
    hazards = simulate(f"{path}:kernel")[1, block](*arrays, 8).hazards
    found = [h.details["try"] for h in hazards if h.kind == "out-of-bounds"]
    assert advice in found[0]


def test_a_cell_for_each_block_is_not_guarded(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        "from numba import cuda\n\n\n@cuda.jit\ndef kernel(sums):\n    i = cuda.grid(1)\n"
        "    if cuda.threadIdx.x == 0:\n        sums[i] = 1\n"
    )
    (hazard,) = simulate(f"{path}:kernel")[3, 4](np.zeros(3)).hazards
    assert hazard.details["try"].startswith("sums has as many cells as there are blocks: is i the")
    (hazard,) = simulate(f"{path}:kernel")[3, 4](np.zeros(4)).hazards
    assert hazard.details["try"] == "let only threads with i < sums.size touch memory"


# A guard and an access; the launch has 3 threads along x and 4 along y for 2 rows and 3 columns.
KEPT_BELOW = {
    "right guard, exchanged indices": ("row < rows and col < cols", "table[col, row]", "indices"),
    "exchanged guard": (
        "row < cols and col < rows",
        "table[row, col]",
        "row is kept below cols, and this axis ends at rows: which of the two did you mean?",
    ),
    "exchanged guard that returns": (
        "not (row >= cols or col >= rows)",
        "table[row, col]",
        "row is kept below cols, and this axis ends at rows: which of the two did you mean?",
    ),
    "no guard of rows": ("col < cols", "table[row, col]", "let only threads with row < rows"),
    "one row too many": ("row <= rows", "table[row, col]", "let only threads with row < rows"),
    "a number": ("row < 3 and col < 3", "table[row, col]", "let only threads with row < rows"),
}


@pytest.mark.parametrize(("guard", "cell", "advice"), KEPT_BELOW.values(), ids=KEPT_BELOW)
def test_an_index_that_is_kept_below_another_side_is_asked_about(
    tmp_path: Path, guard: str, cell: str, advice: str
) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        "from numba import cuda\n\n\n@cuda.jit\ndef kernel(table, rows, cols):\n"
        f"    col, row = cuda.grid(2)\n    if {guard}:\n        {cell} = 1\n"
    )
    hazards = simulate(f"{path}:kernel")[1, (3, 4)](np.zeros((2, 3)), 2, 3).hazards
    found = next(h for h in hazards if h.kind == "out-of-bounds")
    assert advice in found.details["try"]
    assert found.details["guard_helps"] == ("let only" in advice)


def test_a_loop_is_ended_and_not_guarded(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        "from numba import cuda\n\n\n@cuda.jit\ndef kernel(a, size):\n"
        "    for k in range(cuda.grid(1), size + 1, cuda.gridsize(1)):\n        a[k] = 1\n"
    )
    (hazard,) = simulate(f"{path}:kernel")[1, 4](np.zeros(8), 8).hazards
    assert hazard.details["try"] == "end the loop over k before it leaves the array, at size"


def test_a_barrier_counts_the_threads_of_one_block(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        "from numba import cuda\n\n\n@cuda.jit\ndef kernel(a):\n"
        "    if cuda.threadIdx.x > 0:\n        cuda.syncthreads()\n"
    )
    (hazard,) = simulate(f"{path}:kernel")[2, 64](np.zeros(8)).hazards
    assert hazard.message.endswith("1 of 64 threads misses this barrier")
    assert hazard.details["why"].startswith("63 of the block wait here; the missing one has")


def test_a_race_names_both_accesses(tmp_path: Path) -> None:
    report = launch(tmp_path, "x = out[(i + 1) % size]\nif i < size:\n    out[i] = x")
    lines = report.hazards[0].text().splitlines()
    assert lines[0] == ("RaceError: out[0] is read and written in no fixed order")
    assert lines[4] == (
        "  why:    block (0,0,0) thread 0 writes it (line 9), "
        "block (1,0,0) thread 3 reads it (line 7)"
    )


def test_one_value_by_many_has_its_own_message(tmp_path: Path) -> None:
    same = launch(tmp_path, "out[0] = 1").hazards[0].message
    different = launch(tmp_path, "out[0] = i").hazards[0].message
    assert same.endswith("by several threads, all with one value")
    assert different.endswith("by several threads; the last one wins")


def test_an_uninitialised_read_says_where_it_is_assigned(tmp_path: Path) -> None:
    report = launch(tmp_path, "if i < 5:\n    x = 1.0\nif i < size:\n    out[i] = x")
    lines = report.hazards[0].text().splitlines()
    assert lines[0].endswith("x is read before these threads have assigned it")
    assert lines[3] == (
        "  who:    block (0,0,0), threads 5..15 of 16 (warp 0), and threads of 1 more block"
    )
    assert "x is assigned on line 8" in lines[4]


def test_an_endless_loop_says_what_does_not_change(tmp_path: Path) -> None:
    text = launch(tmp_path, "j = 0\nwhile j < 1:\n    i += 1").hazards[0].text()
    assert "this loop never ends" in text
    assert "j < 1 is true, and nothing in the loop changes it" in text


def test_a_report_says_whether_the_launch_came_to_its_end(tmp_path: Path) -> None:
    assert launch(tmp_path, "if i < size:\n    out[i] = 1").finished
    assert launch(tmp_path, "out[i] = 1").finished  # a hazard alone does not end it
    assert not launch(tmp_path, "while True:\n    i += 1").finished
    assert not launch(tmp_path, "while cuda.atomic.add(out, 0, 0) == 0:\n    pass").finished
    assert not launch(tmp_path, "out[0] = 1", block=2048).finished


def test_a_launch_is_given_up_after_so_many_errors(tmp_path: Path) -> None:
    assert not launch(tmp_path, "for k in range(3000):\n    out[0] = i + k").finished
    out = np.zeros(1, np.float32)
    run = simulate(f"{tmp_path / 'kernel.py'}:kernel", detect_races=False)
    report = run[2, 16](out, out, 1)
    assert report.finished and out[0] == 31 + 2999
    assert not report.hazards and not report.counters.global_store.requests


@pytest.mark.parametrize(
    ("grid", "block", "fact"),
    [
        (1, 2048, "a block of 2,048 threads: a block has at most 1,024"),
        (1, (32, 64), "a block of 2,048 threads"),
        (1, (1, 1, 128), "a block of 128 along z"),
        (0, 32, "a grid of 0 along x"),
        (1, (4, -1), "a block of -1 along y"),
        (2**31, 1, "a grid of 2,147,483,648 blocks along x"),
        ((1, 65_536), 1, "a grid of 65,536 blocks along y"),
    ],
)
def test_an_illegal_launch_runs_nothing(grid, block, fact: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "kernel.py"
    path.write_text(HEAD + "    out[0] = 1\n")
    out = np.zeros(4)
    report = simulate(f"{path}:kernel")[grid, block](out, out, 4)
    assert [h.kind for h in report.hazards] == ["illegal-launch"]
    assert fact in report.hazards[0].message
    assert not out.any()


@pytest.mark.parametrize("policy", ["puzzle", "foreign"])
@pytest.mark.parametrize(
    ("grid", "lanes"), [(2**31 - 1, "68,719,476,704"), (175_000_000, "5,600,000,000")]
)
def test_a_launch_too_large_for_the_simulator_is_legal(  # type: ignore[no-untyped-def]
    grid, lanes: str, policy: str, tmp_path: Path
) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(HEAD + "    out[0] = 1\n")
    out = np.zeros(4)
    with pytest.raises(CourseError) as caught:
        simulate(f"{path}:kernel", policy=policy)[grid, 32](out, out, 4)
    assert f" is launched with {lanes} lanes: a GPU runs that many" in caught.value.fact
    assert caught.value.fact.endswith("and the simulator at most 134,217,728")
    assert caught.value.hint == "launch fewer blocks, or let each thread do more in a loop"
    assert not isinstance(caught.value, HazardError)
    assert not out.any()


def test_hazards_are_raised_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(HEAD + "    out[i] = 1\n")
    with pytest.raises(OutOfBoundsError, match=r"out\[4\] is outside") as caught:
        simulate(f"{path}:kernel", raise_on_hazard=True)[1, 8](np.zeros(4), np.zeros(4), 4)
    assert caught.value.hazard in caught.value.report.hazards
    path.write_text(HEAD + "    out[0] = 1\n")
    with pytest.raises(RaceError):
        simulate(f"{path}:kernel", raise_on_hazard=True)[1, 8](np.zeros(4), np.zeros(4), 4)


def test_every_kind_has_its_error() -> None:
    assert all(issubclass(e, HazardError) for e in HAZARD_ERRORS.values())
    assert len(set(HAZARD_ERRORS.values())) == len(HAZARD_ERRORS) == 8


def test_a_bad_access_is_skipped_and_the_launch_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(HEAD + "    out[i] = a[i]\n    a[i] = 0\n")
    out, a = np.zeros(8), np.arange(8.0)
    report = simulate(f"{path}:kernel")[1, 12](out, a, 8)
    assert [(h.line, h.kind) for h in report.hazards] == [(7, "out-of-bounds")] * 2 + [
        (8, "out-of-bounds")
    ]
    np.testing.assert_array_equal(out, np.arange(8.0))
    assert not a.any()
