"""rotor: the cheapest schedule of a chain in a given memory.

    rotor(stages, memory) -> [(word, stage), ...]

    stages  a list of dicts of whole numbers, 0 or more, one for each of
            one stage or more:
            output_bytes           of its output
            saved_bytes            what "save all" leaves beside its
                                   input and output
            forward_bytes          how far "forward" and "keep input"
                                   rise, the output included
            forward_saving_bytes   how far "save all" rises, output and
                                   saved included
            backward_bytes         how far "backward" rises above input,
                                   output, saved and the gradient of its
                                   output
            output_gradient_bytes  of the gradient of its output
            forward_cost, backward_cost
    memory  what may be in use at one time, in the same unit (whole
            slots); some schedule fits

Return a schedule, a list of pairs. The words are
    "forward"     run the stage; save nothing, and let go of its input
    "keep input"  run the stage; save nothing but its input
    "save all"    run the stage; keep its input and all that its
                  backward pass needs
    "backward"    go back through the stage, which has to be saved; lets
                  go of all of it
The batch, the input of stage 0, takes no memory. A gradient is there
from the beginning: first that of the loss, later that of the input of
the stage that went back last. A kept input stays until its stage's
backward pass, and its size is the output_bytes of the stage before.

Measured: memory and cost of your schedule, counted by the table: it has
to fit, and no schedule of this kind may be cheaper; of several that are
equally cheap, any will do. For real chains it is followed: gradients
and buffers are those of the plain run, bit for bit, and the bytes alive
at one time stay within the memory.
"""

import math
from functools import cache


def rotor(stages, memory):
    schedule = []
    # answer

    @cache
    def best(start, stop, room):
        """(cost, where the next checkpoint stands, or start itself for "save all")."""
        here = stages[start]
        kept = here["saved_bytes"] + here["output_bytes"]
        gradient = stages[stop - 1]["output_gradient_bytes"]
        found = math.inf, start
        rise = max(
            gradient + here["forward_saving_bytes"],
            here["output_gradient_bytes"] + kept + here["backward_bytes"],
        )
        if rise <= room:
            rest = best(start + 1, stop, room - kept)[0] if start + 1 < stop else 0
            found = here["forward_cost"] + here["backward_cost"] + rest, start
        cost, given = 0, 0
        for middle in range(start + 1, stop):
            before = stages[middle - 1]
            if gradient + given + before["forward_bytes"] > room:
                break
            cost += before["forward_cost"]
            given = before["output_bytes"]
            if given <= room:
                right, left = best(middle, stop, room - given), best(start, middle, room)
                found = min(found, (cost + right[0] + left[0], middle))
        return found

    def go_back_through(start, stop, room):
        middle = best(start, stop, room)[1]
        if middle == start:
            schedule.append(("save all", start))
            if start + 1 < stop:
                kept = stages[start]["saved_bytes"] + stages[start]["output_bytes"]
                go_back_through(start + 1, stop, room - kept)
            schedule.append(("backward", start))
            return
        schedule.append(("keep input", start))
        schedule.extend(("forward", stage) for stage in range(start + 1, middle))
        go_back_through(middle, stop, room - stages[middle - 1]["output_bytes"])
        go_back_through(start, middle, room)

    go_back_through(0, len(stages), memory)
    # end answer
    return schedule
