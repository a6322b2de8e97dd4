"""Wrong answers to sqrt_plan that people give."""

import math


def by_segments(starts, length):
    """The schedule for segments that begin at `starts`."""
    stops = [*starts[1:], length]
    pairs = list(zip(starts, stops))
    schedule = []
    for start, stop in pairs[:-1]:
        schedule.append(("keep input", start))
        schedule += [("forward", stage) for stage in range(start + 1, stop)]
    for start, stop in reversed(pairs):
        schedule += [("save all", stage) for stage in range(start, stop)]
        schedule += [("backward", stage) for stage in reversed(range(start, stop))]
    return schedule


# over-budget, saves-everything: The plain run.
def keeps_everything(length):
    return by_segments([0], length)


# over-budget, segments-too-long: Two segments, however long the chain is.
def two_halves(length):
    return by_segments([0, length // 2] if length > 1 else [0], length)


# over-budget, segments-too-short: One segment per stage keeps every input.
def a_segment_for_each_stage(length):
    return by_segments(list(range(length)), length)


# over-budget, run-too-often: Keeps nothing, so each stage is reached from the batch again.
def from_the_batch_each_time(length):
    schedule = []
    for last in reversed(range(length)):
        schedule += [("forward", stage) for stage in range(last)]
        schedule += [("save all", last), ("backward", last)]
    return schedule


# over-budget, twice-in-a-row: Takes "keep input" for something that does not run the stage.
def keeps_an_input_and_then_runs(length):
    size = math.ceil(math.sqrt(length))
    right = by_segments(list(range(0, length, size)), length)
    schedule = []
    for word, stage in right:
        schedule += [(word, stage)] + [("forward", stage)] * (word == "keep input")
    return schedule


# over-budget, last-segment-long: floor(sqrt(n)) segments of one length, and what is left over
# goes to the last one.
def the_rest_in_the_last_segment(length):
    segments = math.isqrt(length)
    return by_segments([number * (length // segments) for number in range(segments)], length)


# wrong-result, backward-order: Whole segments alone: what is left over at the end is never run.
def forgets_the_rest(length):
    size = max(1, math.isqrt(length))
    return by_segments(list(range(0, length // size * size, size)), length // size * size)


# wrong-result, backward-order: Begins again at the front; the gradient comes from the back.
def segments_front_to_back(length):
    size = math.ceil(math.sqrt(length))
    schedule = []
    for start in range(0, length, size):
        stop = min(start + size, length)
        schedule += [("save all", stage) for stage in range(start, stop)]
    for start in range(0, length, size):
        stop = min(start + size, length)
        schedule += [("backward", stage) for stage in reversed(range(start, stop))]
    return schedule


# wrong-result, input-missing: Keeps the input of the stage after the one it begins again at.
def off_by_one_segment(length):
    size = math.ceil(math.sqrt(length))
    kept = range(0, length, size)
    schedule = []
    for stage in range(length - 1):
        schedule.append(("keep input" if stage - 1 in kept else "forward", stage))
    for start in reversed(kept):
        stop = min(start + size, length)
        schedule += [("save all", stage) for stage in range(start, stop)]
        schedule += [("backward", stage) for stage in reversed(range(start, stop))]
    return schedule


# wrong-result, not-saved: The second run forgets to save.
def runs_again_without_saving(length):
    return [("forward" if word == "save all" else word, s) for word, s in by_segments([0], length)]


# wrong-result, unfinished: Goes back through the last segment and forgets the others.
def stops_at_the_first_segment(length):
    size = math.ceil(math.sqrt(length))
    right = by_segments(list(range(0, length, size)), length)
    return right[: right.index(("backward", (length - 1) // size * size)) + 1]


# wrong-result, wrong-form: Numbers of stages, and not what to do with them.
def stages_without_words(length):
    return list(range(length))
