"""Wrong answers to log_plan that people give."""

import math


def halved(start, stop, cut=lambda start, stop: (start + stop) // 2):
    """The schedule for start .. stop - 1, cut wherever `cut` says."""
    if stop - start == 1:
        return [("save all", start), ("backward", start)]
    middle = cut(start, stop)
    ahead = [("keep input", start), *(("forward", s) for s in range(start + 1, middle))]
    return ahead + halved(middle, stop, cut) + halved(start, middle, cut)


# over-budget, saves-much: sqrt(n) segments are fewer than n, and more than log n.
def square_root_again(length):
    size = math.ceil(math.sqrt(length))
    schedule = []
    for start in range(0, length - size, size):
        schedule.append(("keep input", start))
        schedule += [("forward", stage) for stage in range(start + 1, start + size)]
    for start in reversed(range(0, length, size)):
        stop = min(start + size, length)
        schedule += [("save all", stage) for stage in range(start, stop)]
        schedule += [("backward", stage) for stage in reversed(range(start, stop))]
    return schedule


# over-budget, keeps-much: Cuts off a single stage: as deep as the chain is long.
def one_stage_and_the_rest(length):
    return halved(0, length, lambda start, stop: start + 1)


# over-budget, run-too-often: Keeps nothing, so each stage is reached from the batch again.
def from_the_batch_each_time(length):
    schedule = []
    for last in reversed(range(length)):
        schedule += [("forward", stage) for stage in range(last)]
        schedule += [("save all", last), ("backward", last)]
    return schedule


# over-budget, twice-in-a-row: Takes "keep input" for something that does not run the stage.
def keeps_an_input_and_then_runs(length):
    schedule = []
    for word, stage in halved(0, length):
        schedule += [(word, stage)] + [("forward", stage)] * (word == "keep input")
    return schedule


# wrong-result, backward-order: The first half cannot go back before the second one.
def first_half_first(length):
    def go(start, stop):
        if stop - start == 1:
            return [("save all", start), ("backward", start)]
        middle = (start + stop) // 2
        return go(start, middle) + go(middle, stop)

    return go(0, length)


# wrong-result, input-missing: One stage short: the second half finds no input.
def stops_before_the_middle(length):
    def go(start, stop):
        if stop - start == 1:
            return [("save all", start), ("backward", start)]
        middle = (start + stop) // 2
        ahead = [("keep input", start), *(("forward", s) for s in range(start + 1, middle - 1))]
        return ahead + go(middle, stop) + go(start, middle)

    return go(0, length)


# wrong-result, input-missing: Runs on without keeping what the first half begins with.
def forgets_to_keep(length):
    return [("forward" if word == "keep input" else word, s) for word, s in halved(0, length)]


# wrong-result, not-saved: Never runs a stage with everything saved.
def goes_back_unsaved(length):
    return [("keep input" if word == "save all" else word, s) for word, s in halved(0, length)]
