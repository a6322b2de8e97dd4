"""dualpipe: two pipelines in opposite directions.

    dualpipe(ranks, microbatches) -> a list of orders

    ranks         how many there are, an even number
    microbatches  how many there are, an even number, at least 2 * ranks

The first half of the microbatches goes down, through stages 0, 1, ...
to ranks - 1, the second half up, through stages ranks, ... to
2 * ranks - 1. Rank r holds stage r of the way down and stage
2 * ranks - 1 - r of the way up, a copy of stage ranks - 1 - r: the two
ways begin at opposite ends. Return a list with an order for each
rank, each a list of actions:

    "2F5"       the forward pass of microbatch 5 through stage 2
    "2B5"       its whole backward pass; in its place may stand
    "2I5"       the gradient to the stage's input, and after it
    "2W5"       the gradients of its weights
    "2F5&13B9"  an F and a B of another microbatch, done together:
                begun when both can be, sent on when both are done

F, I and W take 1 each, B takes 2, and F&B takes 3, but the messages of
each hide behind the computing of the other. So each rank does at least
microbatches - 3 * ranks / 2 such pairs. A microbatch is held on a rank
from its F to its B or W, and a rank may hold ranks + 1. From its first
start to its last end no rank may take longer than
3 * microbatches + ranks - 2. Any orders that keep to all this will do.
"""


def dualpipe(ranks, microbatches):
    # answer
    half = microbatches // 2

    def order_of(rank):
        outside = min(rank, ranks - 1 - rank)
        inside = ranks // 2 - 1 - outside
        down, up = rank, 2 * ranks - 1 - rank
        near, far = (down, up) if rank < ranks // 2 else (up, down)
        come = {down: 0, up: half}
        back = {down: 0, up: half}
        put_off = []

        def forward(stage):
            come[stage] += 1
            return f"{stage}F{come[stage] - 1}"

        def backward(stage, kind):
            back[stage] += 1
            if kind == "I":
                put_off.append(f"{stage}W{back[stage] - 1}")
            return f"{stage}{kind}{back[stage] - 1}"

        order = [forward(near) for _ in range(2 * inside)]
        for _ in range(outside + 1):
            order += [forward(near), forward(far)]
        for _ in range(inside):
            order += [backward(far, "I"), put_off.pop(0), forward(far)]
        for _ in range(half - ranks + outside + 1):
            order += [forward(near) + "&" + backward(far, "B")]
            order += [forward(far) + "&" + backward(near, "B")]
        for _ in range(inside):
            order += [backward(far, "B")]
            order += [forward(far) + "&" + backward(near, "B")]
        for _ in range(outside + 1):
            order += [backward(far, "I"), backward(near, "I")]
        for _ in range(inside):
            order += [put_off.pop(0), backward(near, "I")]
        return order + put_off

    return [order_of(rank) for rank in range(ranks)]
    # end answer
