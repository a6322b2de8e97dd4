"""Wrong answers to find_the_slip that people give."""

import math


def span(cell):
    if isinstance(cell, int):
        return cell, cell
    half = 0.5 * 10.0 ** -len(cell.partition(".")[2])
    return float(cell) - half, float(cell) + half


def sum_of(rule, known, within=None):
    _, terms, off = rule
    off = off if within is None else within
    least = most = 0.0
    for factor, powers in terms:
        low = high = factor
        for cell, power in powers.items():
            small, large = known[cell]
            low *= small if power > 0 else 1 / large
            high *= large if power > 0 else 1 / small
        least, most = least + low, most + high
    return (1 - off) * least, (1 + off) * most


def meet(one, other):
    hair = 1 + 1e-12
    return one[0] <= other[1] * hair and other[0] <= one[1] * hair


def allowed(rule, cell, known, within=None):
    total, terms, _ = rule
    if cell == total:
        return sum_of(rule, known, within)
    power = next((p[cell] for _, p in terms if cell in p), None)
    if power is None:
        kept = meet(sum_of(rule, known, within), known[total])
        return (0.0, math.inf) if kept else (math.inf, 0.0)
    nothing = 1e-300 if power > 0 else 1e300
    rest = sum_of(rule, known | {cell: (nothing, nothing)}, within)
    one = sum_of(rule, known | {cell: (1, 1)}, within)
    low = (known[total][0] - rest[1]) / (one[1] - rest[1])
    high = (known[total][1] - rest[0]) / (one[0] - rest[0])
    if power > 0 or high <= 0:
        return (low, high) if high > 0 else (math.inf, 0.0)
    return 1 / high, 1 / low if low > 0 else math.inf


def search(printed, rules, known, within=None, looks_at=None, whole=True, cells=None):
    """The search, with the parts that people get wrong left open."""
    broken = [rule for rule in rules if not meet(sum_of(rule, known, within), known[rule[0]])]
    if not broken:
        return None
    found = {}
    for cell in cells(broken) if cells else printed:
        text = printed[cell]
        asked = looks_at(broken, cell) if looks_at else rules
        if not asked:
            continue
        ends = [allowed(rule, cell, known, within) for rule in asked]
        half = (span(text)[1] - span(text)[0]) / 2
        low = max(0.0, max(end for end, _ in ends) - half)
        high = min(end for _, end in ends) + half
        if low > high * (1 + 1e-12):
            continue
        value = low + min(high - low, 2) / 2
        if whole and isinstance(text, int):
            value = max(1, math.ceil(low - 1e-9))
        if value <= high + 1e-9:
            found[cell] = value
    return found


def spans(printed):
    return {cell: span(text) for cell, text in printed.items()}


# wrong-result, totals-only: Only what a rule gives can be wrong.
def only_totals(printed, rules):
    return search(
        printed, rules, spans(printed), cells=lambda broken: dict.fromkeys(r[0] for r in broken)
    )


# wrong-result, first-broken: Mends a rule that fails, and looks at no other.
def mends_the_first(printed, rules):
    def one(broken, cell):
        names = [broken[0][0], *(name for _, powers in broken[0][1] for name in powers)]
        return broken[:1] if cell in names else []

    return search(printed, rules, spans(printed), looks_at=one)


# wrong-result, exact-inputs: Rounds the result alone.
def inputs_are_exact(printed, rules):
    points = {cell: (float(text), float(text)) for cell, text in printed.items()}
    known = spans(printed)

    def holds(rule, values):
        low, high = sum_of(rule, values)
        return meet((low, high), known[rule[0]] if values is points else span_at(values, rule[0]))

    def span_at(values, cell):
        half = (known[cell][1] - known[cell][0]) / 2
        return values[cell][0] - half, values[cell][1] + half

    if all(holds(rule, points) for rule in rules):
        return None
    found = search(printed, rules, points)
    return {} if found is None else found


# wrong-result, exact-digits: Compares to the last bit.
def to_the_last_bit(printed, rules):
    points = {cell: (float(text), float(text)) for cell, text in printed.items()}
    found = {}
    broken = [r for r in rules if abs(sum_of(r, points, 0.0)[0] / points[r[0]][0] - 1) > 1e-9]
    if not broken:
        return None
    for rule in broken:
        found[rule[0]] = sum_of(rule, points, 0.0)[0]
    return found


# wrong-result, value: Any number may be 5 % off.
def five_percent_for_all(printed, rules):
    points = {cell: (float(text), float(text)) for cell, text in printed.items()}
    return search(printed, rules, points, within=0.05)


# wrong-result, within-left-out: Does not look at `within`.
def every_rule_is_exact(printed, rules):
    return search(printed, rules, spans(printed), within=0.0)


# wrong-result, first-suspect: Stops at the first suspect.
def the_first_suspect(printed, rules):
    found = search(printed, rules, spans(printed))
    return found and dict([next(iter(found.items()))])


# wrong-result, no-count: Mends counts with fractions.
def half_a_gpu(printed, rules):
    return search(printed, rules, spans(printed), whole=False)


# wrong-result, form: Returns the cell and its value as a pair.
def a_pair(printed, rules):
    found = search(printed, rules, spans(printed))
    return found and next(iter(found.items()))
