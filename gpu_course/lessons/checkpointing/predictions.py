"""What lesson 17 says once a guess is made."""

from __future__ import annotations

from gpu_course.puzzle.specification import Sealed

_LEFT = {
    "gradients": "the gradients",
    "buffers": "BatchNorm's statistics",
    "next_random": "the next random numbers",
}
"""What a run leaves behind, as the question calls it."""

PREDICTIONS = {
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
