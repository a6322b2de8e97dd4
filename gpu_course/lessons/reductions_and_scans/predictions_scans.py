"""What the second half of lesson 05 says once a guess is made."""

from __future__ import annotations

from gpu_course.puzzle.specification import Sealed

PREDICTIONS_SCANS = {
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
