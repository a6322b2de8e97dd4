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
    "Steps until eight threads know their sums": Sealed(
        "The distance doubles: 1, 2, 4. After a step over distance d a thread holds the sum of up "
        "to 2d numbers. So eight threads need three steps, a warp five, and a block of 1,024 ten."
    ),
    "Barriers for 128 threads": Sealed(
        "One for each distance from 1 to 64. At each of them four warps wait for the slowest. "
        "Within a warp no barrier is needed: there a shuffle brings the neighbour's sum."
    ),
    "Words moved for each number by three launches": Sealed(
        "The first launch reads a number and writes a sum, the third reads that sum and writes it "
        "again. The second has one number for each tile, which is next to nothing. On a large "
        "array the time is the bytes. A scan in one launch would have half as many to move.",
        answer=4,
    ),
    "Does the chain of blocks come to an end?": Sealed(
        "With room for all blocks it ends, with room for one it hangs. There the first block in "
        "was not block 0. It waits for the block before it, and that one is not let in before "
        "somebody ends. CUDA promises nothing about the order in which blocks start. What works on "
        "one card, with one grid, may hang on another."
    ),
    "Tiles that tile 9 looks at": Sealed(
        "It goes back over totals and stops at the first prefix, which holds everything before it. "
        "How far that is depends on who was quick. In a chain tile 9 would have to wait until tile "
        "8 has its prefix. Here it waits for nobody who has told a total."
    ),
    "Different sums of the four numbers": Sealed(
        "For floats too, a + b is b + a. But every addition rounds to 24 bits, and what is rounded "
        "away depends on who met first: next to 2 to the power of 24 a single 1 is lost, and two "
        "that have met before are not. So the same numbers give other bits where the order is left "
        "to chance."
    ),
    "What may the last block read?": Sealed(
        "In this run all parts were there, and the sum is right. But nothing makes a block's part "
        "reach memory before the news that the block has been counted. The simulator reports the "
        "missing order, whether a run shows it or not.",
        answer="parts that are not there yet",
    ),
}
