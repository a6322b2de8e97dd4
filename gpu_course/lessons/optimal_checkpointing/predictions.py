"""What lesson 18 says once a guess is made."""

from __future__ import annotations

from gpu_course.puzzle.specification import Sealed

PREDICTIONS = {
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
