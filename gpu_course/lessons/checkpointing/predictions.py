"""What lessons 17 and 18 say once a guess is made."""

from __future__ import annotations

from gpu_course.puzzle.specification import Sealed

_LEFT = {
    "gradients": "the gradients",
    "buffers": "BatchNorm's statistics",
    "next_random": "the next random numbers",
}
"""What a run leaves behind, as the question calls it."""

CHECKPOINTING = {
    "Plain run over checkpointed run": Sealed(
        "A stage used to keep ten times the size of its input, because inside it is four times as "
        "wide. Now it keeps its input alone, and something beside it that the next cells look for."
    ),
    "A graph is recorded": Sealed(
        "You said yourself what the gradient is, so there is nothing to record. A checkpoint's "
        "`forward` saves its memory that way without doing anything for it. Its `backward` has to "
        "ask for a graph, with `torch.enable_grad()`.",
        answer=lambda graph: {
            (True, True): "in both",
            (True, False): "in forward",
            (False, True): "in backward",
            (False, False): "in neither",
        }[graph["forward"], graph["backward"]],
    ),
    "After PyTorch's checkpoint another": Sealed(
        "The library takes care of dropout: it goes back to the random state of the first run, and "
        "forward again afterwards. It does not take care of buffers. The running statistics move "
        "twice in each step, once for each run.",
        answer=lambda equal: (
            " and ".join(_LEFT[name] for name, is_equal in equal.items() if not is_equal)
            or "nothing"
        ),
    ),
    "Running mean, over that of the plain run": Sealed(
        "A tenth of the way, then a tenth of what is left: 0.19. It is as if `momentum` were 0.19 "
        "and not 0.1, so the average forgets about twice as fast. Training never reads it. The "
        "model you evaluate afterwards does."
    ),
    "Segments of 100 stages": Sealed(
        "There are k inputs and 100 / k outputs, and their sum is least where both are 10: memory "
        "for 19 outputs instead of 100, and no stage runs more than twice. That is the square root "
        "plan of Chen and others, 2016. `checkpoint_sequential` in PyTorch runs such segments; how "
        "many, you have to say."
    ),
    "Runs of one stage": Sealed(
        "Memory grows with log n, forward passes with n log n. The picture below contains itself, "
        "twice, at half the size. That is also how to write it: a function that calls itself twice."
    ),
    "Forward passes, 100 stages, 7 checkpoints": Sealed(
        "No schedule with seven checkpoints takes fewer passes. The plan by halves takes many "
        "more: most of the time it keeps fewer than seven inputs."
    ),
}

OPTIMAL = {
    "Best equal segments, of the plain run's peak": Sealed(
        "A few early stages hold about half of everything. Cuts at equal distances, made without "
        "looking, cannot be right both for them and for the rest.",
        answer=lambda share: (
            "about half or more" if share > 0.42 else "a third" if share > 0.29 else "a quarter"
        ),
    ),
    "FLOP more, in 75 % of the memory": Sealed(
        "A full second forward pass would be a third more. The table pays a third of that for a "
        "quarter of the memory. (At 100 slots the plain run itself does not fit: ten stages, each "
        "rounded up by itself, take a few slots more than their bytes.)",
        answer=lambda percent: min(
            ("3 %", "11 %", "33 %"), key=lambda word: abs(float(word[:-2]) - percent)
        ),
    ),
    "Measured peak, beside the planned one": Sealed(
        "The profiler saw beforehand whatever goes through PyTorch's allocator: buffers of "
        "operators, gradients on their way, even the look at the random generator's state. So all "
        "of it is in the plan. Scratch memory that a library such as oneDNN takes past the "
        "allocator is seen neither in the plan nor in the measurement.",
        answer=lambda off: (
            "some percent" if off > 0.01 else "less than 1 %" if off > 0 else "not one byte"
        ),
    ),
    "Budgets, of six, at which a drop wins": Sealed(
        "Three columns of the same numbers. The second confirms the table: trying every persistent "
        "schedule finds nothing cheaper. The third says that on these two networks, at these "
        "budgets, persistence costs nothing."
    ),
    "Fewer FLOP again, in the same memory": Sealed(
        "They choose among different things. The compiler sees single operators: it runs a GELU or "
        "a norm again for next to no FLOP, where our stages are all or nothing. But it runs each "
        "value again at most once, in one graph, and its budget is a share of what is saved "
        "between forward and backward, not of the peak. At 0 the whole region runs again at the "
        "start of the backward pass, and much of the peak comes back. The table bounds the peak.",
        answer=lambda more: (
            "equal"
            if abs(more[0] - more[1]) < 0.002
            else "the compiler"
            if more[0] < more[1]
            else "the table"
        ),
    ),
    "Sending a layer's activations, over its forward pass": Sealed(
        "So the card would wait for the link nearly all the time, and the same again on the way "
        "back. To run the layer once more costs one of these passes, and to fetch what it kept "
        "sixteen. Its input alone is another matter: it is a small part of what the layer keeps, "
        "and is gone before the layer is done."
    ),
    "Layers of the ResNet that wins most": Sealed(
        "In a deep network most stages are equal blocks, and equal segments suit those. In the "
        "short one, three early stages keep two fifths of all bytes, and the place of each cut "
        "decides."
    ),
    "Products run again": Sealed(
        "The rule is strict: what is not saved runs again, needed or not. In the backward pass the "
        "region runs from its beginning until the last thing that is needed is there again: here "
        "the mask of the dropout behind `down`. On the way saved outputs are handed over, and "
        "every other operator runs. That makes planning simple: each product has its price, "
        "whatever becomes of the others. It is the rule of eager mode. Under `torch.compile` the "
        "same policy is advice to a partitioner, and what nobody needs is not run again."
    ),
}
