"""Answers to lesson 32 that come close or are rarely given."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes


def _first(*lines: str) -> Changes:
    """Lines that run before all of the solution's own."""
    return (("    # answer\n", "    # answer\n" + "".join(f"    {line}\n" for line in lines)),)


RIGHT: dict[tuple[str, str], Changes] = {
    ("optimal_interval", "the share from the time that a segment takes"): (
        (
            "    kept = math.exp(-(recover_s + segment_s) / mtbf_s)\n",
            (
                "    if (recover_s + segment_s) / mtbf_s > 700:\n"
                "        return young_s, daly_s, 0.0\n"
                "    took_s = mtbf_s * math.exp(recover_s / mtbf_s)\n"
                "    took_s *= math.expm1(segment_s / mtbf_s)\n"
                "    return young_s, daly_s, daly_s / took_s\n"
                "    kept = 0\n"
            ),
        ),
    ),
    ("optimal_interval", "numbers of NumPy"): (
        ("import math\n", "import math\n\nimport numpy as np\n"),
        ("return young_s, daly_s, useful", "return tuple(np.array([young_s, daly_s, useful]))"),
    ),
    ("goodput", "second by second"): _first(
        "spent = dict.fromkeys(('useful', 'writing', 'lost', 'down'), 0)",
        "kept, at_save, until, since = 0, 0, None, 0",
        "trained, ready, down, waiting = 0, spares, None, False",
        "moments, back = {t: failures.count(t) for t in failures}, {}",
        "for now in range(end):",
        "    if until == now:",
        "        kept, until = at_save, None",
        "        since = 0 if blocking else since",
        "    ready += back.get(now, 0)",
        "    if now in moments:",
        "        spent['lost'] += trained - kept",
        "        trained, until, since, waiting, down = kept, None, 0, True, None",
        "        ready -= moments[now]",
        "        back[now + repair] = back.get(now + repair, 0) + moments[now]",
        "    if waiting and ready >= 0:",
        "        waiting, down = False, now + recover",
        "    if down == now:",
        "        down = None",
        "    if waiting or down is not None:",
        "        spent['down'] += 1",
        "        continue",
        "    if since == interval and until is None:",
        "        at_save, until = trained, now + write",
        "    if since == interval and not blocking:",
        "        since = 0",
        "    if blocking and until is not None:",
        "        spent['writing'] += 1",
        "    else:",
        "        trained, since = trained + 1, since + 1",
        "return spent | {'useful': trained}",
    ),
    ("parse_log", "a dict from iteration to record"): (
        ("    records, lost, restarts = [], [], 0\n", "    kept, lost, restarts = {}, [], 0\n"),
        (
            (
                "            lost += [each for each in records if each[0] > at]\n"
                "            records = [each for each in records if each[0] <= at]\n"
            ),
            "            lost += [kept.pop(n) for n in list(kept) if n > at]\n",
        ),
        (
            "            records.append((int(record[1]), loss, took, rate))\n",
            "            kept[int(record[1])] = (int(record[1]), loss, took, rate)\n",
        ),
        ('"records": records,', '"records": list(kept.values()),'),
    ),
    ("parse_log", "records as lists"): (
        ('"records": records,', '"records": [list(each) for each in records],'),
    ),
    ("find_the_spike", "medians of NumPy"): (
        ("from statistics import median\n", "\nimport numpy as np\n"),
        (
            "    spikes, before = [], []\n",
            (
                "    def median(values):\n"
                "        return np.median(list(values))\n\n"
                "    spikes, before = [], []\n"
            ),
        ),
    ),
    ("find_the_spike", "tuples, and a step of NumPy"): (
        (
            'return {"spikes": spikes, "slower": slower}',
            'return {"slower": slower, "spikes": tuple(spikes)}',
        ),
    ),
    ("find_the_faulty_rank", "the middle value instead of a vote"): (
        (
            (
                "        votes = [sum(same(a, b) for b in values) for a in values]\n"
                "        most = values[np.argmax(votes)]\n"
            ),
            "        most = np.sort(values)[len(values) // 2]\n",
        ),
    ),
    ("find_the_faulty_rank", "who comes late, by how far all are apart"): (
        (
            "    waits = left - arrived\n",
            "    came = arrived - left\n",
        ),
        (
            (
                "    middle = np.median(waits, axis=1, keepdims=True)\n"
                "    times_late = np.sum(middle - waits >= least, axis=0)\n"
            ),
            (
                "    waits = came - np.median(came, axis=1, keepdims=True)\n"
                "    times_late = (waits >= least).sum(0)\n"
            ),
        ),
    ),
}
"""Unusual, and right."""

CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
    ("optimal_interval", "to three digits"): (
        "wrong-result",
        (
            (
                "return young_s, daly_s, useful",
                "return tuple(round(each, 3) for each in (young_s, daly_s, useful))",
            ),
        ),
    ),
    ("optimal_interval", "the numbers of the example"): (
        "wrong-result",
        _first("return 1858.9986, 1818.5, 0.9271"),
    ),
    ("goodput", "the useful share alone"): (
        "wrong-form",
        (("    return spent\n", "    return spent['useful'] / end\n"),),
    ),
    ("goodput", "all but the useful in one"): (
        "wrong-form",
        (("    return spent\n", "    spent['down'] += spent.pop('lost')\n    return spent\n"),),
    ),
    ("goodput", "not a number"): (
        "does-not-add-up",
        (("    return spent\n", "    return spent | {'lost': float('nan')}\n"),),
    ),
    ("parse_log", "the newest log comes first"): (
        "wrong-result",
        (('"records": records,', '"records": records[::-1],'),),
    ),
    ("parse_log", "what is saved is loaded"): (
        "wrong-result",
        (('r"loaded checkpoint .* (\\d+)$"', 'r"checkpoint .*iteration (\\d+)"'),),
    ),
    ("parse_log", "the records alone"): (
        "wrong-form",
        (("    return {\n", "    return records\n    return {\n"),),
    ),
    ("find_the_spike", "the largest loss"): (
        "wrong-result",
        (
            (
                'return {"spikes": spikes,',
                (
                    "at = losses.index(max(losses)) if losses else 0\n"
                    '    return {"spikes": [(at, at)],'
                ),
            ),
        ),
    ),
    ("find_the_spike", "nothing is ever wrong"): (
        "wrong-result",
        (('"spikes": spikes, "slower": slower', '"spikes": [], "slower": None'),),
    ),
    ("find_the_spike", "the first steps alone"): (
        "wrong-result",
        (('"spikes": spikes,', '"spikes": [first for first, _ in spikes],'),),
    ),
    ("find_the_spike", "the spikes alone"): (
        "wrong-form",
        (("    return {", "    return spikes\n    return {"),),
    ),
    ("find_the_faulty_rank", "no alarm ever"): (
        "wrong-result",
        (('"slow": slow, "corrupt": corrupt', '"slow": [], "corrupt": []'),),
    ),
    ("find_the_faulty_rank", "the first rank of most votes is right"): (
        "wrong-result",
        (
            (
                "for step, values in enumerate(result):",
                "for step, values in enumerate(result[:12]):",
            ),
        ),
    ),
    ("find_the_faulty_rank", "ranks without their steps"): (
        "wrong-result",
        (('"corrupt": corrupt', '"corrupt": [rank for _, rank in corrupt]'),),
    ),
    ("find_the_faulty_rank", "two lists"): (
        "wrong-form",
        (('return {"slow": slow, "corrupt": corrupt}', "return slow, corrupt"),),
    ),
}
"""Refused, with this reason or diagnosis."""
