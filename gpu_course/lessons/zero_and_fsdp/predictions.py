"""What lesson 23 says once a guess is made."""

from __future__ import annotations

from gpu_course.puzzle.specification import Sealed

PREDICTIONS = {
    "Of 16 bytes, those that differ between ranks": Sealed(
        "None. All ranks began with the same weights and take the same step with the same mean "
        "gradient, so after a thousand steps they still hold the same 16 bytes for each parameter. "
        "All but one copy is there to save a message."
    ),
    "Times the bytes of data parallelism, with the states cut": Sealed(
        "The same. An all-reduce is a reduce-scatter and an all-gather, and between its two halves "
        "each rank has the finished gradient of its own slice: just where an update needs it. The "
        "second half hands out new weights instead of gradients."
    ),
    "Times the parameters sent, DDP and a sharded optimizer": Sealed(
        "DDP sends each gradient to all, which is 2, and the optimizer hands out new weights, one "
        "more. The gradients of others arrive and are thrown away. The two do not know of each "
        "other; a hook of DDP that reduces to the owner alone saves a third of it.",
        answer=round,
    ),
    "Times the bytes of data parallelism, with everything cut": Sealed(
        "Three halves: gather for the way there, gather for the way back, reduce-scatter. Nothing "
        "is gathered after the update, since each rank keeps only its own slice of the new "
        "weights. Half as much again buys 16 bytes that shrink with every rank."
    ),
    "Gathers in a step of fully_shard": Sealed(
        "Each of the four layers is gathered twice. What belongs to no layer, embeddings, the last "
        "norm and the head, is the root's: gathered first, and kept until the backward pass has "
        "used it. So the volume is a little less than 3."
    ),
    "Times the parameters to the other node, cut within nodes of 2": Sealed(
        "A rank has the gradients of half of the parameters, summed over its node, and exchanges "
        "them with the rank of the other node that has the same half: an all-reduce of a slice "
        "between two, which sends it once. No weight crosses. In nodes of eight a slice is an "
        "eighth."
    ),
    "Times the parameters sent, weights gathered when they are read": Sealed(
        "Each weight is gathered once, and autograd keeps what the backward pass needs: all whole "
        "weights at the turn. So it sends what stage 2 sends, and holds what stage 2 holds. That "
        "is why the compiler comes in: it may throw a weight away and gather it again.",
        answer=round,
    ),
}
