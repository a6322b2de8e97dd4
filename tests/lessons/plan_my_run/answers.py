"""Answers to lesson 30 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

_SORTED = "    return sorted(pairs, key=lambda pair: pair[1])\n"
_FLOOR = "        return max(computing, *sent)\n"
_STATES = '    replicas_of = ((dense, layout["dp"]), (experts, layout["dp"] // ep))\n'

RIGHT: dict[tuple[str, str], Changes] = {
    ("search", "ordered by a guess, skipped by floors"): (
        (
            _SORTED,
            (
                "    def guess(pair):\n"
                '        return sum(layouts[pair[0]]["seconds"].values())\n\n'
                "    return sorted(pairs, key=guess)\n"
            ),
        ),
    ),
    ("search", "floors that give up the last half percent"): (
        (_FLOOR, "        return 1.005 * max(computing, *sent)\n"),
    ),
    ("search", "an array of pairs"): (
        (
            _SORTED,
            (
                "    import numpy as np\n"
                "    pairs.sort(key=lambda pair: pair[1])\n"
                "    return np.array(pairs).reshape(-1, 2)\n"
            ),
        ),
    ),
    ("search", "families of one tp, the best family first"): (
        (
            _SORTED,
            (
                "    families = {}\n"
                "    for pair in sorted(pairs, key=lambda pair: pair[1]):\n"
                '        families.setdefault(layouts[pair[0]]["tp"], []).append(pair)\n'
                "    found = []\n"
                "    while any(families.values()):\n"
                "        left = [each for each in families.values() if each]\n"
                "        found.append(min(left, key=lambda each: each[0][1]).pop(0))\n"
                "    return found\n"
            ),
        ),
    ),
    ("predict_memory", "an array"): (
        (
            "    return [\n        state_bytes(",
            "    import numpy\n    return numpy.array([\n        state_bytes(",
        ),
        (
            "        for stage in range(len(stages))\n    ]\n",
            "        for stage in range(len(stages))\n    ])\n",
        ),
    ),
}
"""Unusual, and right."""

CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
    ("predict_memory", "the sum of all stages"): (
        "not-a-list",
        (
            ("    return [\n        state_bytes(", "    return sum([\n        state_bytes("),
            (
                "        for stage in range(len(stages))\n    ]\n",
                "        for stage in range(len(stages))\n    ])\n",
            ),
        ),
    ),
    ("predict_memory", "an error of another kind"): (
        "exception",
        (('raise ValueError("the stages are not the layers")', "raise KeyError(stages)"),),
    ),
    ("predict_step_time", "without the sum"): (
        "not-the-names",
        (('    found["step"] = sum(found.values())\n', ""),),
    ),
    ("search", "the best floor twice"): ("twice", ((_SORTED, "    return pairs + pairs[:1]\n"),)),
    ("search", "no floor is a number"): (
        "wrong-form",
        ((_FLOOR, '        return float("nan")\n'),),
    ),
    ("search", "every floor is endless"): (
        "no-floor",
        ((_FLOOR, '        return float("inf")\n'),),
    ),
    ("search", "numbers from 1"): (
        "left-out",
        (("        (number, floor(layout))\n", "        (number + 1, floor(layout))\n"),),
    ),
    ("search", "floors in milliseconds"): (
        "no-floor",
        ((_FLOOR, "        return 1000 * max(computing, *sent)\n"),),
    ),
    ("search", "one run, of the layout that takes most memory"): (
        "left-out",
        (
            (
                _SORTED,
                '    return sorted(pairs, key=lambda p: -layouts[p[0]]["memory_bytes"])[:1]\n',
            ),
        ),
    ),
    ("search", "no layout at all"): ("left-out", ((_SORTED, "    return []\n"),)),
}
"""Refused, with this reason or diagnosis."""
