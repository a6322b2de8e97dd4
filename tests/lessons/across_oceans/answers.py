"""Answers to lesson 33 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

_FEWEST = "    fewest = math.ceil(goal * meeting_s / (step_s * (1 - goal)))\n"

RIGHT: dict[tuple[str, str], Changes] = {
    ("bytes_saved", "h by looking for it"): (
        (
            _FEWEST,
            (
                "    low, high = 0, 1\n"
                "    enough = lambda h: h * step_s >= goal * (h * step_s + meeting_s)\n"
                "    while not enough(high):\n"
                "        low, high = high, 2 * high\n"
                "    while high - low > 1:\n"
                "        middle = (low + high) // 2\n"
                "        low, high = (low, middle) if enough(middle) else (middle, high)\n"
                "    fewest = high\n"
            ),
        ),
    ),
    ("bytes_saved", "blocks by rounding up in whole numbers, as a list"): (
        ("math.ceil(parameters / block)", "(parameters + block - 1) // block"),
        ("return dp, sent / h, max(1, fewest)", "return [dp, sent / h, max(1, fewest)]"),
    ),
    ("model_size_overhead", "by looking for it in the loss itself"): (
        (
            (
                '    ratio = alpha * law["A"] / (beta * law["B"])\n'
                "    best_n = (ratio * (flop / 6) ** beta) ** (1 / (alpha + beta))\n"
            ),
            (
                "    def loss(log_n):\n"
                "        n = math.exp(log_n)\n"
                "        d = flop / 6 / n\n"
                '        return law["A"] / n**alpha + law["B"] / d**beta\n'
                "\n"
                "    low, high = 0.0, math.log(flop / 6)\n"
                "    for _ in range(120):\n"
                "        third = (high - low) / 3\n"
                "        if loss(low + third) < loss(high - third):\n"
                "            high -= third\n"
                "        else:\n"
                "            low += third\n"
                "    best_n = math.exp((low + high) / 2)\n"
            ),
        ),
    ),
    ("model_size_overhead", "as a dict"): (
        (
            "    return k_n * best_n, k_d * best_d, k_n * k_d - 1\n",
            (
                "    n, d = k_n * best_n, k_d * best_d\n"
                "    over = 6 * n * d / flop - 1\n"
                '    return {"parameters": n, "tokens": d, "overhead": over}\n'
            ),
        ),
    ),
    ("attention_share", "pairs one by one"): (
        (
            "        pairs = 2 * queries * (sequence + 1)\n",
            (
                "        met = sum(t + 1 for t in range(sequence))\n"
                "        pairs = 4 * queries * met / sequence\n"
            ),
        ),
    ),
    ("run_cost", "all corners"): (
        (
            (
                "    hours = []\n"
                "    for side in (1, 0):\n"
                "        rate = peak * mfu[side] * goodput[side]\n"
                "        hours.append(measured + flop / rate / 3600)\n"
            ),
            (
                "    corners = [\n"
                "        measured + flop / (peak * m * g) / 3600 for m in mfu for g in goodput\n"
                "    ]\n"
                "    hours = (min(corners), max(corners))\n"
            ),
        ),
    ),
}
"""Unusual, and right."""

CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
    ("bytes_saved", "an h that is a float"): (
        "wrong-type",
        (("max(1, fewest)", "max(1.0, float(fewest))"),),
    ),
    ("bytes_saved", "an h that nobody rounded"): (
        "wrong-type",
        (("math.ceil(goal * meeting_s / (step_s * (1 - goal)))", "goal * meeting_s / step_s"),),
    ),
    ("bytes_saved", "whole bytes"): (
        "wrong-result",
        (("return dp, sent / h,", "return dp, sent // h,"),),
    ),
    ("bytes_saved", "1,000 h and one formula"): (
        "wrong-result",
        (("max(1, fewest)", "1000"),),
    ),
    ("model_size_overhead", "a power of a negative number"): (
        "not-refused",
        (
            (
                (
                    "    if left <= 0:\n"
                    '        raise ValueError(f"{given} times the best is too little")\n'
                ),
                "",
            ),
        ),
    ),
    ("model_size_overhead", "a table of three sizes"): (
        "wrong-result",
        (("    found = left ** (-1 / other)\n", "    found = {0.5: 2.416}.get(given, 3.0)\n"),),
    ),
    ("attention_share", "s / 6h"): (
        "six-h",
        (
            (
                "    return pairs / (pairs + 2 * weights), crossover\n",
                "    return sequence / (sequence + 6 * hidden), 6 * hidden\n",
            ),
        ),
    ),
    ("attention_share", "a crossover that nobody rounded"): (
        "wrong-type",
        (("crossover = -(-weights // queries) - 1", "crossover = weights / queries - 1"),),
    ),
    ("run_cost", "hours times two dollars"): (
        "wrong-result",
        (("hours[n] * price[n]", "2 * hours[n]"),),
    ),
    ("run_cost", "one number each"): (
        "wrong-result",
        (
            (
                "    return hours, days, kwh, dollars\n",
                "    return hours[0], days[0], kwh[0], dollars[0]\n",
            ),
        ),
    ),
    ("run_cost", "rounded to whole dollars"): (
        "wrong-result",
        (("hours[n] * price[n]", "round(hours[n] * price[n])"),),
    ),
}
"""The lazy and the blunt: refused."""
