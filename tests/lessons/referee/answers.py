"""Answers to lesson 31 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

_SEARCH = """        ends = [allowed(rule, cell, known) for rule in rules if cell in cells(rule)]
        half = (known[cell][1] - known[cell][0]) / 2
        low = max(0.0, max(end for end, _ in ends) - half)
        high = min(end for _, end in ends) + half
"""

RIGHT: dict[tuple[str, str], Changes] = {
    ("dimensions", "an error where nothing fits"): (
        ("def dimensions(formula, units):\n", "def of(formula, units):\n"),
        ("    one = dimensions(left, units)\n", "    one = of(left, units)\n"),
        ("    two = dimensions(right, units)\n", "    two = of(right, units)\n"),
        (
            "    return None if both else one\n",
            (
                "    if both:\n"
                "        raise ValueError(operation)\n"
                "    return one\n"
                "\n\n"
                "def dimensions(formula, units):\n"
                "    try:\n"
                "        return of(formula, units)\n"
                "    except ValueError:\n"
                "        return None\n"
            ),
        ),
    ),
    ("relabel", "turned round, to the number of parameters"): (
        (
            (
                '            each = flop(shape, run["pp"], sequence)\n'
                '            mfu = 100 * each * run["tokens_per_s"] / 989.5e12\n'
                '            if abs(mfu - float(run["mfu"])) <= 0.1:\n'
            ),
            (
                '            own = flop(shape, run["pp"], sequence) * run["tokens_per_s"]\n'
                '            low, high = (float(run["mfu"]) + d for d in (-0.1, 0.1))\n'
                "            if low * 9.895e12 <= own <= high * 9.895e12:\n"
            ),
        ),
    ),
    ("find_the_slip", "by halving, without algebra"): (
        (
            _SEARCH,
            (
                "        mine = [rule for rule in rules if cell in cells(rule)]\n"
                "        low, high = 0.0, math.inf\n"
                "        for rule in mine:\n"
                "            least, most = between(rule, cell, known)\n"
                "            low, high = max(low, least), min(high, most)\n"
                "        half = (known[cell][1] - known[cell][0]) / 2\n"
                "        low, high = max(0.0, low - half), high + half\n"
            ),
        ),
        (
            "def find_the_slip(printed, rules):\n",
            (
                "def between(rule, cell, known):\n"
                "    if cell == rule[0]:\n"
                "        return sum_of(rule, known)\n"
                "    grows = any(p.get(cell) == 1 for _, p in rule[1])\n"
                "    def side(x):\n"
                "        low, high = sum_of(rule, known | {cell: (x, x)})\n"
                "        least, most = known[rule[0]]\n"
                "        return -1 if high < least else 1 if low > most else 0\n"
                "    def edge(wanted):\n"
                "        a, b = 1e-15, 1e15\n"
                "        for _ in range(200):\n"
                "            x = math.sqrt(a * b)\n"
                "            s = side(x) if grows else -side(x)\n"
                "            a, b = (x, b) if s < wanted else (a, x)\n"
                "        return b if wanted == 0 else a\n"
                "    low, high = edge(0), edge(1)\n"
                "    if side(low) and side(high):\n"
                "        return math.inf, 0.0\n"
                "    return low, math.inf if high > 9e14 else high\n"
                "\n\n"
                "def find_the_slip(printed, rules):\n"
            ),
        ),
    ),
}
"""Unusual, and right."""

CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
    ("dimensions", "an empty unit for what is unsound"): (
        "unsound-passed",
        (("    return None if both else one\n", "    return {} if both else one\n"),),
    ),
    ("dimensions", "None as a word"): (
        "unsound-passed",
        (("    return None if both else one\n", '    return "None" if both else one\n'),),
    ),
    ("find_the_slip", "not a number"): (
        "value",
        (("            found[cell] = value\n", '            found[cell] = float("nan")\n'),),
    ),
    ("find_the_slip", "what was printed"): (
        "value",
        (("            found[cell] = value\n", "            found[cell] = float(text)\n"),),
    ),
    ("find_the_slip", "a cell that is none"): (
        "form",
        (("            found[cell] = value\n", '            found[cell + "!"] = value\n'),),
    ),
    ("relabel", "the names sorted the other way round"): (
        "order",
        (("        found.append(fitting)\n", "        found.append(fitting[::-1])\n"),),
    ),
    ("relabel", "half a tenth"): (
        "wrong-result",
        (("<= 0.1:\n", "<= 0.05:\n"),),
    ),
}
"""Refused, with this reason or diagnosis."""
