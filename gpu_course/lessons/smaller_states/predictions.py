"""What lesson 20 says once a guess is made."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_course.puzzle.specification import Sealed


def _needs_a_power(trained: Sequence[bool]) -> str:
    """Which moment needs a power, from whether a run with it on the first, second, both trained."""
    first, second, _ = trained
    return "the second" if second and not first else "the first" if first else "both"


PREDICTIONS = {
    "Share in 8 of 64 directions": Sealed(
        "So why keep moments for all 64? **GaLore** projects the gradient onto its main "
        "directions, lets Adam work there, and brings Adam's step back. The weight stays whole, "
        "and over time every part of it can change. Only the moments are small.",
        answer=lambda share: (
            "over 80 %" if share > 0.8 else "about 50 %" if share > 0.3 else "about 12 %"
        ),
    ),
    "The smallest rank that reaches the goal": Sealed(
        "Between two choices of directions the weight can move in these few only, so a smaller "
        "rank is further behind after the same number of steps here. That is not all that can "
        "happen: see below."
    ),
    "Cells that the best reading hits": Sealed(
        "No reading fits. So which one explains which cell? Our own, GiB, fits the 350M row for "
        "plain Adam. Leaving the bases out brings 350M with GaLore within a hundredth, and puts 1B "
        "6 % too low."
    ),
    "Numbers that Adafactor keeps": Sealed(
        "One number for each row and one for each column. Their product stands in for the table of "
        "squares. By default it keeps no first moment at all."
    ),
    "A gradient that is not zero has": Sealed(
        "The gradient of A has B as a factor, and the gradient of B has A. With both at zero "
        "nothing ever moves; with both random the model forgets before the first update. So one of "
        "them begins at zero.",
        answer=lambda moving: {0: "neither", 1: "".join(moving), 2: "both"}[len(moving)],
    ),
    "The loss with evenly spread bytes": Sealed(
        "A number smaller than half a step of its block comes back as 0, and Adam divides by one "
        "of its moments. So the loss explodes.",
        answer=lambda losses: (
            "far above the start"
            if losses[1] > 2 * losses[0]
            else "what it was at the start"
            if losses[1] > 0.9 * losses[0]
            else "a little higher"
            if losses[1] > 1.02 * losses[2]
            else "as with float32"
        ),
    ),
    "The moment that needs a power": Sealed(
        "The second moment holds *squares*: what is a hundredth of the largest gradient is a "
        "ten-thousandth of the largest square. And it is the one that is divided by. Where the "
        "first moment is rounded to 0, a step is lost; where the second is, the step is endless. "
        "To be on the safe side we take power 2 for the first moment and 4 for the second.",
        answer=_needs_a_power,
    ),
    "Sharing leaves as it is": Sealed(
        "The backward pass still needs what each layer was given, so the activations stay, to the "
        "byte. So does the work."
    ),
    "GB of parameters, gradients and Adam's moments": Sealed(
        "Four numbers for each parameter, in two bytes each: more than twice what the card has."
    ),
}
