"""Answers to the kernels and the scheduler of lesson 14, for the tables of `answers.py`."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

TWO_TILES: Changes = (
    ("shared.array((TILE, WIDE)", "shared.array((2, TILE, WIDE)"),
    ("shared.array((TILE, D)", "shared.array((2, TILE, D)"),
    (
        "        for j in range(warp, count, warps):\n",
        "        turn = start // TILE % 2\n        for j in range(warp, count, warps):\n",
    ),
    ("keys[j, lane]", "keys[turn, j, lane]"),
    ("values[j, lane]", "values[turn, j, lane]"),
    ("keys[mine,", "keys[turn, mine,"),
    (
        "values[8 * split + j, lane]\n        cuda.syncthreads()",
        "values[turn, 8 * split + j, lane]",
    ),
)
"""While one tile is used the other is filled: a barrier for each tile."""
BACKFILLING = """    begins = []
    steps = 1 + sum(each["arrives"] + each["output"] for each in requests)
    used = [[0, 0] for _ in range(steps)]
    for each in requests:
        need = (each["prompt"] + each["output"] + 14) // 16
        begin = each["arrives"]
        while any(
            used[step][0] == slots or used[step][1] + need > pages
            for step in range(begin, begin + each["output"])
        ):
            begin += 1
        for step in range(begin, begin + each["output"]):
            used[step][0] += 1
            used[step][1] += need
        begins.append(begin)
    ends = [b + each["output"] for b, each in zip(begins, requests)]
    return [
        [n for n, (b, e) in enumerate(zip(begins, ends)) if b <= step < e]
        for step in range(max(ends, default=0))
    ]
    # end answer
