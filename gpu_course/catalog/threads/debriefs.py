"""What a learner reads after a pass in lesson 01."""

from __future__ import annotations

from gpu_course.catalog.builders import blocks_to_cover
from gpu_course.catalog.specification import Bonus, Debrief

_TRAFFIC = ("global_load.bytes", "global_store.bytes")
_BRANCHES = ("branches", "divergent_branches")

ZIP_ADD = Debrief(
    shows=_TRAFFIC,
    why=(
        "Each thread has a different number, so each sum has one owner and no thread has to wait. "
        "All three arrays use that number, so they cannot get out of step."
    ),
    alternative=(
        "In one block the thread's own number and its number in the whole launch are the same, so "
        "either is a good index here. With a second block only the latter stays right."
    ),
)

GUARD = Debrief(
    shows=(*_TRAFFIC, *_BRANCHES),
    why=(
        "A launch may be larger than the data, and the kernel itself decides who works. A thread "
        "that is turned away before its first access can do no harm."
    ),
    alternative=(
        "You can wrap the work in a condition, or let the threads without a cell return at once. "
        "Both are common. Once a kernel has barriers (lesson 04), only the first is safe."
    ),
)

MAP_2D = Debrief(
    shows=(*_TRAFFIC, *_BRANCHES),
    why=(
        "A thread has a number along each axis, and it has a cell only where both numbers lie "
        "inside the picture. With x along a row, neighbouring threads touch neighbouring cells of "
        "memory."
    ),
    alternative=(
        "One flat number per thread would do as well: a division gives the row, its remainder the "
        "column. That needs no second axis, and costs a division."
    ),
)

BROADCAST = Debrief(
    shows=(*_TRAFFIC, *_BRANCHES),
    why=(
        "Many threads may read one cell at the same time; only writing needs an owner. So nothing "
        "is copied or stretched: the small arrays are simply read with one index fixed at 0."
    ),
    alternative=(
        "a and b have two axes here, one of them of length 1. As plain vectors they would be "
        "a[row] and b[col]: what counts is which of the two numbers an array leaves out."
    ),
)

BLOCKS = Debrief(
    shows=(*_TRAFFIC, *_BRANCHES),
    why=(
        "The blocks before this one hold a block's worth of threads each, so counting them first "
        "gives every thread of the launch a number that no other has. The guard takes care of the "
        "last block."
    ),
    alternative=(
        "cuda.grid(1) is the same formula with a name, and what people write. Read a[i] once into "
        "a local variable or write it twice: the compiler makes the same code of both."
    ),
)

BLOCKS_2D = Debrief(
    shows=(*_TRAFFIC, *_BRANCHES),
    why=(
        "Rows and columns are numbered separately, each by block and thread along its own axis, "
        "and each has its own edge. A cell of bias is read by a whole column of threads, which is "
        "safe since no thread writes it."
    ),
    alternative=(
        "cuda.grid(2) gives both numbers at once, x first. Many libraries use a flat grid instead "
        "and divide by the number of columns, which suits any shape of array."
    ),
)

GRID_STRIDE = Debrief(
    shows=(*_TRAFFIC, *_BRANCHES),
    why=(
        "Each thread works out from its own number which cells are its share, and together the "
        "shares cover every cell exactly once. So the grid may have any size, whatever the size "
        "of the data."
    ),
    alternative=(
        "Begin at the thread's number and move on by the number of all threads, in a for loop or "
        "a while loop. One piece of neighbouring cells for each thread is right too, but then "
        "neighbouring threads read far apart, and lesson 03 shows what that costs."
    ),
)

GATHER = Debrief(
    shows=_TRAFFIC,
    why=(
        "Each thread owns the cell it writes and may read any cell, so two threads that want the "
        "same number do not disturb each other. The other way round, with every thread writing "
        "wherever its number belongs, two could hit one cell."
    ),
    alternative=(
        "In the shifted kernel a remainder folds any shift back into the array. With a shift known "
        "to be shorter than the array, one comparison does it without a division."
    ),
)

CLIP = Debrief(
    shows=(*_TRAFFIC, *_BRANCHES),
    why=(
        "Both limits are applied to every number, and the order of the two does not matter while "
        "low is below high. However you wrote the choice, each cell gets one value."
    ),
    alternative=(
        "min and max, or two plain ifs that change a local variable, become selects: no thread "
        "waits for another. An if with a store in each arm keeps its branches."
    ),
    bonus=Bonus(
        goal="Let the guard be the only branch.",
        counter="branches",
        limit=lambda case: (
            blocks_to_cover(case.sizes["size"], case.sizes["block"])
            * blocks_to_cover(case.sizes["block"], 32)
        ),
    ),
)
