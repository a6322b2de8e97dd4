"""What each kernel puzzle of lesson 14 asks for, as loops in plain Python."""

from __future__ import annotations

import math
from typing import Any

from tests.course.puzzles.loops import Numbers, Table, repeats, scaled

PAGE = 16
GROUP = 32


@scaled
def rope(
    q: list[Table],
    k: list[Table],
    position: list[int],
    cos: Table,
    sin: Table,
    heads: int,
    kv_heads: int,
    half: int,
) -> dict[str, Any]:
    def turned(x: list[Table], count: int) -> list[Table]:
        out = []
        for token, place in zip(x, position, strict=True):
            rows = []
            for head in range(count):
                row = [0.0] * (2 * half)
                for pair in range(half):
                    a, b = token[head][pair], token[head][half + pair]
                    c, s = cos[place][pair], sin[place][pair]
                    row[pair], row[half + pair] = a * c - b * s, b * c + a * s
                rows.append(row)
            out.append(rows)
        return out

    return {"q": turned(q, heads), "k": turned(k, kv_heads)}


@scaled
def kv_append_paged(
    k_cache: list[list[Table]],
    v_cache: list[list[Table]],
    k: list[Table],
    v: list[Table],
    page_table: list[list[int]],
    length: list[int],
    kv_heads: int,
    d: int,
) -> dict[str, Any]:
    for sequence, tokens in enumerate(length):
        whole, slot = divmod(tokens - 1, PAGE)
        page = page_table[sequence][whole]
        for head in range(kv_heads):
            for j in range(d):
                k_cache[page][slot][head][j] = k[sequence][head][j]
                v_cache[page][slot][head][j] = v[sequence][head][j]
    return {"k_cache": k_cache, "v_cache": v_cache}


@scaled
def decode_attention_gqa(
    q: list[Table],
    k_cache: list[list[Table]],
    v_cache: list[list[Table]],
    page_table: list[list[int]],
    length: list[int],
    scale: float,
    group: int,
) -> dict[str, Any]:
    out = []
    for sequence, tokens in enumerate(length):
        places = [(page_table[sequence][t // PAGE], t % PAGE) for t in range(tokens)]
        rows = []
        for head, query in enumerate(q[sequence]):
            keys = [k_cache[page][slot][head // group] for page, slot in places]
            values = [v_cache[page][slot][head // group] for page, slot in places]
            scores = [
                float(scale) * sum(a * b for a, b in zip(query, key, strict=True)) for key in keys
            ]
            rows.append(_mean(_weights(scores), values))
        out.append(rows)
    return {"out": out}


def _weights(scores: Numbers) -> list[float]:
    most = max(scores)
    if any(math.isnan(score) or score == math.inf for score in scores) or most == -math.inf:
        return [math.nan] * len(scores)
    return [math.exp(score - most) for score in scores]


def _mean(weights: Numbers, values: Table) -> list[float]:
    total = sum(weights)
    return [
        sum(weight * value[c] for weight, value in zip(weights, values, strict=True)) / total
        for c in range(len(values[0]))
    ]


@scaled
def int4_matvec(
    packed: list[list[int]],
    scale: Table,
    zero: list[list[int]],
    x: Numbers,
    rows: int,
    cols: int,
) -> dict[str, Any]:
    out = []
    for row in range(rows):
        total = 0.0
        for col in range(cols):
            n = packed[row][col // 8] // 16 ** (col % 8) % 16
            total += (n - zero[row][col // GROUP]) * scale[row][col // GROUP] * x[col]
        out.append(total)
    return {"out": out}


@repeats
@scaled
def top_k(logits: Table, cols: int, k: int) -> dict[str, Any]:
    values, places = [], []
    for row in logits:
        left = list(range(cols))
        found = []
        for _ in range(k):
            best = left[0]
            for col in left[1:]:
                if not math.isnan(row[best]) and (math.isnan(row[col]) or row[col] > row[best]):
                    best = col
            left.remove(best)
            found.append(best)
        values.append([row[col] for col in found])
        places.append(found)
    return {"values": values, "places": places}
