"""What lesson 02 says once a guess is made."""

from __future__ import annotations

from gpu_course.puzzle.specification import Sealed

PREDICTIONS = {
    "How many warps does a block of 100 threads take?": Sealed(
        "Warps are whole. The last one has 4 threads and takes the place of 32: its other 28 lanes "
        "are never at work. So choose a multiple of 32 for the size of a block."
    ),
    "Lines that the warp walks through": Sealed(
        "Three lines, and then the two of *both* arms. Each thread does five lines, and all of "
        "them take the time of seven. This is **divergence**: lanes of one warp go different ways, "
        "so the warp goes all of them."
    ),
    "The smallest group at which no warp splits": Sealed(
        "At 32 the groups are the warps themselves. A larger group is no guarantee: at 48 the cut "
        "goes through the second warp. Multiples of 32 are safe, and nothing else is."
    ),
    "Turns of the warp": Sealed(
        "As often as its longest lane. The lanes that are done wait, and the warp leaves the loop "
        "when the last one does."
    ),
    "What does lane 31 get?": Sealed(
        "Bits 0, 1 and 2 are one: 1 + 2 + 4. Every lane gets the whole ballot, whatever it voted "
        "itself."
    ),
    "What does lane 31 get from two lanes on?": Sealed(
        "A shuffle does not wrap around and does not complain. A lane that reaches past the end of "
        "the warp gets its own value back."
    ),
    "Which lanes hold the sum of all 32?": Sealed(
        "Lane 0 alone. The others reached past the end at some step, and have counted some "
        "numbers more than once."
    ),
    "A mask that names absent lanes": Sealed(
        "The guide calls it undefined. On one GPU it may work, on another it may give anything, or "
        "hang. The simulator calls it a hazard.",
        answer="nothing is promised",
    ),
    "Exchanges until 16 lanes know the largest": Sealed(
        "Pairs, then fours, eights, sixteens: each exchange doubles what a lane knows of. For a "
        "whole warp it is one more."
    ),
    "Lane 0 after four steps": Sealed(
        "Lane 0 has nobody before it, so it gets its own number and adds it: it doubles in each of "
        "the four steps. The lanes next to it go wrong in the same way. In the picture only the "
        "last lane, the one that is traced back, is right."
    ),
    "Warps so that no clock is lost": Sealed(
        "As many as the latency has clocks. When the last of them has issued, the result of the "
        "first is back."
    ),
    "Blocks of 256 threads with 64 registers each": Sealed(
        "A block takes 256 times 64 registers, 16,384, and the SM has 65,536. There are places for "
        "twice as many warps, and they stay empty."
    ),
}