"""
CARRY_ON = "        running = [number for number in running if left[number]]\n"

RIGHT: dict[tuple[str, str], Changes] = {
    ("rope", "the pairs of a token from the last to the first"): (
        (
            "cuda.blockIdx.y * TPB + cuda.threadIdx.x",
            "(heads + kv_heads) * half - 1 - cuda.blockIdx.y * TPB - cuda.threadIdx.x",
        ),
    ),
    ("rope", "with multiply-adds"): (
        ("a * c - b * s", "cuda.fma(a, c, -b * s)"),
        ("b * c + a * s", "cuda.fma(b, c, a * s)"),
    ),
    ("kv_append_paged", "a shift and a mask"): (
        ("token // PAGE", "token >> 4"),
        ("token % PAGE", "token & 15"),
    ),
    ("kv_append_paged", "the second cache first"): (
        (
            (
                "        k_cache[page, token % PAGE, head, j] = key\n"
                "        v_cache[page, token % PAGE, head, j] = value\n"
            ),
            (
                "        v_cache[page, token % PAGE, head, j] = value\n"
                "        k_cache[page, token % PAGE, head, j] = key\n"
            ),
        ),
    ),
    ("decode_attention_gqa", "weights by way of a tile"): (
        (
            "    query = cuda.local",
            "    weights = cuda.shared.array((SPLIT, MOST, 8), float32)\n    query = cuda.local",
        ),
        (
            "        # Here each lane is a channel.\n",
            (
                "        if lane % 4 == 0:\n            weights[split, own, lane // 4] = weight\n"
                "        cuda.syncwarp()\n"
            ),
        ),
        ("cuda.shfl_sync(ALL_LANES, weight, 4 * j)", "weights[split, own, j]"),
    ),
    ("decode_attention_gqa", "two tiles that take turns"): TWO_TILES,
    ("decode_attention_gqa", "powers of two"): (
        ("score * scale", "score * (scale * float32(1.4426950408889634))"),
        ("math.exp(", "math.exp2("),
    ),
    ("decode_attention_gqa", "queries scaled beforehand"): (
        ("4 * c + lane % 4]\n    most", "4 * c + lane % 4] * scale\n    most"),
        ("score * scale if", "score if"),
    ),
    ("int4_matvec", "the rows of a block dealt out in turn"): (
        (
            "(cuda.blockIdx.x * WARPS + t // 32) * ROWS",
            "cuda.blockIdx.x * WARPS * ROWS + t // 32",
        ),
        ("first + r", "first + r * WARPS"),
    ),
    ("int4_matvec", "the word shifted on and on"): (
        (
            "                part = float32(0)\n",
            "                part = float32(0)\n                rest = words[r]\n",
        ),
        (
            "float32((words[r] >> uint32(4 * k)) & uint32(15))",
            "float32(rest & uint32(15))\n                    rest = uint32(rest >> uint32(4))",
        ),
    ),
    ("int4_matvec", "the scale before the sum"): (
        ("(n - zeros[r]) * tile", "(n - zeros[r]) * scales[r] * tile"),
        ("part * scales[r]", "part"),
    ),
    ("top_k", "held against the k-th of the best"): (
        ("cuda.shfl_sync(ALL_LANES, best, 31)", "cuda.shfl_sync(ALL_LANES, best, k - 1)"),
    ),
    ("top_k", "everything sorted in, needed or not"): (
        ("cuda.any_sync(ALL_LANES, key > cuda.shfl_sync(ALL_LANES, best, 31))", "start < cols"),
    ),
    ("in_flight_batching", "backfilling that delays nobody"): (
        ("    schedule = []\n", BACKFILLING),
    ),
    ("in_flight_batching", "tuples, the newest first"): (
        ("schedule.append(list(running))", "schedule.append(tuple(reversed(running)))"),
        ("    return schedule\n", "    return tuple(schedule)\n"),
    ),
}
"""Unusual, and right."""

CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
    ("rope", "positions counted from the first token of the batch"): (
        "wrong-result",
        (("uint32(position[token])", "uint32(position[0] + token)"),),
    ),
    ("kv_append_paged", "added to what the slot held"): (
        "wrong-result",
        (("head, j] = key", "head, j] += key"),),
    ),
    ("decode_attention_gqa", "a largest score that begins at 0"): (
        "wrong-result",
        (("most = LOWEST", "most = float32(0)"),),
    ),
    ("decode_attention_gqa", "a largest score that begins at -infinity"): (
        "wrong-result",
        (("most = LOWEST", "most = NOTHING"),),
    ),
    ("decode_attention_gqa", "a mask of 0 over what is not there"): (
        "hazard",
        (("range(warp, count, warps)", "range(warp, TILE, warps)"),),
    ),
    ("int4_matvec", "8 for every zero"): (
        "wrong-result",
        (("(n - zeros[r])", "(n - float32(8))"),),
    ),
    ("int4_matvec", "the zero of the row's first group"): (
        "wrong-result",
        (("zero[first + r, word // (GROUP // 8)]", "zero[first + r, 0]"),),
    ),
    ("top_k", "numbers rounded to six bits less"): (
        "wrong-result",
        (("    if x != x:\n", "    upper = int32(upper & 0x7FFFF000)\n    if x != x:\n"),),
    ),
    ("top_k", "an empty place that counts as 0"): (
        "wrong-result",
        (("        key = int64(LEAST)\n", "        key = key_of(float32(0), col)\n"),),
    ),
    ("in_flight_batching", "idle steps left out"): (
        "early",
        (("    return schedule\n", "    return [batch for batch in schedule if batch]\n"),),
    ),
    ("in_flight_batching", "a page for the last token too"): (
        "over-budget",
        (("+ 14) // 16", "+ 15) // 16"),),
    ),
    ("in_flight_batching", "whoever fits goes first"): (
        "over-budget",
        (
            (
                (
                    "            first = waiting[0]\n"
                    '            if requests[first]["arrives"] > step:\n                break\n'
                    "            if sum(map(held, [*running, first])) > pages:\n"
                    "                break\n"
                    "            running.append(waiting.pop(0))\n"
                ),
                (
                    "            fit = [n for n in waiting if requests[n]['arrives'] <= step\n"
                    "                   and sum(map(held, [*running, n])) <= pages]\n"
                    "            if not fit:\n                break\n"
                    "            running.append(fit[0])\n            waiting.remove(fit[0])\n"
                ),
            ),
        ),
    ),
}
"""The lazy and the blunt: refused."""
