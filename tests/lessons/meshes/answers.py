"""Answers to lesson 29 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

_COORDS = """    place, left = {}, rank
    for axis in order:
        left, place[axis] = divmod(left, sizes.get(axis, 1))
    if left:
        raise ValueError(f"there is no rank {rank}")
    return place
"""
_GROUPS = """    found, stride = [[0]], 1
    for axis in order:
        steps = [stride * place for place in range(sizes.get(axis, 1))]
        if axis in axes:
            found = [[r + step for step in steps for r in group] for group in found]
        else:
            found = [[r + step for r in group] for step in steps for group in found]
        stride *= len(steps)
    return found
"""

RIGHT: dict[tuple[str, str], Changes] = {
    ("coords", "by NumPy"): (
        (
            _COORDS,
            (
                "    import numpy as np\n"
                "    shape = [sizes.get(axis, 1) for axis in order]\n"
                '    places = np.unravel_index(rank, shape, order="F")\n'
                "    return {a: int(p) for a, p in zip(order, places)}\n"
            ),
        ),
    ),
    ("coords", "by strides"): (
        (
            _COORDS,
            (
                "    place, stride = {}, 1\n"
                "    for axis in order:\n"
                "        size = sizes.get(axis, 1)\n"
                "        place[axis] = rank // stride % size\n"
                "        stride *= size\n"
                "    if rank not in range(stride):\n"
                "        raise ValueError(rank)\n"
                "    return place\n"
            ),
        ),
    ),
    ("groups", "as rows of an array, the last one first"): (
        (
            _GROUPS,
            (
                "    import numpy as np\n"
                "    names = list(reversed(order))\n"
                "    shape = [sizes.get(axis, 1) for axis in names]\n"
                "    ranks = np.arange(int(np.prod(shape))).reshape(shape)\n"
                "    kept = [n for n, axis in enumerate(names) if axis not in axes]\n"
                "    moved = [n for n, axis in enumerate(names) if axis in axes]\n"
                "    size = int(np.prod([shape[n] for n in moved]))\n"
                "    return ranks.transpose(kept + moved).reshape(-1, size)[::-1]\n"
            ),
        ),
    ),
    ("groups", "tuples from a dict of places"): (
        (
            _GROUPS,
            (
                "    found, ranks = {}, 1\n"
                "    for axis in order:\n"
                "        ranks *= sizes.get(axis, 1)\n"
                "    for rank in range(ranks):\n"
                "        left, key = rank, []\n"
                "        for axis in order:\n"
                "            left, at = divmod(left, sizes.get(axis, 1))\n"
                "            key.append(0 if axis in axes else at)\n"
                "        found.setdefault(tuple(key), []).append(rank)\n"
                "    return tuple(map(tuple, found.values()))\n"
            ),
        ),
    ),
    ("placement", "the last of the best orders"): (
        (
            "return list(min(itertools.permutations(sizes), key=slow))",
            "return min(reversed(list(itertools.permutations(sizes))), key=slow)",
        ),
    ),
    ("placement", "a ring the other way round"): (
        ("goes_to = [(place + 1) % size]", "goes_to = [(place - 1) % size]"),
    ),
}
"""Unusual, and right."""

CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
    ("coords", "an error of another kind"): (
        "exception",
        (('raise ValueError(f"there is no rank {rank}")', "raise IndexError(rank)"),),
    ),
    ("coords", "a rank below 0 counted from the end"): (
        "not-refused",
        (("    if left:\n", "    if left > 0:\n"),),
    ),
    ("coords", "places as strings"): (
        "wrong-result",
        (("    return place\n", "    return {a: str(p) for a, p in place.items()}\n"),),
    ),
    ("groups", "a rank for each group that has none"): (
        "doubled",
        (("    return found\n", "    return [*found, [0]]\n"),),
    ),
    ("groups", "a group without a rank"): (
        "empty-group",
        (("    return found\n", "    return [*found, []]\n"),),
    ),
    ("groups", "falling ranks"): (
        "not-rising",
        (("    return found\n", "    return [group[::-1] for group in found]\n"),),
    ),
    ("groups", "sets"): (
        "wrong-result",
        (("    return found\n", "    return [set(group) for group in found]\n"),),
    ),
    ("groups", "not a number for a rank"): (
        "wrong-form",
        (("    return found\n", '    return [*found, [float("nan")]]\n'),),
    ),
    ("placement", "an order of what sends something"): (
        "not-all-axes",
        (
            (
                "return list(min(itertools.permutations(sizes), key=slow))",
                "return [a for a in min(itertools.permutations(sizes), key=slow) if traffic[a][1]]",
            ),
        ),
    ),
    ("placement", "the axes as they come"): (
        "wrong-result",
        (("return list(min(itertools.permutations(sizes), key=slow))", "return list(sizes)"),),
    ),
    ("placement", "bytes as fractions"): (
        "wrong-result",
        (("return tuple(found)", "return tuple(float(each) / 3 * 3 + 0.25 for each in found)"),),
    ),
}
"""Refused, with this reason or diagnosis."""
