"""Answers to lesson 14 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes
from tests.lessons.decoding import other_answers

_AS_A_SET = """    page_bytes = page * token_bytes
    names, room = set(), 0
    for number, length in enumerate(lengths):
        for first in range(0, length, page):
            alone = first + page <= shared
            names.add(("all", first) if alone else (number, first))
            room += max(0, first + page - length)
    return len(names) * page_bytes, room * token_bytes
    # end answer
"""
_CHAINS = """    work_s = [moved / bandwidth for moved in kernels]
    n = len(kernels)
    end = max(
        (k + 1) * launch_s + sum(work_s[k:]) + (n - 1 - k) * gap_s for k in range(n)
    )
    graph = launch_s + work + (n - 1) * gap_s
"""

RIGHT: dict[tuple[str, str], Changes] = {
    ("rope", "the position written out where it is used"): (
        ("        at = uint32(position[token])\n", ""),
        ("cos[at, pair]", "cos[position[token], pair]"),
        ("sin[at, pair]", "sin[position[token], pair]"),
    ),
    ("kv_append_paged", "the page written out where it is used"): (
        ("        page = page_table[sequence, token // PAGE]\n", ""),
        ("k_cache[page,", "k_cache[page_table[sequence, token // PAGE],"),
        ("v_cache[page,", "v_cache[page_table[sequence, token // PAGE],"),
    ),
    ("kv_bytes", "a set of page names"): (
        ("    common = shared // page if lengths else 0\n", _AS_A_SET),
    ),
    ("kv_bytes", "a list of two"): (
        (
            "return pages * page * token_bytes, empty * token_bytes",
            "return [pages * page * token_bytes, empty * token_bytes]",
        ),
    ),
    ("decode_time", "by intensity"): (
        (
            "max(2 * batch * weights / peak, weights * bits / 8 / bandwidth)",
            "2 * batch * weights / min(peak, bandwidth * 16 * batch / bits)",
        ),
    ),
    ("launch_overhead", "the longest chain"): (
        ("    graph = launch_s + work + (len(kernels) - 1) * gap_s\n", _CHAINS),
    ),
}
"""Unusual, and right."""

CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
    ("kv_bytes", "in floats"): (
        "wrong-type",
        (
            (
                "return pages * page * token_bytes, empty * token_bytes",
                "return float(pages * page * token_bytes), float(empty * token_bytes)",
            ),
        ),
    ),
    ("kv_bytes", "the room of all sequences at once"): (
        "wrong-result",
        (("empty += needed * page - length", "empty = needed * page - length"),),
    ),
    ("decode_time", "8 bits for everybody"): (
        "wrong-result",
        (("weights * bits / 8 / bandwidth", "weights / bandwidth"),),
    ),
    ("decode_time", "rounded to microseconds"): (
        "wrong-result",
        (("return seconds, batch / seconds", "return round(seconds, 6), batch / seconds"),),
    ),
    ("decode_time", "the average cache"): (
        "wrong-result",
        (
            (
                "batch, tokens = len(lengths), sum(lengths)",
                "batch = len(lengths)\n    tokens = sum(lengths) / max(1, batch)",
            ),
        ),
    ),
    ("launch_overhead", "in per cent"): (
        "wrong-result",
        (
            (
                "return work / end, work / graph, work / whole",
                "return 100 * work / end, 100 * work / graph, 100 * work / whole",
            ),
        ),
    ),
    ("launch_overhead", "the barrier by its time alone"): (
        "wrong-result",
        (("whole += barrier_s - early", "whole += barrier_s"),),
    ),
}
"""The lazy and the blunt: refused."""

RIGHT |= other_answers.RIGHT
CLOSE |= other_answers.CLOSE
