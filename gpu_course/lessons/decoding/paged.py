"""Key-value caches in pages: how sequences are laid out, and what is wrong with a page table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpu_course.errors import CourseError

PAGE = 16
"""Tokens of a page."""
NO_PAGE = -1
"""What a page table holds past the last page that a sequence needs."""


@dataclass(frozen=True)
class Fault:
    """What is wrong with one entry of a page table.

    Attributes:
        sequence: whose.
        page: the number of the page, or None where it is the length that is wrong.
        fact: a sentence with both.
    """

    sequence: int
    page: int | None
    fact: str


def pages_needed(length: int) -> int:
    """Returns how many pages so many tokens take.

    >>> [pages_needed(length) for length in (1, 16, 17)]
    [1, 1, 2]
    """
    return -(-length // PAGE)


def shuffled_table(
    rng: np.random.Generator, lengths: Sequence[int], spare: int = 2
) -> tuple[np.ndarray, int]:
    """Returns a page table for sequences of these lengths, and the number of pages of its cache.

    Pages lie in an order that is drawn, so neighbours of a sequence are no neighbours in memory.

    Args:
        rng: what draws the order.
        lengths: the tokens of each sequence.
        spare: pages that belong to no sequence.

    Returns:
        int32 (sequences, most), and a number.
    """
    needed = [pages_needed(length) for length in lengths]
    free = rng.permutation(sum(needed) + spare)
    table = np.full((len(needed), max(needed)), NO_PAGE, np.int32)
    taken = 0
    for sequence, count in enumerate(needed):
        table[sequence, :count] = free[taken : taken + count]
        taken += count
    return table, len(free)


def faults(page_table: np.ndarray, length: np.ndarray, pages: int) -> tuple[Fault, ...]:
    """Returns what is wrong with a page table, sequence by sequence.

    A kernel that meets such a table reads or writes what belongs to somebody else. Where the
    number lies outside the cache the simulator sees it; where it lies inside, nobody does.

    Args:
        page_table: int32 (sequences, most).
        length: int32 (sequences,), the tokens of each, the newest included.
        pages: how many the cache has.

    >>> table = np.array([[3, 0], [3, -1]], np.int32)
    >>> [each.fact for each in faults(table, np.array([20, 5]), 4)]
    ['sequence 1 has page 3, which is page 0 of sequence 0']
    """
    found = []
    owner: dict[int, tuple[int, int]] = {}
    for sequence, tokens in enumerate(length.tolist()):
        row = page_table[sequence].tolist()
        if tokens < 1:
            found.append(Fault(sequence, None, f"sequence {sequence} has {tokens} tokens"))
            continue
        needed = pages_needed(tokens)
        if needed > len(row):
            fact = f"sequence {sequence} has {tokens} tokens, and its {len(row)} pages hold "
            found.append(Fault(sequence, None, f"{fact}{len(row) * PAGE}"))
        for place, page in enumerate(row[:needed]):
            if not 0 <= page < pages:
                fact = f"page {place} of sequence {sequence} is {page}; there are 0 to {pages - 1}"
                found.append(Fault(sequence, page, fact))
            elif page in owner:
                other, its_place = owner[page]
                fact = f"sequence {sequence} has page {page}, which is page {its_place}"
                found.append(Fault(sequence, page, f"{fact} of sequence {other}"))
            else:
                owner[page] = sequence, place
    return tuple(found)


def refuse_faults(page_table: np.ndarray, length: np.ndarray, pages: int) -> None:
    """Refuses a page table that is no good; see `faults`.

    Raises:
        CourseError: with the sequence, the page and what to try.
    """
    if found := faults(page_table, length, pages):
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise CourseError(
            f"{found[0].fact}{more}",
            "give every sequence pages of its own, one for each 16 tokens that it has",
        )
