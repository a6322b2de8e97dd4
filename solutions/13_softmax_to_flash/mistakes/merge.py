"""Wrong answers to merge that learners give."""

import numpy as np


def _largest(parts):
    return np.max([part[0] for part in parts], axis=0)


def _safe(m):
    return np.where(m == -np.inf, 0.0, m)


# wrong-result, unscaled: The sums of all keys are the sums over the tiles.
def adds_up(parts):
    return _largest(parts), sum(part[1] for part in parts), sum(part[2] for part in parts)


# wrong-result, acc-unscaled: Only the denominator has exponentials in it.
def rescales_the_sum_alone(parts):
    m = _largest(parts)
    total = sum(np.exp(each - _safe(m)) * part_total for each, part_total, _ in parts)
    return m, total, sum(part[2] for part in parts)


# wrong-result, new-unscaled: What is new has just been worked out, so it is up to date.
def rescales_what_it_has(parts):
    m, total, acc = parts[0]
    for next_m, next_total, next_acc in parts[1:]:
        both = np.maximum(m, next_m)
        factor = np.exp(m - _safe(both))
        m, total, acc = both, factor * total + next_total, factor[:, None] * acc + next_acc
    return m, total, acc


# wrong-result, upside-down: Multiplies by exp(M - m), as if to undo the subtraction.
def the_other_way_round(parts):
    m = _largest(parts)
    factors = [np.exp(np.clip(_safe(m) - _safe(each), 0, 700)) for each, _, _ in parts]
    total = sum(factor * part[1] for factor, part in zip(factors, parts))
    acc = sum(factor[:, None] * part[2] for factor, part in zip(factors, parts))
    return m, total, acc


# wrong-result, sums-forgotten: The maximum says how much a part counts.
def weighs_by_the_maximum(parts):
    m = _largest(parts)
    factors = [np.exp(each - _safe(m)) for each, _, _ in parts]
    acc = sum(
        factor[:, None] * part[2] / np.where(part[1] == 0, 1.0, part[1])[:, None]
        for factor, part in zip(factors, parts)
    )
    return m, sum(factors), acc


# wrong-result, averaged: Each part is an attention already; takes their mean.
def mean_of_the_parts(parts):
    m = _largest(parts)
    acc = sum(part[2] / np.where(part[1] == 0, 1.0, part[1])[:, None] for part in parts)
    return m, np.where(m == -np.inf, 0.0, 1.0), acc / len(parts)


# wrong-result, first-two: A merge has two sides.
def two_of_them(parts):
    if len(parts) == 1:
        return parts[0]
    parts = parts[:2]
    m = _largest(parts)
    total = sum(np.exp(each - _safe(m)) * part_total for each, part_total, _ in parts)
    acc = sum(np.exp(each - _safe(m))[:, None] * part_acc for each, _, part_acc in parts)
    return m, total, acc


# wrong-result, overflow: Undoes what the tiles subtracted, and adds up.
def without_any_m(parts):
    with np.errstate(over="ignore", invalid="ignore"):
        total = sum(np.exp(each) * part_total for each, part_total, _ in parts)
        acc = sum(np.exp(each)[:, None] * part_acc for each, _, part_acc in parts)
    return np.where(total == 0, -np.inf, 0.0), total, acc


# wrong-result, overflow: Any m will do, so it takes the first one it sees.
def the_first_m(parts):
    m = parts[0][0]
    for part_m, _, _ in parts[1:]:
        m = np.where(m == -np.inf, part_m, m)
    with np.errstate(over="ignore", invalid="ignore"):
        total = sum(np.exp(each - _safe(m)) * part_total for each, part_total, _ in parts)
        acc = sum(np.exp(each - _safe(m))[:, None] * part_acc for each, _, part_acc in parts)
    return m, total, acc


# wrong-result, blind: Every query sees some key.
def forgets_the_blind(parts):
    m = _largest(parts)
    with np.errstate(invalid="ignore"):
        total = sum(np.exp(each - m) * part_total for each, part_total, _ in parts)
        acc = sum(np.exp(each - m)[:, None] * part_acc for each, _, part_acc in parts)
    return m, total, acc


# wrong-result, nan-lost: Mends the NaN of -inf - -inf, and with it every other.
def mends_every_nan(parts):
    m = np.fmax.reduce([part[0] for part in parts])
    with np.errstate(invalid="ignore"):
        factors = [np.nan_to_num(np.exp(each - m)) for each, _, _ in parts]
    total = sum(np.nan_to_num(factor * part[1]) for factor, part in zip(factors, parts))
    acc = sum(np.nan_to_num(factor[:, None] * part[2]) for factor, part in zip(factors, parts))
    return m, total, acc


# input-changed, input-changed: Adds the others to the first part, where it lies.
def adds_to_the_first(parts):
    m, total, acc = parts[0]
    for next_m, next_total, next_acc in parts[1:]:
        both = np.maximum(m, next_m)
        old, new = np.exp(m - _safe(both)), np.exp(next_m - _safe(both))
        total *= old
        total += new * next_total
        acc *= old[:, None]
        acc += new[:, None] * next_acc
        m = both
    return m, total, acc


# wrong-result, not-a-part: Ends with what the lesson wants: attention and log-sum-exp.
def finishes_at_once(parts):
    m = _largest(parts)
    total = sum(np.exp(each - _safe(m)) * part_total for each, part_total, _ in parts)
    acc = sum(np.exp(each - _safe(m))[:, None] * part_acc for each, _, part_acc in parts)
    return acc / total[:, None], m + np.log(total)
