"""Answers to lessons 00 to 04 that are rarely given: right ones that pass, wrong and lazy ones not.

Each is the solution with a change. The wrong ones are right for ordinary numbers: they leave a
number out by multiplying with 0, begin with a number that is not the smallest, or skip zeros. Lazy
ones give the right result and cost too much. What adds up in float64 passes, and is told so.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpu_course import check
from gpu_course.puzzle import KernelPuzzle, index
from tests.course.puzzles.rules import SOLUTIONS

Changes = tuple[tuple[str, str], ...]

RIGHT: dict[tuple[str, str], Changes] = {
    ("warp_max_all", "a clamped load: the last number twice changes no maximum"): (
        ("a[i] if i < size else float32(-math.inf)", "a[min(i, size - 1)]"),
    ),
    ("warp_max_all", "from the first number of the warp"): (
        ("a[i] if i < size else float32(-math.inf)", "a[i if i < size else size - 1]"),
    ),
    ("warp_sum", "a clamped load, and then a choice"): (
        ("total = a[i] if i < size else float32(0)", "total = a[min(i, size - 1)]"),
        ("    for delta", "    if i >= size:\n        total = float32(0)\n    for delta"),
    ),
    ("warp_scan", "a clamped load: no lane fetches from a later one"): (
        ("a[i] if i < size else float32(0)", "a[min(i, size - 1)]"),
    ),
    ("ballot_count", "a clamped load, voted on with a guard"): (
        ("above = i < size and a[i] > limit", "x = a[min(i, size - 1)]"),
        ("ballot_sync(ALL, above)", "ballot_sync(ALL, x > limit and i < size)"),
    ),
    ("stencil_halo", "clamped loads, and then a choice"): (
        (
            "tile[k] = a[cell] if 0 <= cell < size else float32(0)",
            (
                "x = a[max(min(cell, size - 1), 0)]\n"
                "        tile[k] = x if 0 <= cell < size else float32(0)"
            ),
        ),
    ),
    ("conv1d", "clamped loads, and then a choice"): (
        (
            "tile[k] = a[start + k] if start + k < size else float32(0)",
            (
                "x = a[min(start + k, size - 1)]\n"
                "        tile[k] = x if start + k < size else float32(0)"
            ),
        ),
    ),
    ("pooling", "a clamped load"): (
        (
            "    if col < cols:\n        tile[col] = a[row, col]\n",
            "    tile[col] = a[row, min(col, cols - 1)]\n",
        ),
    ),
    ("even_odd_uniform", "a clamped load by every thread"): (
        ("        x = a[i]\n", ""),
        ("    if i < size:\n", "    x = a[min(i, size - 1)]\n    if i < size:\n"),
    ),
    ("sum_rows", "every lane has the sum"): (("shfl_down_sync", "shfl_xor_sync"),),
    ("sum_columns", "from the last row up"): (
        ("even += a[row, col]", "even += a[rows - 1 - row, col]"),
        ("odd += a[row + 1, col]", "odd += a[rows - 2 - row, col]"),
        ("even += a[rows - 1, col]", "even += a[0, col]"),
    ),
    ("copy_coalesced", "the last round first"): (
        ("range(PER_THREAD)", "range(PER_THREAD - 1, -1, -1)"),
    ),
    ("embedding_lookup", "the last token first"): (
        (
            "range(first, min(first + WARP, size))",
            "range(min(first + WARP, size) - 1, first - 1, -1)",
        ),
    ),
    ("soa_from_aos", "the last particles first"): (("range(FIELDS)", "range(FIELDS - 1, -1, -1)"),),
    ("transpose_naive", "the last rows first"): (
        ("range(PER_THREAD)", "range(PER_THREAD - 1, -1, -1)"),
    ),
    ("block_reverse", "turned on the way in"): (
        ("tile[t] = a[i]", "tile[length - 1 - t] = a[i]"),
        ("out[i] = tile[length - 1 - t]", "out[i] = tile[t]"),
    ),
    ("block_reverse", "a clamped load times nothing, into places that nobody takes"): (
        (
            "    if i < size:\n        tile[t] = a[i]\n",
            "    tile[t] = a[min(i, size - 1)] * float32(i < size)\n",
        ),
    ),
    ("fix_the_race", "rotated on the way in"): (
        (
            "    if i < size:\n        tile[t] = a[i]",
            "    if i < size:\n        tile[(t - 1) % length] = a[i]",
        ),
        ("tile[(t + 1) % length]", "tile[t]"),
    ),
    ("fix_the_barrier", "shifted on the way in"): (
        (
            "    if i < size:\n        tile[t] = a[i]\n",
            (
                "    if t == 0:\n        tile[0] = float32(0)\n"
                "    if i < size and t < TPB - 1:\n        tile[t + 1] = a[i]\n"
            ),
        ),
        ("out[i] = tile[t - 1] if t > 0 else float32(0)", "out[i] = tile[t]"),
    ),
    ("box_blur_2d", "down the columns first"): (
        (
            "for down in range(3):\n            for right",
            "for right in range(3):\n            for down",
        ),
    ),
    ("transpose_tiled", "turned on the way in"): (
        ("tile[y, x] = a", "tile[x, y] = a"),
        ("= tile[x, y]", "= tile[y, x]"),
    ),
    ("transpose_tiled", "a tile whose rows are one place longer"): (
        (
            "cuda.shared.array((TILE, TILE), float32)",
            "cuda.shared.array((TILE, PADDED), float32)",
        ),
        ("TILE = 32\n", "TILE = 32\nPADDED = TILE + 1\n"),
    ),
    ("transpose_padded", "the exclusive or of row and column for a longer row"): (
        ("(TILE, PADDED)", "(TILE, TILE)"),
        ("tile[y, x] =", "tile[y, x ^ y] ="),
        ("= tile[x, y]", "= tile[x, y ^ x]"),
    ),
}

FINITE = "float32(-3.4028234663852886e38)"

WRONG: dict[tuple[str, str], tuple[str, Changes]] = {
    ("warp_sum", "times nothing"): (
        "wrong-result",
        (("a[i] if i < size else float32(0)", "a[min(i, size - 1)] * float32(i < size)"),),
    ),
    ("warp_scan", "adds times nothing"): (
        "wrong-result",
        (
            (
                "if cuda.laneid >= delta:\n            total += before",
                "total += before * float32(cuda.laneid >= delta)",
            ),
        ),
    ),
    ("sum_rows", "times nothing"): (
        "wrong-result",
        (
            (
                "for col in range(lane, cols, WARP):\n            total += a[row, col]",
                (
                    "for first in range(0, cols, WARP):\n            col = first + lane\n"
                    "            total += a[row, min(col, cols - 1)] * float32(col < cols)"
                ),
            ),
        ),
    ),
    ("warp_max_all", "the lowest finite number"): (
        "wrong-result",
        (("-math.inf", "-3.4028234663852886e38"),),
    ),
    ("ballot_count", "NaN is kept"): (
        "wrong-result",
        (("i < size and a[i] > limit", "i < size and not (a[i] <= limit)"),),
    ),
    ("stencil_halo", "times nothing"): (
        "wrong-result",
        (
            (
                "a[cell] if 0 <= cell < size else float32(0)",
                "a[max(min(cell, size - 1), 0)] * float32(0 <= cell < size)",
            ),
        ),
    ),
    ("conv1d", "times nothing"): (
        "wrong-result",
        (
            (
                "a[start + k] if start + k < size else float32(0)",
                "a[min(start + k, size - 1)] * float32(start + k < size)",
            ),
        ),
    ),
    ("pooling", "the lowest finite number"): (
        "wrong-result",
        (
            ("largest = tile[col]", "largest = float32(-3.4028234663852886e38)"),
            ("range(1, min", "range(0, min"),
        ),
    ),
    ("gather", "times one, and less itself"): (
        "wrong-result",
        (("a[index[i]]", "a[index[i]] + (a[i % 2] - a[i % 2])"),),
    ),
    ("grid_stride", "skips what is the same"): (
        "wrong-result",
        (("out[i] = a[i] - b[i]", "out[i] = 0 if a[i] == b[i] else a[i] - b[i]"),),
    ),
    ("sum_columns", "times nothing"): (
        "wrong-result",
        (
            ("range(0, rows - 1, 2)", "range(rows)"),
            ("even += a[row, col]", "x = a[row, col]\n            even += x * float32(row % 2)"),
            ("odd += a[row + 1, col]", "odd += x * float32(1 - row % 2)"),
            ("        if rows % 2 == 1:\n            even += a[rows - 1, col]\n", ""),
        ),
    ),
    ("copy_coalesced", "nothing below the finite numbers"): (
        "wrong-result",
        (("out[i] = kept[k]", f"out[i] = max(kept[k], {FINITE})"),),
    ),
    ("embedding_lookup", "one row added to nothing times another"): (
        "wrong-result",
        (("out[token, col] = kept[k]", "out[token, col] = kept[k] + 0 * table[ids[0], col]"),),
    ),
    ("soa_from_aos", "nothing below the finite numbers"): (
        "wrong-result",
        (("out[field, i] = kept[k]", f"out[field, i] = max(kept[k], {FINITE})"),),
    ),
    ("transpose_naive", "nothing below the finite numbers"): (
        "wrong-result",
        (("out[col, row] = kept[k]", f"out[col, row] = max(kept[k], {FINITE})"),),
    ),
    ("block_reverse", "nothing below the finite numbers"): (
        "wrong-result",
        (("out[i] = tile[", f"out[i] = max({FINITE}, tile["), ("- 1 - t]", "- 1 - t])")),
    ),
    ("fix_the_race", "nothing times the left neighbour of thread 0"): (
        "wrong-result",
        (
            (
                "tile[t - 1] if t > 0 else float32(0)",
                "tile[max(t - 1, 0)] * float32(t > 0)",
            ),
        ),
    ),
    ("fix_the_barrier", "nothing times a neighbour"): (
        "wrong-result",
        (
            (
                "out[i] = tile[t - 1] if t > 0 else float32(0)",
                "out[i] = tile[max(t - 1, 0)] * float32(t > 0)",
            ),
        ),
    ),
    ("box_blur_2d", "times nothing"): (
        "wrong-result",
        (
            (
                "a[row, col] if inside else float32(0)",
                "a[min(max(row, 0), rows - 1), min(max(col, 0), cols - 1)] * float32(inside)",
            ),
        ),
    ),
    ("transpose_tiled", "nothing below the finite numbers"): (
        "wrong-result",
        (("= tile[x, y]", f"= max(tile[x, y], {FINITE})"),),
    ),
    ("transpose_padded", "nothing below the finite numbers"): (
        "wrong-result",
        (("= tile[x, y]", f"= max(tile[x, y], {FINITE})"),),
    ),
}

LAZY: dict[tuple[str, str], Changes] = {
    ("sum_columns", "every fourth thread has four columns"): (
        (
            "col = cuda.grid(1)\n    if col < cols:",
            (
                "start = cuda.grid(1)\n"
                "    for col in range(start, min(start + 4, cols) * (start % 4 == 0)):"
            ),
        ),
    ),
    ("copy_coalesced", "one warp of each block copies the piece"): (
        ("cuda.threadIdx.x\n", "cuda.threadIdx.x % 32\n"),
        ("range(PER_THREAD)", "range(PER_THREAD * TPB // 32 * (cuda.threadIdx.x < 32))"),
        ("k * TPB", "k * 32"),
        ("local.array(PER_THREAD,", "local.array(1024,"),
    ),
    ("embedding_lookup", "two neighbouring columns for each lane"): (
        ("range(lane, dim, 4 * WARP)", "range(2 * lane, dim, 2 * WARP)"),
        ("range(4)", "range(2)"),
        ("start + k * WARP", "start + k"),
    ),
    ("soa_from_aos", "a number more, from where nothing is in order"): (
        (
            "kept[k] = a[i, field]",
            (
                "extra = a[i * 16 % size, field]\n            kept[k] = a[i, field]\n"
                "            if extra != extra:\n                kept[k] = a[i, field]"
            ),
        ),
    ),
    ("block_reverse", "eight threads bring the piece"): (
        (
            "    if i < size:\n        tile[t] = a[i]\n",
            (
                "    for k in range(t, length, 8):\n        if t < 8:\n"
                "            tile[k] = a[start + k]\n"
            ),
        ),
    ),
    ("box_blur_2d", "the cell in the middle from global memory"): (
        (
            "total += tile[y + down, x + right]",
            (
                "middle = down == 1 and right == 1\n                total += "
                "a[top + y, left + x] if middle else tile[y + down, x + right]"
            ),
        ),
    ),
    ("stencil_halo", "the cell itself from global memory"): (("2 * tile[t + 1]", "2 * a[i]"),),
    ("conv1d", "the cell itself from global memory"): (
        (
            "total += weights[k] * tile[t + k]",
            "total += weights[k] * (tile[t + k] if k else a[i])",
        ),
    ),
    ("pooling", "its own number from global memory"): (
        ("largest = tile[col]", "largest = a[row, col]"),
    ),
    ("transpose_tiled", "out is written twice, once down the columns"): (
        (
            "    cuda.syncthreads()\n",
            (
                "    cuda.syncthreads()\n    if top + y < rows and left + x < cols:\n"
                "        out[left + x, top + y] = tile[y, x]\n    cuda.syncthreads()\n"
            ),
        ),
    ),
    ("transpose_padded", "two places longer"): (("PADDED = TILE + 1", "PADDED = TILE + 2"),),
}
"""(Puzzle, way) -> changes that leave every result right and go past a budget or a share."""

IN_FLOAT64: dict[tuple[str, str], Changes] = {
    ("warp_sum", "a choice between a float32 and 0.0"): (("else float32(0)", "else 0.0"),),
    ("warp_scan", "a choice between a float32 and 0"): (("else float32(0)", "else 0"),),
    ("sum_rows", "a sum that begins as 0"): (("total = float32(0)", "total = 0"),),
    ("sum_columns", "sums that begin as 0.0"): (("= float32(0)", "= 0.0"),),
    ("conv1d", "a sum that begins as 0.0"): (("total = float32(0)", "total = 0.0"),),
}
"""The same for sums in float64, where the solution has none."""

OTHERWISE_WRONG: dict[tuple[str, str], tuple[str, Changes, str]] = {
    ("sum_columns", "one row at a time, and the last one forgotten"): (
        "odd-row",
        (
            ("range(0, rows - 1, 2)", "range(rows - 1)"),
            ("            odd += a[row + 1, col]\n", ""),
            ("        if rows % 2 == 1:\n            even += a[rows - 1, col]\n", ""),
        ),
        "one that takes them singly has to go on up to row rows - 1",
    ),
    ("sum_columns", "two threads of one block for each column"): (
        "race",
        (("cuda.grid(1)", "cuda.grid(1) // 2"),),
        "the column of threads 0 and 1 in block 0",
    ),
    ("sum_rows", "a mask of half a warp"): (
        "inactive-lane",
        (("ALL, total", "0xFFFF, total"),),
        "every lane that comes must be named",
    ),
    ("embedding_lookup", "the last token forgotten"): (
        "tail-unwritten",
        (("min(first + WARP, size)", "min(first + WARP, size - 1)"),),
        "and where the one over the tokens",
    ),
    ("soa_from_aos", "the last particle forgotten"): (
        "tail-unwritten",
        (("if i < size:\n            out", "if i < size - 1:\n            out"),),
        "for all the particles of a block",
    ),
    ("transpose_naive", "the last row forgotten"): (
        "tail-unwritten",
        (
            (
                "row < rows and col < cols:\n            out",
                "row < rows - 1 and col < cols:\n            out",
            ),
        ),
        "The last rows or columns of out",
    ),
    ("warp_sum", "growing distances, and the last one forgotten"): (
        "half-a-warp",
        (("(16, 8, 4, 2, 1)", "(1, 2, 4, 8)"),),
        "Which distance brings the numbers of the other 16",
    ),
    ("warp_scan", "shrinking distances, and the first one forgotten"): (
        "window-of-16",
        (("(1, 2, 4, 8, 16)", "(8, 4, 2, 1)"),),
        "Which distance do your steps lack",
    ),
    ("warp_max_all", "the first number of all for a lane without a cell"): (
        "began-too-high",
        (("float32(-math.inf)", "a[0]"),),
        "none of its numbers",
    ),
    ("warp_max_all", "three exchanges"): (
        "groups",
        (("(16, 8, 4, 2, 1)", "(4, 2, 1)"),),
        "only the three lowest bits",
    ),
    ("fix_the_barrier", "no way round at the end of the tile"): (
        "out-of-bounds",
        (("tile[(t + HALF) % TPB]", "tile[t + HALF]"),),
        "a place HALF further on",
    ),
    ("ballot_count", "one cell for the two warps of a block"): (
        "race",
        (("out[i // 32]", "out[cuda.blockIdx.x]"),),
        "All lanes of a warp know its count",
    ),
    ("pooling", "from a number of its own"): (
        "began-too-high",
        (
            ("largest = tile[col]", "largest = float32(-1000)"),
            ("range(1, min", "range(0, min"),
        ),
        "No finite number is small enough",
    ),
}
"""(Puzzle, way) -> diagnosis, changes, and words of a sentence that has to be true of it too."""


def verdict_on(name: str, changes: Changes, tmp_path: Path):
    puzzle = index.find(name)
    assert isinstance(puzzle, KernelPuzzle)
    text = (SOLUTIONS / f"{puzzle.name}.py").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    answer = tmp_path / f"{name}.py"
    answer.write_text(text, encoding="utf-8")
    return check(puzzle, answer=answer, seed=0)


@pytest.mark.parametrize(("name", "way"), RIGHT, ids=str)
def test_an_unusual_right_answer_passes(name: str, way: str, tmp_path: Path) -> None:
    verdict = verdict_on(name, RIGHT[name, way], tmp_path)
    assert verdict.passed, verdict.message


@pytest.mark.parametrize(("name", "way"), WRONG, ids=str)
def test_an_answer_that_is_right_for_ordinary_numbers_alone_is_refused(
    name: str, way: str, tmp_path: Path
) -> None:
    reason, changes = WRONG[name, way]
    verdict = verdict_on(name, changes, tmp_path)
    assert (verdict.status, verdict.reason) == ("failed", reason), verdict.message
    assert "infinities" in verdict.message, verdict.message  # the name of the case


@pytest.mark.parametrize(("name", "way"), LAZY, ids=str)
def test_a_lazy_answer_is_refused_for_what_it_costs(name: str, way: str, tmp_path: Path) -> None:
    verdict = verdict_on(name, LAZY[name, way], tmp_path)
    assert (verdict.status, verdict.reason) == ("failed", "over-budget"), verdict.message


@pytest.mark.parametrize(("name", "way"), IN_FLOAT64, ids=str)
def test_a_sum_in_float64_passes_and_is_told_so(name: str, way: str, tmp_path: Path) -> None:
    """Lessons 02 to 04 ask for no float32 sums, so points are not lost on them."""
    verdict = verdict_on(name, IN_FLOAT64[name, way], tmp_path)
    assert verdict.passed, verdict.message
    assert re.search(r"^  also: +[\d,]+ operations.* in\s+float64", verdict.message, re.M | re.S)
    right = verdict_on(name, (), tmp_path)
    assert "float64" not in right.message


def test_a_solution_that_has_float64_itself_asks_nobody_for_less(tmp_path: Path) -> None:
    changes = (("2 * tile[t + 1]", "2.0 * tile[t + 1]"),)
    assert "float64" not in verdict_on("stencil_halo", changes, tmp_path).message


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ((), "2,048 passes to read the tile, 64 passes to write it"),
        (
            RIGHT["transpose_tiled", "turned on the way in"],
            "64 passes to read the tile, 2,048 passes to write it",
        ),
        (
            RIGHT["transpose_tiled", "a tile whose rows are one place longer"],
            "64 passes to read the tile, 64 passes to write it",
        ),
    ],
    ids=["on the way out", "on the way in", "padded"],
)
def test_a_transposition_says_how_many_passes_its_own_tile_took(
    changes: Changes, said: str, tmp_path: Path
) -> None:
    verdict = verdict_on("transpose_tiled", changes, tmp_path)
    message = " ".join(verdict.message.split())
    assert verdict.passed and said in message, message
    assert "`transpose_padded`" in message


@pytest.mark.parametrize(("name", "way"), OTHERWISE_WRONG, ids=str)
def test_what_is_said_is_true_of_rarer_ways_to_the_same_mistake(
    name: str, way: str, tmp_path: Path
) -> None:
    diagnosis, changes, words = OTHERWISE_WRONG[name, way]
    verdict = verdict_on(name, changes, tmp_path)
    message = " ".join(verdict.message.split())
    assert (verdict.status, verdict.diagnosis) == ("failed", diagnosis), verdict.message
    assert words in message, verdict.message
