"""What the first half of lesson 05 says once a guess is made."""

from __future__ import annotations

from gpu_course.puzzle.specification import Sealed

PREDICTIONS = {
    "Steps for 16 numbers": Sealed(
        "Eight are left, then four, two and one: four halvings. It takes 15 additions as before, "
        "but many happen at the same time. A thousand numbers take ten steps, and a million twenty."
    ),
    "Divergent warps in step 5": Sealed(
        "One lane of each warp adds, and the other 31 are switched off meanwhile: all four warps "
        "go through the branch. The tree needs fewer threads in every step, and yet no warp may "
        "rest before step 6."
    ),
    "Passes for cells 0, 2 ... 62": Sealed(
        "The cells 0 and 32 lie in one bank, and so do 2 and 34: each of the 16 even banks has two "
        "lanes waiting. In the next step the cells lie four apart, then eight, and it gets worse "
        "until too few threads are left."
    ),
    "What lane 1 holds": Sealed(
        "From lane 16 on, a lane looks beyond the warp in the first step, gets its own number back "
        "and adds it once again. Lane 1 ends with the numbers of lanes 1 to 31, and with that of "
        "lane 16 twice. With ones that looks like the sum, and with other numbers it is none. "
        "After shuffles downwards only lane 0 holds the sum of all 32."
    ),
    "larger, both ways round": Sealed(
        "Both comparisons with a NaN are false, and then `larger` takes its second number. So a "
        "NaN comes through where it is met last, and is lost where it is met first. A tree meets "
        "it wherever it happens to lie. `larger_or_nan` asks whether its first number is a NaN, "
        "and one in second place comes through anyway."
    ),
    "Atomics saved by 1,000 blocks": Sealed(
        "Each of the blocks adds 256 bins: 256,000 atomics where there were a million. The table "
        "is added once for each block, so it pays when a block counts many more values than there "
        "are bins.",
        answer="about three quarters",
    ),
}
