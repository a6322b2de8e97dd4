"""What lesson 00 says once a guess is made."""

from __future__ import annotations

from gpu_course.puzzle.specification import Sealed

PREDICTIONS = {
    "How many times is the last line carried out?": Sealed(
        "The launch runs the line once in each of its eight threads. You wrote the work of one "
        "thread, and the launch repeated it."
    ),
    "How many load instructions for eight threads?": Sealed(
        "Threads travel in groups of 32, called **warps**, and a warp asks memory once for all of "
        "its threads. Much of what is fast or slow on a GPU follows from this; lessons 02 and 03 "
        "are about it."
    ),
    "What does thread 8 get for a[8]?": Sealed(
        "A GPU does not check an index. Behind `a` there may be another of your arrays, and "
        "writing there changes it without a word. Or the memory belongs to no array, and the "
        "whole launch ends with an error that names no line. Both are hard to find.",
        answer="whatever lies behind the array",
    ),
    "Operations per byte that keep an H100 busy": Sealed(
        "Our kernel `double` does one operation for eight bytes: four read, four written. "
        "Computing is cheap, moving is expensive, and part 2 of the course is about that gap."
    ),
    "Threads an H100 holds at the same time": Sealed(
        "More than a quarter of a million. At any moment many of them wait for memory, and there "
        "are so many that others can go on meanwhile. That is how a GPU hides how slow memory is."
    ),
    "Machine code for 8.0, no PTX. Where does it run?": Sealed(
        "Machine code stays within its major version and moves up inside it. PTX runs on every "
        "newer version, at the price of a compilation when the program is loaded. A wheel that "
        '"has no kernel image" for your new GPU lacks both.',
        answer="8.0, 8.6 and 8.9",
    ),
}
