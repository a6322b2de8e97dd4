"""best_fusion: the kernels of a chain that move the fewest bytes.

    best_fusion(operations, sizes, keep) -> list of lists of int

    operations, sizes, keep  as in traffic

Return groups of consecutive operations, in their order: each becomes
one kernel. The bytes that all kernels move, counted as in traffic, must
be the fewest that any such groups come to. Any best ones will do.

Not everything fits into one kernel:

    a "contraction" (a product of matrices) has its results tile by
        tile in registers: it must come first in its group, and only
        "map" operations (each number by itself) may follow it
    a "row" operation (softmax, a norm) needs whole rows: in its group
        there may be maps and other row operations, no contraction

There are at most 18 operations, and at least one.
"""


def best_fusion(operations, sizes, keep):
    # answer
    count = len(operations)

    def allowed(first, end):
        kinds = [each["kind"] for each in operations[first:end]]
        if "contraction" in kinds[1:]:
            return False
        return kinds[0] != "contraction" or "row" not in kinds

    def moved(first, end):
        own = operations[first:end]
        made = {name for each in own for name in each["writes"]}
        needed = {name for each in own for name in each["reads"]}
        later = {name for each in operations[end:] for name in each["reads"]}
        names = (needed - made) | (made & (later | set(keep)))
        return sum(sizes[name] for name in names)

    # best[k]: the fewest bytes of the operations from k on, and the
    # groups that come to them.
    best = [None] * count + [(0, [])]
    for first in range(count - 1, -1, -1):
        choices = []
        for end in range(first + 1, count + 1):
            if allowed(first, end):
                rest, groups = best[end]
                group = list(range(first, end))
                total = moved(first, end) + rest
                choices.append((total, [group, *groups]))
        best[first] = min(choices, key=lambda choice: choice[0])
    return best[0][1]
    # end answer
