"""Answers to lesson 26 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes


def _instead(first: str, *lines: str) -> Changes:
    """Another body, before the line of the solution that begins with these words."""
    body = "".join(f"    {line}\n" for line in lines)
    return ((f"    {first}", f"{body}    {first}"),)


BALANCE = "low, high = max(costs), sum(costs)"
DYNAMIC = _instead(
    BALANCE,
    "layers = len(costs)",
    "best = {(0, 0): (0, [])}",
    "for stages in range(1, ranks + 1):",
    "    for end in range(stages, layers + 1):",
    "        ways = []",
    "        total = 0",
    "        for start in range(end - 1, stages - 2, -1):",
    "            total += costs[start]",
    "            if (stages - 1, start) in best:",
    "                slowest, sizes = best[stages - 1, start]",
    "                ways.append((max(slowest, total), [*sizes, end - start]))",
    "        best[stages, end] = min(ways)",
    "return best[ranks, layers][1]",
)
"""Dynamic programming."""
FROM_THE_END = (
    ("for cost in costs:", "for cost in reversed(costs):"),
    ("return sizes\n    # end answer", "return sizes[::-1]\n    # end answer"),
)
ONE_BY_ONE = _instead(
    BALANCE,
    "mean = sum(costs) / ranks",
    "sizes = [len(costs) // ranks] * ranks",
    "sizes[-1] += len(costs) % ranks",
    "def sums():",
    "    ends = [sum(sizes[:n]) for n in range(ranks + 1)]",
    "    return [sum(costs[a:b]) for a, b in zip(ends, ends[1:])]",
    "while True:",
    "    before = sorted(sums(), reverse=True)",
    "    for left in range(ranks - 1):",
    "        for give in (1, -1):",
    "            sizes[left] += give",
    "            sizes[left + 1] -= give",
    "            if min(sizes) > 0 and sorted(sums(), reverse=True) < before:",
    "                break",
    "            sizes[left] -= give",
    "            sizes[left + 1] += give",
    "        else:",
    "            continue",
    "        break",
    "    else:",
    "        return sizes",
)
"""Single layers move to a neighbour while that helps at once."""
BLOCKS = _instead(
    BALANCE,
    "sizes = [len(costs) // ranks] * ranks",
    "sizes[-1] += len(costs) % ranks",
    "def sums():",
    "    ends = [sum(sizes[:n]) for n in range(ranks + 1)]",
    "    return [sum(costs[a:b]) for a, b in zip(ends, ends[1:])]",
    "def largest():",
    "    return sums().index(max(sums()))",
    "high = largest()",
    "while sums()[high] > min(sums()) + max(costs):",
    "    low = sums().index(min(sums()))",
    "    giver = low + (1 if high > low else -1)",
    "    sizes[giver] -= 1",
    "    sizes[low] += 1",
    "    if giver == high:",
    "        high = largest()",
    "return sizes",
)
"""Barany's rule, by which torchgpipe balances."""

