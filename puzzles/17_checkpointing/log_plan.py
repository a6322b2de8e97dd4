"""log_plan: halves of halves, memory for log2(n) outputs.

    log_plan(length) -> [(word, stage), ...]

    length  how many stages the chain has, 1 or more: stages 0 to
            length - 1

Return a schedule, a list of pairs. The words are
    "forward"     run the stage; save nothing, and let go of its input
    "keep input"  run the stage; save nothing but its input
    "save all"    run the stage; keep its input and all that its
                  backward pass needs
    "backward"    go back through the stage, which has to be saved; lets
                  go of all of it
The batch, the input of stage 0, is always there. A stage can run where
its input is: kept, or the output of what ran last or is saved. The
backward passes go from the last stage to the first.

Measured: your schedule is followed on a real chain of equal stages.
Gradients are those of the plain run, bit for bit. With d = log2(length)
rounded up there are at most length * (d / 2 + 1) forward passes (an
eighth of the length more where halves are odd), and the most bytes
alive at one time are those of d + 7 outputs or fewer. The length need
not be a power of 2. Any schedule within these bounds will do.
"""


def log_plan(length):
    schedule = []
    # your code here (about 11 lines)
    return schedule
