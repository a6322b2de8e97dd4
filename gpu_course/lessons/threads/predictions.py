"""What lesson 01 says once a guess is made."""

from __future__ import annotations

from gpu_course.puzzle.specification import Sealed

PREDICTIONS = {
    "Who signs out[2]?": Sealed(
        "Nothing ties thread 5 to cell 5. Your index decides which thread works on which cell, and "
        "nothing else does."
    ),
    "Which threads miss the array?": Sealed(
        "A thread that fails the `if` touches nothing, so 9 and 11 are safe. Threads 8 and 10 "
        "passed it: being even says nothing about having a cell."
    ),
    "Which shape fits a block of (6, 4)?": Sealed(
        "A block is given as (x, y): its width, then its height. An array is given as (rows, "
        "columns): its height, then its width. Each order is the other one reversed, and every "
        "CUDA program has to live with both."
    ),
    "How many different cells are read?": Sealed(
        "Fifteen threads, five cells, three readers for each cell, and not one complaint. Any "
        "number of threads may *read* a cell. Only writing needs an owner."
    ),
    "How many blocks of 4 for 10 cells?": Sealed(
        "Division, rounded *up*. In whole numbers that is `(size + block - 1) // block`, or "
        "shorter `-(-size // block)`: `//` rounds the negative number down, and the minus sign in "
        "front turns that into rounding up."
    ),
    "Blocks of 4: the cell of thread 1 in block 37": Sealed(
        "The 37 blocks before it take 37 times 4 cells, and thread 1 is one further: `blockIdx.x * "
        "blockDim.x + threadIdx.x`. You need this rule in every kernel, so write it out by hand at "
        "least once, in the next puzzle. From then on `cuda.grid(1)` says it for you."
    ),
    "Threads without a cell": Sealed(
        "The blocks stick out on the right in x, at the bottom in y, and the one in the corner on "
        "both sides. That is why a guard in two dimensions has two parts."
    ),
    "How many cells does thread 2 do?": Sealed(
        "No cell appears twice and none is left out. Some threads do one cell more than others, "
        "never two."
    ),
    "What stands in out[5]?": Sealed(
        "The same kernel, the same data, two results: a **race**. Whichever thread comes last "
        "wins, and a GPU does not promise which one that is."
    ),
    "Divergent branches in relu_branch": Sealed(
        "A branch costs extra only where it splits a warp: the first warp here, not the second. "
        "`max` is no branch at all. Each thread works out both values and keeps one, which is "
        "called a *select*."
    ),
}
