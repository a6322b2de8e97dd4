"""linear_scaling_warmup: which rate belongs to a large batch.

    linear_scaling_warmup(step, base_rate, base_batch, batch,
                          warmup_steps, milestones) -> rate

    step          number of the step, the first one is 0
    base_rate     the rate that is known to be good ...
    base_batch    ... with a batch of so many rows
    batch         rows of the batch now, on all ranks together
    warmup_steps  length of the warm-up; 0 for none
    milestones    list of steps, in order, or an empty one: from each of
                  them on the rate is a tenth of what it would be
                  without it

k times as many rows in a batch are fewer steps for the same rows: let
each be k times as long. The first ones may not be: during the warm-up
the rate grows along a straight line, from base_rate at step 0 to the
full rate at step warmup_steps. From then on it is the full rate. A
milestone counts in the warm-up as well.
"""


def linear_scaling_warmup(
    step,
    base_rate,
    base_batch,
    batch,
    warmup_steps,
    milestones,
):
    # your code here (about 5 lines)
    pass
