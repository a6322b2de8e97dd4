"""What a learner reads after a pass in lessons 17 and 18."""

from __future__ import annotations

from gpu_course.catalog.specification import Debrief

CHECKPOINT = Debrief(
    shows=("kept_bytes", "peak_bytes", "forward_passes"),
    why=(
        "The input is all it takes to have the stage's inner values again. The second run builds "
        "the graph that the first one was spared, and it lives only while this stage goes back."
    ),
    alternative=(
        "Calling backward() on the second run adds to the parameters' gradients by itself. "
        "torch.autograd.grad would hand them over instead, and you would add them."
    ),
)

RNG_SAFE = Debrief(
    shows=("kept_bytes", "peak_bytes", "forward_passes"),
    why=(
        "A second run is the same run only if it finds what the first one found: the generator's "
        "state and the buffers. And it must leave no trace, so both are put back afterwards."
    ),
    alternative=(
        "fork_rng restores the generator even when the stage raises; saving and setting the state "
        "by hand is right while nothing fails. Buffers may be copied before the second run or "
        "swapped for copies during it."
    ),
)

SQRT_PLAN = Debrief(
    shows=("peak_bytes", "forward_passes"),
    why=(
        "Memory is one input per segment plus everything of one segment, and this sum is smallest "
        "where both are about sqrt(n). Each segment runs once more, so a stage runs twice at most."
    ),
    alternative=(
        "The last segment may save everything on its first run, which spares one run of its "
        "stages. Segments that shrink towards the end save a little more."
    ),
)

LOG_PLAN = Debrief(
    shows=("peak_bytes", "forward_passes"),
    why=(
        "At any time only the inputs on the way down to the current stage are kept, one for each "
        "halving. Every level runs about half of the stages again, so the work grows with the "
        "number of levels too."
    ),
    alternative=(
        "Written as a recursion or with a stack of segments, it is the same plan. Cutting into "
        "three gives fewer levels and more inputs on each."
    ),
)

REVOLVE = Debrief(
    shows=("peak_bytes", "forward_passes"),
    why=(
        "Wherever the next checkpoint goes, the two parts left and right of it are the same "
        "problem again, smaller. So the best schedule is put together from the best ones of its "
        "parts, and no other needs fewer runs."
    ),
    alternative=(
        "Griewank and Walther give the number of runs and the place of the checkpoint in closed "
        "form, with binomial coefficients: no table, and a result of the same length."
    ),
)

SCHEDULE_PEAK = Debrief(
    shows=("result",),
    why=(
        "What is in memory is a short list: kept inputs, saved stages, one gradient, and the input "
        "of the forward pass that runs. The peak is never between two operations but inside one, "
        "so the rise is added to what was there before it."
    ),
    alternative=(
        "Instead of adding everything up anew at each operation, one running sum can be corrected "
        "by what comes and goes. It is quicker, and easier to get wrong."
    ),
)

BEST_COST = Debrief(
    shows=("result",),
    why=(
        "After its first move a part of the chain falls into smaller parts with memories of their "
        "own, and what is best for the whole is put together from what is best for them. So each "
        "part and memory is solved once."
    ),
    alternative=(
        "A table filled from short parts to long ones needs no recursion. Remembering by (s, t, m) "
        "visits only the memories that occur."
    ),
)

ROTOR = Debrief(
    shows=("schedule",),
    why=(
        "For each part of the chain and each amount of memory there are two moves: save the first "
        "stage whole, or keep its input and come back. The best of both, from small parts to large "
        "ones, is the best of all schedules of this kind."
    ),
    alternative=(
        "A recursion that remembers fills only the states it needs; a table filled from short "
        "parts to long ones needs no recursion and is what rotor does in C."
    ),
)

SELECTIVE_PLAN = Debrief(
    shows=("chosen", "saved_bytes", "flops"),
    why=(
        "Saving a product costs bytes and spares FLOP, under one limit for the sum of the bytes: "
        "the knapsack problem. Keeping the best choice for each number of bytes is exact."
    ),
    alternative=(
        "With the six to twelve products of a layer or two, trying all subsets is exact too. "
        "Choosing by FLOP per byte is quick, and not always the best."
    ),
)
