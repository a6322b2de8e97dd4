"""Wrong answers to rotor that people give."""

import math
from functools import cache


def planned(stages, memory, saves_ahead=True, free_checkpoints=False):
    """The dynamic programme with a slip or two; the schedule is followed as it comes."""

    @cache
    def best(start, stop, room):
        here = stages[start]
        kept = here["saved_bytes"] + here["output_bytes"]
        gradient = stages[stop - 1]["output_gradient_bytes"]
        found = math.inf, start
        rise = max(
            gradient + here["forward_saving_bytes"],
            here["output_gradient_bytes"] + kept + here["backward_bytes"],
        )
        if rise <= room and (saves_ahead or start + 1 == stop):
            rest = best(start + 1, stop, room - kept)[0] if start + 1 < stop else 0
            found = here["forward_cost"] + here["backward_cost"] + rest, start
        cost, given = 0, 0
        for middle in range(start + 1, stop):
            before = stages[middle - 1]
            if gradient + given + before["forward_bytes"] > room:
                break
            cost += before["forward_cost"]
            given = before["output_bytes"]
            taken = 0 if free_checkpoints else given
            if taken <= room:
                right, left = best(middle, stop, room - taken), best(start, middle, room)
                found = min(found, (cost + right[0] + left[0], middle))
        return found

    def go(start, stop, room):
        middle = best(start, stop, room)[1]
        if middle == start:
            kept = stages[start]["saved_bytes"] + stages[start]["output_bytes"]
            inner = go(start + 1, stop, room - kept) if start + 1 < stop else []
            return [("save all", start), *inner, ("backward", start)]
        taken = 0 if free_checkpoints else stages[middle - 1]["output_bytes"]
        ahead = [("keep input", start), *(("forward", s) for s in range(start + 1, middle))]
        return ahead + go(middle, stop, room - taken) + go(start, middle, room)

    return go(0, len(stages), memory)


# over-budget, too-much-memory: The plain run, whatever the memory.
def keeps_everything(stages, memory):
    numbers = range(len(stages))
    return [("save all", s) for s in numbers] + [("backward", s) for s in reversed(numbers)]


# over-budget, too-much-memory: A checkpoint takes memory from the part that begins at it.
def keeps_checkpoints_for_free(stages, memory):
    return planned(stages, memory, free_checkpoints=True)


# over-budget, no-gradients: As if gradients took no memory.
def forgets_the_gradients(stages, memory):
    return planned([{**stage, "output_gradient_bytes": 0} for stage in stages], memory)


# over-budget, no-temporaries: As if operators needed no room beside their results.
def forgets_what_operators_need(stages, memory):
    bare = [
        {
            **stage,
            "forward_bytes": stage["output_bytes"],
            "forward_saving_bytes": stage["output_bytes"] + stage["saved_bytes"],
            "backward_bytes": 0,
        }
        for stage in stages
    ]
    return planned(bare, memory)


# over-budget, never-saves-ahead: Saves a stage right before its backward pass and never earlier,
# as revolve does.
def never_saves_ahead(stages, memory):
    return planned(stages, memory, saves_ahead=False)


# over-budget, twice-in-a-row: Keeps an input, and only then runs the stage: but "keep input" has
# run it.
def keeps_an_input_and_then_runs(stages, memory):
    written = []
    for word, stage in planned(stages, memory):
        written.append((word, stage))
        if word == "keep input":
            written.append(("forward", stage))
    return written


# over-budget, too-expensive: Counts forward passes, not what they cost.
def all_stages_cost_the_same(stages, memory):
    return planned([{**s, "forward_cost": 1, "backward_cost": 1} for s in stages], memory)


def peak_of(stages, schedule):
    """The most memory a schedule that can be followed takes."""
    sizes = [0] + [stage["output_bytes"] for stage in stages]
    kept, saved, head, gradient, most = {0}, set(), 0, len(stages), 0
    for word, stage in schedule:
        here = stages[stage]
        if word not in ("forward", "backward"):
            kept.add(stage)
        held = kept | {s + 1 for s in saved} | ({head} if word == "backward" else {stage})
        held = sum(sizes[s] for s in held) + sum(stages[s]["saved_bytes"] for s in saved)
        held += stages[gradient - 1]["output_gradient_bytes"]
        if word == "backward":
            most = max(most, held + here["backward_bytes"])
            saved.discard(stage)
            kept -= {stage} - {0}
            head, gradient = 0, stage
            continue
        saving = word == "save all"
        most = max(most, held + here["forward_saving_bytes" if saving else "forward_bytes"])
        saved |= {stage} if saving else set()
        head = stage + 1
    return most


# over-budget, too-expensive: The number of equal segments that fits and runs the least again.
def the_best_equal_segments(stages, memory):
    length = len(stages)
    fitting = []
    for size in range(2, length + 1):
        starts = list(range(0, length, size))
        schedule = []
        for start in starts[:-1]:
            schedule.append(("keep input", start))
            schedule += [("forward", s) for s in range(start + 1, start + size)]
        for start in reversed(starts):
            part = range(start, min(start + size, length))
            schedule += [("save all", s) for s in part]
            schedule += [("backward", s) for s in reversed(part)]
        cost = sum(stages[s]["forward_cost"] for word, s in schedule if word != "backward")
        if peak_of(stages, schedule) <= memory:
            fitting.append((cost, size, schedule))
    return min(fitting)[2] if fitting else planned(stages, memory)


# wrong-result, input-missing: One stage short of the checkpoint.
def off_by_one_segment(stages, memory):
    right = planned(stages, memory)
    dropped = next((n for n, (word, _) in enumerate(right) if word == "forward"), None)
    return right if dropped is None else right[:dropped] + right[dropped + 1 :]


# wrong-result, backward-order: The left part before the right one: its gradient is not there yet.
def goes_back_too_early(stages, memory):
    right = planned(stages, memory)
    last = next(n for n, (word, _) in enumerate(right) if word == "backward")
    return [*right[: last - 1], ("save all", 0), ("backward", 0), *right[last - 1 :]]
