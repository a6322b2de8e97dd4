"""revolve: few checkpoints, and the fewest forward passes.

    revolve(length, checkpoints) -> [(word, stage), ...]

    length       how many equal stages the chain has, 1 or more: stages
                 0 to length - 1
    checkpoints  how many inputs may be kept at one time, that of stage
                 0 among them; 1 or more, even more than stages

Return a schedule, a list of pairs. The words are
    "forward"     run the stage; save nothing, and let go of its input
    "keep input"  run the stage; save nothing but its input
    "save all"    run the stage; keep its input and all that its
                  backward pass needs
    "backward"    go back through the stage, which has to be saved; lets
                  go of all of it
The batch, the input of stage 0, is always there: one of the
checkpoints. A kept input stays until its stage's backward pass.
Besides, one stage at a time may have everything saved.

Measured: your schedule is followed on a real chain. Gradients are those
of the plain run, bit for bit; forward passes are counted, and there
must be no schedule with fewer; and the most bytes alive at one time are
those of checkpoints + 6 outputs or fewer. Where several schedules have
the fewest, any of them will do.
"""

from functools import cache


@cache
def fewest(length, checkpoints):
    """Returns (passes without saving, stages to next checkpoint)."""
    # your code here (about 8 lines)


def revolve(length, checkpoints):
    schedule = []
    # your code here (about 10 lines)
    return schedule
