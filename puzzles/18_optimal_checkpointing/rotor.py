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
    # your code here (about 39 lines)
    return schedule
