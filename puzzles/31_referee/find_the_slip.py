"""find_the_slip: a table that contradicts itself, and who is to blame.

    find_the_slip(printed, rules) -> dict, or None

    printed  dict from the name of each cell to what stands there: text
             such as "30.1", rounded to its last digit, or a whole
             number, which is a count and exact. All are positive
    rules    list of (total, terms, within). The cell `total` is the
             sum of the terms, each a pair (factor, powers): the factor
             times each cell of `powers`, to the power 1 or -1. The sum
             may be off by the part `within` of it, both ways: 0.05 is
             5 %. No cell stands in a rule twice; factors are positive
    return   None if all rules hold. Else a dict from each cell that may
             be the slip to a value that would mend it

A rounded number stands for all that round to it: "30.1" is 30.05 to
30.15, both included. A rule holds if its total and its sum can be the
same, with every cell anywhere in its range.

A cell may be the slip if all rules hold once it alone has another
value, positive, with as much room for rounding as before: 12.34 instead
of "30.1" stands for 12.29 to 12.39. A count is then another whole
number. Any value that does so will do. If there is no such cell, the
dict is empty.
"""

import math


def span(cell):
    """Returns the smallest and the largest number a cell stands for."""
    if isinstance(cell, int):
        return cell, cell
    half = 0.5 * 10.0 ** -len(cell.partition(".")[2])
    return float(cell) - half, float(cell) + half


def sum_of(rule, known):
    """Returns the smallest and the largest sum of a rule's terms.

    known is a dict from each cell to its smallest and largest number.
    """
    _, terms, within = rule
    least = most = 0.0
    for factor, powers in terms:
        low = high = factor
        for cell, power in powers.items():
            small, large = known[cell]
            low *= small if power > 0 else 1 / large
            high *= large if power > 0 else 1 / small
        least, most = least + low, most + high
    return (1 - within) * least, (1 + within) * most


def meet(one, other):
    """Tells whether two ranges have a number in common."""
    hair = 1 + 1e-12
    return one[0] <= other[1] * hair and other[0] <= one[1] * hair


def cells(rule):
    """Returns the names of all cells of a rule."""
    total, terms, _ = rule
    return {total, *(cell for _, powers in terms for cell in powers)}


def allowed(rule, cell, known):
    """Returns from where to where a rule lets one of its cells be.

    The other cells are as in `known`. It is a helper of find_the_slip:
    write it, or leave it.
    """
    # your code here (about 13 lines)


def find_the_slip(printed, rules):
    # your code here (about 19 lines)
    pass
