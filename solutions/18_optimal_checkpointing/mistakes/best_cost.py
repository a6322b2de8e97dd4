"""Wrong answers to best_cost that people give."""

import math
from functools import cache


def least(stages, memory, ahead=True, free=False, inputs=True, back_again=False):
    """The recurrence with a slip or two."""

    @cache
    def best(start, stop, room):
        here, found = stages[start], math.inf
        gradient = stages[stop - 1]["output_gradient_bytes"]
        kept = here["saved_bytes"] + here["output_bytes"]
        rise = max(
            gradient + here["forward_saving_bytes"],
            here["output_gradient_bytes"] + kept + here["backward_bytes"],
        )
        if rise <= room and (ahead or start + 1 == stop):
            found = here["forward_cost"] + here["backward_cost"]
            if start + 1 < stop:
                found += best(start + 1, stop, room - kept)
        run, taken = 0, 0
        for middle in range(start + 1, stop if inputs else start):
            before = stages[middle - 1]
            if gradient + taken + before["forward_bytes"] > room:
                break
            run += before["forward_cost"] + (before["backward_cost"] if back_again else 0)
            taken = before["output_bytes"]
            if free or taken <= room:
                right = best(middle, stop, room - (0 if free else taken))
                found = min(found, run + right + best(start, middle, room))
        return found

    return best(0, len(stages), memory)


# wrong-result, too-cheap: A checkpoint takes memory from the part that begins at it.
def keeps_checkpoints_for_free(stages, memory):
    return least(stages, memory, free=True)


# wrong-result, no-gradients: As if gradients took no memory.
def forgets_the_gradients(stages, memory):
    return least([{**stage, "output_gradient_bytes": 0} for stage in stages], memory)


# wrong-result, no-temporaries: As if operators needed no room beside their results.
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
    return least(bare, memory)


# wrong-result, too-expensive: Saves a stage right before its backward pass and never earlier.
def never_saves_ahead(stages, memory):
    return least(stages, memory, ahead=False)


# wrong-result, too-expensive: Only the first kind of beginning: all or nothing.
def never_keeps_an_input(stages, memory):
    return least(stages, memory, inputs=False)


# wrong-result, too-expensive: Running on costs the forward passes alone; the way back comes
# later, once.
def counts_the_way_back_once_per_run(stages, memory):
    return least(stages, memory, back_again=True)


# wrong-result, nothing-fits: No schedule at all is not one that costs nothing.
def answers_zero_where_nothing_fits(stages, memory):
    found = least(stages, memory)
    return 0 if found == math.inf else found
