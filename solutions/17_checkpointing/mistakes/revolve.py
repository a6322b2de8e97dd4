"""Wrong answers to revolve that people give."""

import math


def by_cuts(start, stop, free, cut):
    """The schedule for start .. stop - 1 with `free` checkpoints, cut wherever `cut` says."""
    schedule = []
    while stop - start > 1:
        ahead = stop - start - 1 if free == 1 else cut(stop - start, free)
        schedule.append(("keep input", start))
        schedule += [("forward", stage) for stage in range(start + 1, start + ahead)]
        schedule += by_cuts(start + ahead, stop, free - 1, cut)
        stop = start + ahead
    return [*schedule, ("save all", start), ("backward", start)]


# The best place as revolve's formula gives it.
def best(length, free):
    def passes(stages, c):
        r = 0
        while math.comb(c + r, r) < stages:
            r += 1
        return r * stages - (math.comb(c + r, r - 1) if r else 0)

    return min(range(1, length), key=lambda m: m + passes(length - m, free - 1) + passes(m, free))


# over-budget, not-the-fewest: Halving is not the best as soon as checkpoints run out.
def always_the_middle(length, checkpoints):
    return by_cuts(0, length, checkpoints, lambda length, free: max(1, length // 2))


# over-budget, not-the-fewest: As many segments as there are checkpoints, all of one length.
def evenly_spaced(length, checkpoints):
    return by_cuts(0, length, checkpoints, lambda length, free: max(1, length // free))


# over-budget, not-the-fewest: Every stage is reached from the batch.
def only_the_batch(length, checkpoints):
    return by_cuts(0, length, 1, best)


# over-budget, twice-in-a-row: Takes "keep input" for something that does not run the stage.
def keeps_an_input_and_then_runs(length, checkpoints):
    schedule = []
    for word, stage in by_cuts(0, length, checkpoints, best):
        schedule += [(word, stage)] + [("forward", stage)] * (word == "keep input")
    return schedule


# over-budget, too-many-checkpoints: Takes the batch for a gift: one checkpoint more than there is
# room for.
def the_batch_is_free(length, checkpoints):
    return by_cuts(0, length, checkpoints + 1, best)


# over-budget, too-many-checkpoints: As if there were room for all.
def keeps_every_input(length, checkpoints):
    return by_cuts(0, length, length, lambda length, free: 1)


# over-budget, saves-several: Saves all that is left once the checkpoints are used up.
def saves_the_last_segment(length, checkpoints):
    size = math.ceil(length / checkpoints)
    schedule = []
    for start in range(0, length - size, size):
        schedule.append(("keep input", start))
        schedule += [("forward", stage) for stage in range(start + 1, start + size)]
    for start in reversed(range(0, length, size)):
        stop = min(start + size, length)
        schedule += [("save all", stage) for stage in range(start, stop)]
        schedule += [("backward", stage) for stage in reversed(range(start, stop))]
    return schedule


# wrong-result, input-missing: Stops one stage before the place of the checkpoint.
def off_by_one_segment(length, checkpoints):
    right = by_cuts(0, length, checkpoints, best)
    dropped = next((n for n, (word, _) in enumerate(right) if word == "forward"), None)
    return right if dropped is None else right[:dropped] + right[dropped + 1 :]


# wrong-result, backward-order: The left part first: there is no gradient for it yet.
def left_part_first(length, checkpoints):
    if length == 1:
        return [("save all", 0), ("backward", 0)]
    ahead = length - 1 if checkpoints == 1 else best(length, checkpoints)
    return by_cuts(0, ahead, checkpoints, best) + by_cuts(ahead, length, checkpoints, best)
