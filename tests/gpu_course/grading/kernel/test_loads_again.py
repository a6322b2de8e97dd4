"""Where too much is loaded since it is loaded twice, the second load is named, and no other."""

from __future__ import annotations

from pathlib import Path

from gpu_course.grading import check

SOLUTIONS = Path(__file__).parents[4] / "solutions"
SMALLER = """from numba import cuda, float32

TPB = 64


@cuda.jit
def count_smaller(out, a):
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i]
    cuda.syncthreads()
    mine = MINE
    count = 0
    for k in range(TPB):
        if tile[k] < mine:
            count += 1
    out[i] = count
"""
DIRECT = """from numba import cuda, float32

TPB = 64


@cuda.jit
def stencil_halo(out, a, size):
    i = cuda.grid(1)
    if i < size:
        total = -float32(2) * a[i]
        if i > 0:
            total += a[i - 1]
        if i + 1 < size:
            total += a[i + 1]
        out[i] = total
"""
TAPS = """from numba import cuda, float32

TPB = 64
MAX_TAPS = 16
SPAN = TPB + MAX_TAPS


@cuda.jit
def conv1d(out, a, w, size, taps):
    tile = cuda.shared.array(SPAN, float32)
    weights = cuda.shared.array(MAX_TAPS, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    for k in range(t, END, TPB):
        tile[k] = a[start + k] if start + k < size else float32(0)
    if t < taps:
        weights[t] = w[t]
    cuda.syncthreads()
    total = float32(0)
    for k in range(taps):
        total += WEIGHT * tile[t + k]
    if start + t < size:
        out[start + t] = total
"""


def sections_of(puzzle: str, text: str, tmp_path: Path) -> list[tuple[str, str, str]]:
    """What a verdict says of lines: each with its label, its line of code and its words."""
    file = tmp_path / f"{puzzle}.py"
    file.write_text(text)
    verdict = check(puzzle, answer=file, seed=0)
    assert verdict.reason == "over-budget", verdict.message
    return [
        (each.label, each.lines[-1].strip(), each.lines[0])
        for each in verdict.sections
        if each.label in ("again", "cost")
    ]


def test_of_two_loads_by_one_thread_the_second_is_named_alone(tmp_path: Path) -> None:
    (found,) = sections_of("count_smaller", SMALLER.replace("MINE", "a[i]"), tmp_path)
    label, code, words = found
    assert (label, code) == ("again", "mine = a[i]")
    assert words.startswith("512 in ")
    assert words.endswith("its thread has loaded these cells of a in line 11 already")


def test_a_load_in_a_loop_has_been_made_on_the_same_line(tmp_path: Path) -> None:
    text = SMALLER.replace("    tile[t] = a[i]\n", "").replace("    mine = MINE\n", "")
    text = text.replace("tile[k] < mine", "a[i - t + k] < a[i]")
    found = sections_of("count_smaller", text, tmp_path)
    assert [(label, code) for label, code, _ in found] == [("again", "if a[i - t + k] < a[i]:")]
    assert found[0][2].endswith("its block has loaded these cells of a on this line already")


def test_what_a_neighbour_has_loaded_is_told_of_the_block(tmp_path: Path) -> None:
    found = sections_of("stencil_halo", DIRECT, tmp_path)
    assert [(label, code) for label, code, _ in found] == [
        ("again", "total += a[i - 1]"),
        ("again", "total += a[i + 1]"),
    ]
    assert all("its block has loaded these cells of a in line 10" in each[2] for each in found)


def test_a_small_second_load_is_named_and_the_large_first_one_is_not(tmp_path: Path) -> None:
    text = TAPS.replace("END", "TPB + taps - 1").replace("WEIGHT", "w[k]")
    found = sections_of("conv1d", text, tmp_path)
    assert [(label, code) for label, code, _ in found] == [("again", "total += w[k] * tile[t + k]")]
    assert "its block has loaded these cells of w in line 17 already" in found[0][2]


def test_what_nobody_needs_has_not_been_loaded_twice(tmp_path: Path) -> None:
    text = TAPS.replace("END", "SPAN").replace("WEIGHT", "weights[k]")
    assert {label for label, _, _ in sections_of("conv1d", text, tmp_path)} == {"cost"}


def test_a_second_reading_that_is_allowed_is_not_named_beside_a_third(tmp_path: Path) -> None:
    text = (SOLUTIONS / "05_reductions_and_scans" / "softmax_row_max.py").read_text()
    once = "        most = max(most, a[row, col])\n"
    assert once in text
    twice = "        if a[row, col] > most:\n            most = a[row, col]\n"
    found = sections_of("softmax_row_max", text.replace(once, twice), tmp_path)
    assert [(label, code) for label, code, _ in found] == [("again", "most = a[row, col]")]
