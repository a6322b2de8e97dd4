"""Wrong answers to reshard that people give."""


# wrong-result, rounded-down: What is left over is small.
def rounds_down(length, saved, ranks, rank):
    size, mine = length // saved, length // ranks
    begin, end = rank * mine, (rank + 1) * mine
    parts = []
    for file in range(saved):
        first = max(begin, file * size) - file * size
        last = min(end, (file + 1) * size) - file * size
        if first < last:
            parts.append((file, first, last))
    return parts


# wrong-result, whole-files: A file is read or it is not.
def reads_whole_files(length, saved, ranks, rank):
    size, mine = -(-length // saved), -(-length // ranks)
    begin, end = rank * mine, min(length, (rank + 1) * mine)
    parts = []
    for file in range(saved):
        first = max(begin, file * size) - file * size
        last = min(end, (file + 1) * size) - file * size
        if first < last:
            parts.append((file, 0, size))
    return parts


# wrong-result, from-the-start: Places are places on the line.
def counts_from_the_start(length, saved, ranks, rank):
    size, mine = -(-length // saved), -(-length // ranks)
    begin, end = rank * mine, min(length, (rank + 1) * mine)
    parts = []
    for file in range(saved):
        first = max(begin, file * size) - file * size
        last = min(end, (file + 1) * size) - file * size
        if first < last:
            parts.append((file, first + file * size, last + file * size))
    return parts


# wrong-result, lengths: Where to begin, and how many.
def says_how_many(length, saved, ranks, rank):
    size, mine = -(-length // saved), -(-length // ranks)
    begin, end = rank * mine, min(length, (rank + 1) * mine)
    parts = []
    for file in range(saved):
        first = max(begin, file * size) - file * size
        last = min(end, (file + 1) * size) - file * size
        if first < last:
            parts.append((file, first, last - first))
    return parts


# wrong-result, filling: A slice is a slice, to its end.
def reads_the_filling(length, saved, ranks, rank):
    size, mine = -(-length // saved), -(-length // ranks)
    begin, end = rank * mine, (rank + 1) * mine
    parts = []
    for file in range(saved):
        first = max(begin, file * size) - file * size
        last = min(end, (file + 1) * size) - file * size
        if first < last:
            parts.append((file, first, last))
    return parts


# wrong-result, everything: Load it all and cut it anew.
def reads_everything(length, saved, ranks, rank):
    size, mine = -(-length // saved), -(-length // ranks)
    begin, end = 0, length + 0 * mine
    parts = []
    for file in range(saved):
        first = max(begin, file * size) - file * size
        last = min(end, (file + 1) * size) - file * size
        if first < last:
            parts.append((file, first, last))
    return parts


# wrong-result, empty: An empty part does no harm.
def names_every_file(length, saved, ranks, rank):
    size, mine = -(-length // saved), -(-length // ranks)
    begin, end = rank * mine, min(length, (rank + 1) * mine)
    parts = []
    for file in range(saved):
        first = max(begin, file * size) - file * size
        last = min(end, (file + 1) * size) - file * size
        parts.append((file, first, max(first, last)))
    return parts


# wrong-result, order: Any order will do.
def last_file_first(length, saved, ranks, rank):
    size, mine = -(-length // saved), -(-length // ranks)
    begin, end = rank * mine, min(length, (rank + 1) * mine)
    parts = []
    for file in reversed(range(saved)):
        first = max(begin, file * size) - file * size
        last = min(end, (file + 1) * size) - file * size
        if first < last:
            parts.append((file, first, last))
    return parts