RIGHT: dict[tuple[str, str], Changes] = {
    ("gpipe_order", "the newest first on the way back"): (
        (
            'B{each}" for each in range(microbatches)',
            'B{each}" for each in range(microbatches)[::-1]',
        ),
    ),
    ("gpipe_order", "the newest first both ways"): (
        ("in range(microbatches)]", "in range(microbatches)[::-1]]"),
    ),
    ("gpipe_order", "a text for each rank"): (
        ("orders.append(order)", 'orders.append(" ".join(order))'),
    ),
    ("gpipe_order", "tuples"): (
        ("orders.append(order)", "orders.append(tuple(order))"),
        ("return orders", "return tuple(orders)"),
    ),
    ("one_f_one_b", "a forward pass first in each turn"): (
        ("warm = min(ranks - rank, microbatches)", "warm = min(ranks - rank - 1, microbatches)"),
        (
            (
                '            order.append(f"{rank}B{each}")\n'
                "            if warm + each < microbatches:\n"
                '                order.append(f"{rank}F{warm + each}")\n'
            ),
            (
                "            if warm + each < microbatches:\n"
                '                order.append(f"{rank}F{warm + each}")\n'
                '            order.append(f"{rank}B{each}")\n'
            ),
        ),
    ),
    ("one_f_one_b", "the last microbatch first"): (
        ("{each}", "{microbatches - 1 - each}"),
        ("{warm + each}", "{microbatches - 1 - warm - each}"),
    ),
    ("interleaved", "half the cushion"): (("warm = 2 * (", "warm = ("),),
    ("interleaved", "the last microbatch first"): (
        ("{first + each}", "{microbatches - 1 - first - each}"),
    ),
    ("breadth_first", "the newest first on the way back"): (
        (
            'B{each}" for each in range(microbatches)',
            'B{each}" for each in range(microbatches)[::-1]',
        ),
    ),
    ("breadth_first", "a text with commas for each rank"): (
        ("orders.append(order)", 'orders.append(",".join(order))'),
    ),
    ("balance", "dynamic programming"): DYNAMIC,
    ("balance", "filled from the end"): FROM_THE_END,
    ("balance", "limits one after the other"): (
        (
            "    while low < high:\n        middle = (low + high) // 2\n",
            (
                "    while len(cut(low)) > ranks:\n        low += 1\n    high = low\n"
                "    while low < high:\n        middle = low\n"
            ),
        ),
    ),
    ("balance", "an array"): (
        ("return sizes\n    # end answer", "import numpy\n    return numpy.array(sizes)"),
    ),
    ("in_flight", "looks after forward passes alone"): (
        (
            "            peak = max(peak, held)",
            '            if kind == "F":\n                peak = max(peak, held)',
        ),
    ),
    ("in_flight", "a running sum"): (
        ("held = peak = 0", "held = peak = 0\n        sums = [0]"),
        ("peak = max(peak, held)", "sums.append(held)"),
        ("peaks.append(peak)", "peaks.append(max(sums))"),
    ),
    ("stash_bug", "numbers for versions, and copies"): (
        ("stash = [], [], {}", "stash = [], [], {}\n    now = 0"),
        ("stash[each] = weight", "stash[each] = (now, weight.copy())"),
        ("used = stash.pop(each)", "used = stash.pop(each)[1]\n            now += 1"),
        ("{id(weight), *map(id, stash.values())}", "{now, *(n for n, _ in stash.values())}"),
    ),
}

LAZY: dict[tuple[str, str], Changes] = {
    ("gpipe_order", "each rank begins its way back elsewhere"): (
        ('B{each}"', 'B{(each + rank) % microbatches}"'),
    ),
    ("one_f_one_b", "one more on each rank but the last"): (
        ("min(ranks - rank, microbatches)", "min(ranks - rank + (rank < ranks - 1), microbatches)"),
    ),
    ("one_f_one_b", "fill and drain"): (("min(ranks - rank, microbatches)", "microbatches"),),
    ("one_f_one_b", "one microbatch after the other"): (("min(ranks - rank, microbatches)", "1"),),
    ("interleaved", "one forward pass more first"): (
        ("+ (chunks - 1) * ranks\n", "+ (chunks - 1) * ranks + 1\n"),
    ),
    ("breadth_first", "first half of the microbatches, then the other"): (
        (
            '            order += [f"{stage}F{each}" for each in range(microbatches)]\n',
            (
                '            order += [f"{stage}F{each}" for each in range(microbatches // 2)]\n'
                "        for stage in stages:\n"
                "            half = range(microbatches // 2, microbatches)\n"
                '            order += [f"{stage}F{each}" for each in half]\n'
            ),
        ),
    ),
}

CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
    ("gpipe_order", "one order too many"): (
        "wrong-form",
        (("return orders", "return [*orders, []]"),),
    ),
    ("gpipe_order", "numbers and letters apart"): (
        "wrong-form",
        (('f"{rank}F{each}"', '(rank, "F", each)'),),
    ),
    ("gpipe_order", "a number with a point"): (
        "wrong-form",
        (('f"{rank}F{each}"', 'f"{rank}F{each / 1}"'),),
    ),
    ("gpipe_order", "thousands of digits"): (
        "wrong-form",
        (('f"{rank}F{each}"', 'f"{rank}F{each}" + "0" * 6000'),),
    ),
    ("gpipe_order", "an endless order"): (
        "too-long",
        (("orders.append(order)", "orders.append(order * 500)"),),
    ),
    ("gpipe_order", "an endless text"): (
        "too-long",
        (("orders.append(order)", 'orders.append(" ".join(order * 500))'),),
    ),
    ("gpipe_order", "nothing"): ("wrong-form", (("return orders", "return None"),)),
    ("gpipe_order", "orders of nothing"): (
        "missing",
        (("orders.append(order)", "orders.append([])"),),
    ),
    ("gpipe_order", "as many microbatches as ranks"): (
        "missing",
        (("in range(microbatches)]", "in range(min(ranks, microbatches))]"),),
    ),
    ("one_f_one_b", "no minimum"): (
        "unknown",
        (("min(ranks - rank, microbatches)", "ranks - rank"),),
    ),
    ("interleaved", "no minimum"): (
        "missing",
        (
            ("        warm = min(warm, len(forward))\n", ""),
            ("backward[len(forward) - warm :]", "backward[max(1, len(forward) - warm) :]"),
        ),
    ),
    ("interleaved", "half as much again of the cushion"): (
        "deadlock",
        (("warm = 2 * (ranks - rank - 1)", "warm = 3 * (ranks - rank - 1)"),),
    ),
    ("interleaved", "one forward pass less than it takes"): (
        "slow",
        (("warm = 2 * (ranks - rank - 1)", "warm = max(0, ranks - rank - 2)"),),
    ),
    ("breadth_first", "a hole in the middle"): (
        "missing",
        (
            (
                "orders.append(order)",
                "orders.append(order[: len(order) // 2] + order[len(order) // 2 + 1 :])",
            ),
        ),
    ),
    ("balance", "layers move one by one while that helps"): ("wrong-result", ONE_BY_ONE),
    ("balance", "blocks whose sums differ by less than a layer"): ("wrong-result", BLOCKS),
    ("balance", "a search that stops too early"): (
        "wrong-result",
        (("while low < high:", "while low < high - 1:"), ("sizes = cut(low)", "sizes = cut(high)")),
    ),
    ("balance", "parts of layers"): (
        "wrong-form",
        (("return sizes\n    # end answer", "return [float(each) for each in sizes]"),),
    ),
    ("balance", "huge numbers that cancel out"): (
        "empty-stage",
        (
            (
                "return sizes\n    # end answer",
                "return [sizes[0] + 10**15, *sizes[1:-1], sizes[-1] - 10**15]",
            ),
        ),
    ),
    ("balance", "None where there is no cut"): ("wrong-form", (("return []", "return None"),)),
    ("in_flight", "the first digit is the stage"): (
        "wrong-result",
        (("int(action.partition(kind)[0])", "int(action[0])"),),
    ),
    ("in_flight", "what W gives back comes at once"): (
        "all-at-once",
        (
            ("kept[stage] - activations[stage]", "-activations[stage]"),
            ('"W": -kept[stage]', '"W": 0'),
        ),
    ),
    ("in_flight", "the peak of an empty order is none"): (
        "wrong-result",
        (("held = peak = 0", "held, peak = 0, 0 if order else None"),),
    ),
    ("in_flight", "the peaks of stages added up"): (
        "wrong-result",
        (
            ("held = peak = 0", "held, peak = {}, {}"),
            ("held += {", "held[stage] = held.get(stage, 0) + {"),
            ("peak = max(peak, held)", "peak[stage] = max(peak.get(stage, 0), held[stage])"),
            ("peaks.append(peak)", "peaks.append(sum(peak.values()))"),
        ),
    ),
    ("stash_bug", "versions put aside in float32"): (
        "wrong-result",
        (("stash[each] = weight", 'stash[each] = weight.astype("float32")'),),
    ),
    ("stash_bug", "the newest is not counted"): (
        "wrong-result",
        (("{id(weight), *map(id, stash.values())}", "{*map(id, stash.values())}"),),
    ),
    ("stash_bug", "steps in the array that was given"): (
        "input-changed",
        (("weight = weight - rate * step", "weight -= rate * step"),),
    ),
}
