"""Wrong answers to l2_tile_order that learners give."""


# wrong-result, first-in, for lru_hits: A queue: first in, first out.
def first_in_first_out(reads, room):
    held, hits = [], 0
    for name in reads:
        if name in held:
            hits += 1
        else:
            held.append(name)
        if len(held) > room:
            held.pop(0)
    return hits


# wrong-result, last-out, for lru_hits: Takes the wrong end of the list.
def most_recently_used(reads, room):
    held, hits = [], 0
    for name in reads:
        if name in held:
            hits += 1
            held.remove(name)
        if len(held) == room and held:
            held.pop()
        if room:
            held.append(name)
    return hits


# wrong-result, misses, for lru_hits: Counts what has to be fetched.
def counts_misses(reads, room):
    held, missed = {}, 0
    for name in reads:
        missed += name not in held
        held.pop(name, None)
        held[name] = True
        if len(held) > room:
            del held[next(iter(held))]
    return missed


# wrong-result, no-limit, for lru_hits: A cache that holds everything.
def a_cache_without_end(reads, room):
    return len(reads) - len(set(reads))


# wrong-result, one-more, for lru_hits: Makes room one read too late.
def one_too_many(reads, room):
    held, hits = {}, 0
    for name in reads:
        if name in held:
            hits += 1
            del held[name]
        if len(held) > room:
            del held[next(iter(held))]
        held[name] = True
    return hits


# over-budget, line-by-line: The order of the numbers of the blocks.
def row_by_row(rows, cols, room):
    return [(row, col) for row in range(rows) for col in range(cols)]


# over-budget, line-by-line: Down the columns instead.
def column_by_column(rows, cols, room):
    return [(row, col) for col in range(cols) for row in range(rows)]


# over-budget, too-high: As many rows as there is room for, and none for the strips of the right.
def groups_as_high_as_the_cache(rows, cols, room):
    return [
        (row, col)
        for top in range(0, rows, room)
        for col in range(cols)
        for row in range(top, min(rows, top + room))
    ]


# over-budget, many-misses: Groups of rows, but each of them row by row.
def groups_gone_through_by_rows(rows, cols, room):
    height = max(2, room // 2)
    return [
        (row, col)
        for left in range(0, cols, height)
        for top in range(0, rows, height)
        for row in range(top, min(rows, top + height))
        for col in range(left, min(cols, left + height))
    ]


# wrong-result, missing: Whole groups alone.
def forgets_the_last_rows(rows, cols, room):
    height = room - 2
    return [
        (top * height + row, col)
        for top in range(rows // height)
        for col in range(cols)
        for row in range(height)
    ]


# wrong-result, outside: The last group is as high as the others.
def goes_below_the_last_row(rows, cols, room):
    height = room - 2
    return [
        (row, col)
        for top in range(0, rows, height)
        for col in range(cols)
        for row in range(top, top + height)
    ]
