"""Wrong answers to traffic that learners give."""


def _sets(operations, group):
    own = [operations[number] for number in group]
    others = [each for number, each in enumerate(operations) if number not in group]
    made = {name for each in own for name in each["writes"]}
    needed = {name for each in own for name in each["reads"]}
    elsewhere = {name for each in others for name in each["reads"]}
    return own, made, needed, elsewhere


# wrong-result, read-twice: Every operation reads its inputs.
def each_operation_reads(operations, sizes, keep, groups):
    found = []
    for group in groups:
        own, made, _, elsewhere = _sets(operations, group)
        total = sum(sizes[name] for each in own for name in each["reads"] if name not in made)
        left = made & (elsewhere | set(keep))
        found.append(total + sum(sizes[name] for name in left))
    return found


# wrong-result, writes-all: A kernel stores all its results.
def writes_all_it_makes(operations, sizes, keep, groups):
    found = []
    for group in groups:
        _, made, needed, _ = _sets(operations, group)
        found.append(sum(sizes[name] for name in (needed - made) | made))
    return found


# wrong-result, keeps-forgotten: What no other kernel reads is not written.
def forgets_what_is_kept(operations, sizes, keep, groups):
    found = []
    for group in groups:
        _, made, needed, elsewhere = _sets(operations, group)
        moved = (needed - made) | (made & elsewhere)
        found.append(sum(sizes[name] for name in moved))
    return found


# wrong-result, as-listed: The first number in a group is the operation that runs first.
def in_the_order_of_the_list(operations, sizes, keep, groups):
    found = []
    for group in groups:
        _, _, _, elsewhere = _sets(operations, group)
        made, moved = set(), set()
        for number in group:
            moved |= set(operations[number]["reads"]) - made
            made |= set(operations[number]["writes"])
        moved |= made & (elsewhere | set(keep))
        found.append(sum(sizes[name] for name in moved))
    return found


# wrong-result, own-read: An operation reads, whoever has written.
def reads_its_own(operations, sizes, keep, groups):
    found = []
    for group in groups:
        _, made, needed, elsewhere = _sets(operations, group)
        left = made & (elsewhere | set(keep))
        total = sum(sizes[name] for name in needed)
        found.append(total + sum(sizes[name] for name in left))
    return found


# wrong-result, skips-forgotten: A kernel hands its results to the next one.
def hands_to_the_next(operations, sizes, keep, groups):
    found = []
    for turn, group in enumerate(groups):
        _, made, needed, _ = _sets(operations, group)
        after = groups[turn + 1] if turn + 1 < len(groups) else []
        wanted = {name for k in after for name in operations[k]["reads"]}
        moved = (needed - made) | (made & (wanted | set(keep)))
        found.append(sum(sizes[name] for name in moved))
    return found


# wrong-result, no-writes: Stores are free, since nobody waits for them.
def stores_are_free(operations, sizes, keep, groups):
    found = []
    for group in groups:
        _, made, needed, _ = _sets(operations, group)
        found.append(sum(sizes[name] for name in needed - made))
    return found
