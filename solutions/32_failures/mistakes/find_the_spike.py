"""Wrong answers to find_the_spike that people give."""

from math import isfinite, isnan, sqrt
from statistics import fmean, median


def by_median(series, at, floor=0.01, ties=False):
    middle = median(series)
    limit = middle + 6 * max(median(abs(each - middle) for each in series), middle * floor)
    return at >= limit if ties else at > limit


def by_mean(series, at):
    middle = fmean(series)
    spread = sqrt(fmean((each - middle) ** 2 for each in series))
    return at > middle + 6 * max(spread, middle / 100)


def spikes_of(
    losses,
    norms,
    window,
    high=by_median,
    joined=all,
    finite=True,
    keep=False,
    first=None,
    merged=True,
):
    spikes, before = [], []
    for step, now in enumerate(zip(losses, norms, strict=True)):
        spike = finite and not all(map(isfinite, now))
        enough = len(before) >= (window if first is None else first)
        if not spike and enough:
            last = zip(*before[-window:], strict=True)
            spike = joined([high(s, a) for s, a in zip(last, now, strict=True)])
        if not spike or (keep and all(map(isfinite, now))):
            before.append(now)
        if not spike:
            continue
        if merged and spikes and spikes[-1][1] == step - 1:
            spikes[-1] = (spikes[-1][0], step)
        else:
            spikes.append((step, step))
    return spikes


def slower_at(
    rates, window, least, middle=median, pick="most", drop=True, numbered=True, strictly=False
):
    steps = [k for k, rate in enumerate(rates) if not drop or not isnan(rate)]
    slower, most = None, None
    for k in range(window, len(steps) - window + 1):
        old = [rates[s] for s in steps[k - window : k]]
        new = [rates[s] for s in steps[k : k + window]]
        fall = middle(old) - middle(new), sum(old) - sum(new)
        if pick == "medians":
            fall = fall[:1]
        larger = slower is None or fall > most or (pick == "last" and fall == most)
        if pick == "first":
            larger = slower is None
        if larger and (fall[0] > least or (fall[0] == least and not strictly)):
            slower, most = (steps[k] if numbered else k), fall
    return slower


def both(losses, norms, rates, window, least, slow=None, **how):
    found = slower_at(rates, window, least, **(slow or {}))
    return {"spikes": spikes_of(losses, norms, window, **how), "slower": found}


# wrong-result, mean: So many standard deviations above the mean.
def mean_and_deviation(losses, norms, rates, window, least):
    return both(losses, norms, rates, window, least, high=by_mean)


# wrong-result, one-is-enough: A jump is a jump.
def either_of_the_two(losses, norms, rates, window, least):
    return both(losses, norms, rates, window, least, joined=any)


# wrong-result, loss-alone: A spike is one of the loss.
def the_loss_alone(losses, norms, rates, window, least):
    return both(losses, norms, rates, window, least, joined=lambda found: found[0])


# wrong-result, nan-is-calm: Compares, and lets NaN be.
def nan_is_not_above(losses, norms, rates, window, least):
    def calm(series, at):
        known = [each for each in series if isfinite(each)]
        return bool(known) and by_median(known, at)

    return both(losses, norms, rates, window, least, high=calm, finite=False)


# wrong-result, spikes-among-the-calm: The window is the steps before.
def every_step_before(losses, norms, rates, window, least):
    return both(losses, norms, rates, window, least, keep=True)


# wrong-result, short-windows: Takes what there is.
def takes_what_there_is(losses, norms, rates, window, least):
    return both(losses, norms, rates, window, least, first=3)


# wrong-result, no-floor: Six distances are six distances.
def without_a_floor(losses, norms, rates, window, least):
    def bare(series, at):
        return by_median(series, at, floor=0.0)

    return both(losses, norms, rates, window, least, high=bare)


# wrong-result, at-the-limit: At the limit is past it.
def at_the_limit_is_high(losses, norms, rates, window, least):
    def tied(series, at):
        return by_median(series, at, ties=True)

    return both(losses, norms, rates, window, least, high=tied)


# wrong-result, at-the-limit: Slower by more than this.
def slower_by_more(losses, norms, rates, window, least):
    return both(losses, norms, rates, window, least, {"strictly": True})


# wrong-result, each-step: Each step of a spike is one.
def each_step_alone(losses, norms, rates, window, least):
    return both(losses, norms, rates, window, least, merged=False)


# wrong-result, slow-step: Slower is slower than the step before.
def slower_than_before(losses, norms, rates, window, least):
    found = both(losses, norms, rates, window, least)
    known = [k for k, rate in enumerate(rates) if not isnan(rate)]
    falls = {b: rates[a] - rates[b] for a, b in zip(known, known[1:], strict=False)}
    at = max(falls, key=falls.get, default=None)
    found["slower"] = at if at is not None and falls[at] >= least else None
    return found


# wrong-result, slow-step: The mean of the steps before, and of those after.
def means_of_windows(losses, norms, rates, window, least):
    return both(losses, norms, rates, window, least, {"middle": fmean})


# wrong-result, drift: Is the end slower than the beginning?
def from_beginning_to_end(losses, norms, rates, window, least):
    found = both(losses, norms, rates, window, least)
    known = [rate for rate in rates if not isnan(rate)]
    fell = len(known) > 1 and median(known[:window]) - median(known[-window:]) >= least
    found["slower"] = len(rates) // 2 if fell else None
    return found


# wrong-result, first-fall: The first fall that is large enough.
def the_first_large_fall(losses, norms, rates, window, least):
    return both(losses, norms, rates, window, least, {"pick": "first"})


# wrong-result, equal-falls: One step of these is as good as another.
def medians_alone(losses, norms, rates, window, least):
    return both(losses, norms, rates, window, least, {"pick": "medians"})


# wrong-result, equal-falls: Keeps the newest of the largest.
def the_last_of_equals(losses, norms, rates, window, least):
    return both(losses, norms, rates, window, least, {"pick": "last"})


# wrong-result, rates-with-nan: A window is a piece of the list.
def windows_with_nan(losses, norms, rates, window, least):
    return both(losses, norms, rates, window, least, {"drop": False})


# wrong-result, counted-without: Numbers what is left.
def numbers_what_is_left(losses, norms, rates, window, least):
    return both(losses, norms, rates, window, least, {"numbered": False})
