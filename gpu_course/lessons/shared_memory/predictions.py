"""What lesson 04 says once a guess is made."""

from __future__ import annotations

from gpu_course.puzzle.specification import Sealed

PREDICTIONS = {
    "How often is a[20] loaded?": Sealed(
        "Once by thread 20 and once by each of the seven threads behind it. All but the last few "
        "numbers are asked for eight times, and each time the answer is the same."
    ),
    "Bytes loaded from global memory with a tile": Sealed(
        "There are as many reads as before, but now they go to the tile. Global memory is asked "
        "for each number only once."
    ),
    "What do the threads of block 0 read?": Sealed(
        "Each block has a tile of its own, and no way to see another block's. The tile starts "
        "*unset*, not zero, and it is gone when the block ends. What blocks tell each other goes "
        "through global memory."
    ),
    "Will the numbers in out be right?": Sealed(
        "The numbers are right, and the simulator reports a race. When all threads finish line 5 "
        "before any of them starts line 6, nothing can go wrong. But no GPU promises that: the "
        "block has two warps of 32 threads, and the GPU runs whichever is ready. So a test that "
        "passes proves nothing. What counts is whether anything *makes* the write come before the "
        "read."
    ),
    "Cells with a race": Sealed(
        "The line between the barriers does two things: it reads a neighbour's cell and writes "
        "its own, both in one interval. Only the cells at the two ends are safe: no thread writes "
        "cell 0, and only thread 7 touches cell 7. The cure: read into a local variable, *wait*, "
        "then write."
    ),
    "Which accesses are in one interval?": Sealed(
        "A loop comes round again: after its last line comes its first. A fast warp brings the "
        "next row while a slow one is still taking numbers from the old row. A tile that is used "
        "again needs a barrier *before* it is filled as well as after.",
        answer="row 0 read, row 1 written",
    ),
    "Six of eight threads at a barrier": Sealed(
        "NVIDIA's guide says that such code is likely to hang or to have unintended side effects. "
        "Often nothing happens at all, until it runs on another card or with another size.",
        answer="either; no document promises which",
    ),
    "Which threads bring two cells?": Sealed(
        "The loop `for k in range(t, places, threads)` is the grid-stride loop of lesson 01, on a "
        "tile. It fills any tile with any block, and you never have to work out which thread takes "
        "the corners."
    ),
    "Loaded beyond the results, in percent": Sealed(
        "A frame of one cell makes 18 by 18 cells out of 16 by 16: 68 more than the 256 results."
    ),
    "Sectors that one store of a warp touches": Sealed(
        "Each lane writes to a different row, and each row is a different sector: 32 of them for "
        "numbers that would fit in 4. If you read down the columns instead, the loads pay. One "
        "side has to be wrong as long as each thread writes what it has read itself."
    ),
    "Passes for stride 2": Sealed(
        "Only the even banks are asked, and each of them for two words. The second word is a "
        "**bank conflict**: 16 lanes wait for another pass. Lanes that ask for the *same* word do "
        "not wait for each other; the bank hands it to all of them at once."
    ),
    "Passes for a column of a 32 by 32 tile": Sealed(
        "All 32 words lie in one bank, so all 32 lanes stand in one queue. `transpose_tiled` "
        "reads its tile like this: global memory is read and written in order, but the tile takes "
        "32 passes where one would do."
    ),
}
