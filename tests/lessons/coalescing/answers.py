"""Answers to lesson 03 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

FINITE = "float32(-3.4028234663852886e38)"

RIGHT: dict[tuple[str, str], Changes] = {
    ("sectors", "every byte is looked at"): (
        (
            "{first // 32 for first in firsts}",
            "{(first + byte) // 32 for first in firsts for byte in range(itemsize)}",
        ),
    ),
    ("sectors", "counted from the offset's own sector"): (
        ("(offset + lane", "(offset % 32 + lane"),
    ),
    ("sectors", "from the first to the last, 32 at most"): (
        (
            "len({first // 32 for first in firsts})",
            "min(32, abs((offset + 31 * stride) * itemsize // 32 - offset * itemsize // 32) + 1)",
        ),
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
}
CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
    ("sectors", "the stride's size alone"): (
        "wrong-result",
        (("lane * stride", "lane * abs(stride)"),),
    ),
    ("sectors", "a sector has eight elements"): (
        "four-bytes",
        (("(offset + lane * stride) * itemsize", "(offset + lane * stride) * 4"),),
    ),
    ("sectors", "the offset is a whole sector"): ("alignment", (("offset + lane", "lane"),)),
    ("sectors", "a stride of 0 is a lane each"): (
        "wrong-result",
        (("    firsts =", "    stride = stride or 8\n    firsts ="),),
    ),
    ("sectors", "rounded to the nearest sector"): (
        "wrong-result",
        (("first // 32", "round(first / 32)"),),
    ),
}
FOR_ORDINARY_NUMBERS: dict[tuple[str, str], tuple[str, Changes]] = {
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
}
IN_FLOAT64: dict[tuple[str, str], Changes] = {
    ("sum_rows", "a sum that begins as 0"): (("total = float32(0)", "total = 0"),),
    ("sum_columns", "sums that begin as 0.0"): (("= float32(0)", "= 0.0"),),
}
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
}
