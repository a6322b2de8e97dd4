"""Wrong answers to mma_fragment that learners give."""


def _right(matrix, lane, number):
    group, place = divmod(lane, 4)
    pair = 2 * place + number % 2
    if matrix == "A":
        return group + 8 * (number // 2 % 2), pair + 8 * (number // 4)
    if matrix == "B":
        return pair + 8 * (number // 2), group
    return group + 8 * (number // 2), pair


# wrong-result, right-first: The second pair of A lies to the right, as one reads.
def to_the_right_first(matrix, lane, number):
    row, col = _right(matrix, lane, number)
    if matrix == "A" and number in (2, 3):
        return row - 8, col + 8
    if matrix == "A" and number in (4, 5):
        return row + 8, col - 8
    return row, col


# wrong-result, lies-down: B as C, with its rows across the lanes.
def b_lies_down(matrix, lane, number):
    if matrix != "B":
        return _right(matrix, lane, number)
    return lane // 4 + 8 * (number // 2), 2 * (lane % 4) + number % 2


# wrong-result, eights: Eight lanes make a group, since there are eight rows.
def groups_of_eight(matrix, lane, number):
    return _right(matrix, lane % 8 * 4 + lane // 8, number)


# wrong-result, apart: The two of a pair lie eight apart, and the others next to them.
def pairs_lie_apart(matrix, lane, number):
    swapped = {0: 0, 1: 2, 2: 1, 3: 3}[number % 4] + 4 * (number // 4)
    return _right("C", lane, swapped) if matrix == "C" else _right(matrix, lane, number)


# wrong-result, row-major: The elements in order, so many for each lane.
def one_after_the_other(matrix, lane, number):
    cols, held = {"A": (16, 8), "B": (8, 4), "C": (8, 4)}[matrix]
    return divmod(lane * held + number, cols)


# wrong-result, held-twice: The lower half is forgotten.
def upper_half_alone(matrix, lane, number):
    row, col = _right(matrix, lane, number)
    return (row % 8, col) if matrix == "C" else (row, col)


# wrong-result, outside: Sixteen columns in B and C, too.
def sixteen_columns(matrix, lane, number):
    group, place = divmod(lane, 4)
    pair = 2 * place + number % 2
    return group, pair + 8 * (number // 2)
