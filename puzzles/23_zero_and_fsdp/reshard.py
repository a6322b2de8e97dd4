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
    # your code here (about 9 lines)
    pass
