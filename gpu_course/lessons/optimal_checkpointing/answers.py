"""What a run's result says of a choice, for the predictions of lesson 18."""

from __future__ import annotations

from collections.abc import Sequence


def share_of_the_layers(share: float) -> str:
    words = {"none": 0.0, "a third": 1 / 3, "two thirds": 2 / 3, "all": 1.0}
    return min(words, key=lambda word: abs(words[word] - share))


def share_of_the_peak(share: float) -> str:
    return "about half or more" if share > 0.42 else "a third" if share > 0.29 else "a quarter"


def percent_more(percent: float) -> str:
    """Returns the choice in per cent that a number of them is nearest to."""
    return min(("3 %", "11 %", "33 %"), key=lambda word: abs(float(word[:-2]) - percent))


def off_by(off: float) -> str:
    """Returns how far a measured peak is from the planned one, as a part of it."""
    return "some percent" if off > 0.01 else "less than 1 %" if off > 0 else "not one byte"


def who_takes_fewer(more: Sequence[float]) -> str:
    """Returns whose FLOP are fewer, of those that the compiler and the table add to a plain run."""
    compiler, table = more
    if abs(compiler - table) < 0.002:
        return "equal"
    return "the compiler" if compiler < table else "the table"
