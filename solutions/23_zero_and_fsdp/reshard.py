"""reshard: what a rank reads of slices saved by others.

    reshard(length, saved, ranks, rank) -> [(file, first, end), ...]

    length  how many numbers there are, without any filling
    saved   so many ranks have saved them; file f is the slice of rank f
    ranks   so many load them
    rank    which of these asks

All slices of a cut have the same length, rounded up; what goes beyond
the end is filling. In the list stand the files to read from and the
numbers to read, from `first` up to `end`, which is not read; both are
counted from the beginning of that file. One after the other they are
the new slice of this rank, without filling. Nothing else is read, and
there is no empty part.
"""


def reshard(length, saved, ranks, rank):
    # answer
    size, mine = -(-length // saved), -(-length // ranks)
    begin, end = rank * mine, min(length, (rank + 1) * mine)
    parts = []
    for file in range(saved):
        first = max(begin, file * size) - file * size
        last = min(end, (file + 1) * size) - file * size
        if first < last:
            parts.append((file, first, last))
    return parts
    # end answer
