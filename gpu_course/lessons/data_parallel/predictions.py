"""What lesson 22 says once a guess is made."""

from __future__ import annotations

from gpu_course.puzzle.specification import Sealed


def _which_direction(off: float) -> str:
    """Returns the choice for how far the mean lies from the gradient, as a part of its length."""
    if off < 1e-9:
        return "the gradient of the batch"
    return "a quarter of it" if abs(off - 0.75) < 1e-9 else "in another direction"


def _lower_or_higher(ratio: float) -> str:
    if 0.9 <= ratio <= 1.1:
        return "about the same"
    return "higher" if ratio > 1 else "lower"


def _times(ratio: float) -> float:
    return min((0.3, 1, 3, 10), key=lambda choice: max(choice / ratio, ratio / choice))


PREDICTIONS = {
    "The mean of the gradients of four equal parts of a batch is": Sealed(
        "A loss is the mean over its rows, so its gradient is one too, and a mean may be formed in "
        "parts if all of them are equally large. Only the last digits differ: the order of the "
        "additions is another one.",
        answer=_which_direction,
    ),
    "Messages of DDP in its first backward pass, with 53 parameters": Sealed(
        "In the first pass it puts all gradients into one bucket, and looks in which order they "
        "come. Then rank 0 tells the others that order, and from the second pass on there are "
        "buckets filled by it. With a warm-up of one pass you would have measured something else."
    ),
    "Milliseconds that a step waits for its messages, with 6 buckets": Sealed(
        "Each of the six takes 10 milliseconds and is over before the next one is ready, but for "
        "the last: it is ready when the pass ends, and nothing is left to hide it. More buckets "
        "leave less of it, until each costs more than it hides."
    ),
    "Rows of 10 that the samplers of 4 ranks hand out twice": Sealed(
        "Every rank gets three, since a collective needs everybody, and four times three are two "
        "too many. The sampler begins again from the front of its order. Which rows these are "
        "depends on the number of ranks."
    ),
    "32 times the batch, the same rate and epochs: the loss is": Sealed(
        "There are 32 times fewer steps, and each is as long as before. A mean over more rows "
        "points in a better direction; it does not go any farther.",
        answer=_lower_or_higher,
    ),
    "Times as sharp as with a small batch: a large one, the same rate": Sealed(
        "A small batch at a high rate is thrown about, and cannot stay where the walls are steep. "
        "The large batch moves calmly and comes to rest there. So far Keskar and others are "
        "right, and the next cell asks whether it is the batch or the rate.",
        answer=_times,
    ),
    "Versions that a gradient is old, with 8 equally fast workers": Sealed(
        "While one of them works, each of the seven others pushes once, and each push is a new "
        "version. At the very start they are younger: all have pulled version 0."
    ),
}
