"""Answers to lesson 09 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

RIGHT: dict[tuple[str, str], Changes] = {
    ("self_time", "moment by moment"): (
        (
            "    own = {}\n    open_now = {}\n",
            (
                "    own = {name: 0 for _, name, _, _ in events}\n"
                "    for tid in {row[0] for row in events}:\n"
                "        listed = enumerate(events)\n"
                "        rows = [(ts, -dur, k, name) for k, (t, name, ts, dur) in listed "
                "if t == tid]\n"
                "        cuts = sorted({ts for ts, *_ in rows} | {ts - d for ts, d, *_ in rows})\n"
                "        for a, b in zip(cuts, cuts[1:]):\n"
                "            over = [r for r in rows if r[0] <= a and b <= r[0] - r[1]]\n"
                "            if over:\n"
                "                own[max(over)[3]] += b - a\n"
                "    return own\n    open_now = {}\n"
            ),
        ),
    ),
    ("overlap_fraction", "a sweep with two counters"): (
        (
            '    def length(spans):\n        total, until = 0, float("-inf")\n',
            (
                "    cuts = []\n"
                "    for kind, s, e in events:\n"
                '        cuts += [(s, kind != "compute", 1), (e, kind != "compute", -1)]\n'
                "    now, at, moved, hidden = [0, 0], 0, 0, 0\n"
                "    for when, which, step in sorted(cuts):\n"
                "        if now[1]:\n"
                "            moved += when - at\n"
                "            hidden += (when - at) * bool(now[0])\n"
                "        now[which] += step\n"
                "        at = when\n"
                "    return hidden / moved if moved else None\n\n"
                '    def length(spans):\n        total, until = 0, float("-inf")\n'
            ),
        ),
    ),
    ("launch_gap", "the idle time first, then what waits in it"): (
        (
            "    return uncovered(running), uncovered(running + waiting)\n",
            (
                "    cuts = sorted({at for row in kernels for at in row if at >= first})\n"
                "    idle = bound = 0\n"
                "    for a, b in zip(cuts, cuts[1:]):\n"
                "        if not any(s <= a and b <= e for s, e in running):\n"
                "            idle += b - a\n"
                "            bound += (b - a) * (not any(s <= a and b <= e for s, e in waiting))\n"
                "    return idle, bound\n"
            ),
        ),
    ),
    ("find_the_bottleneck", "other thresholds between the same counts"): (
        ("len(loading) >= 20", "len(loading) > 30"),
        ("max(alike.values()) > 40", "max(alike.values()) > 60"),
        ('counts["aten::_to_copy"] > 4', 'counts["aten::_to_copy"] >= 7'),
        ('counts["aten::contiguous"] > 1', 'counts["aten::contiguous"] > 3'),
    ),
    ("find_the_bottleneck", "the last step instead of the first"): (
        ('inside("ProfilerStep#")[:1]', 'inside("ProfilerStep#")[-1:]'),
    ),
    ("who_waits", "the work of a stream in order"): (
        (
            "        for name, _, lane, _, began, ended in asked:\n",
            "        for name, _, lane, _, began, ended in sorted(asked, key=lambda e: e[4]):\n",
        ),
    ),
}
CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
    ("self_time", "what touches at the end is inside"): (
        "wrong-result",
        (("while stack and ts + dur > stack[-1][1]:", "while stack and ts > stack[-1][1]:"),),
    ),
    ("self_time", "seconds as floats"): (
        "wrong-result",
        (
            (
                "    return own\n",
                "    return {name: took + 0.5 for name, took in own.items()}\n",
            ),
        ),
    ),
    ("overlap_fraction", "rounded to three digits"): (
        "wrong-result",
        (("return both / length(moving)", "return round(both / length(moving), 3)"),),
    ),
    ("launch_gap", "the last end only of the last to start"): (
        "wrong-result",
        (("until = max(until, end)", "until = end"),),
    ),
    ("who_waits", "every sync is one of the whole device"): (
        "wrong-result",
        (("if stream is not None:", "if False:"),),
    ),
    ("find_the_bottleneck", "no fault but the one of the example"): (
        "wrong-result",
        (("    counts = Counter", '    return "item"\n    counts = Counter'),),
    ),
}
