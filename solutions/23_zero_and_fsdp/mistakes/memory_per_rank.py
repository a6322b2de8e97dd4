"""Wrong answers to memory_per_rank that people give."""


# wrong-result, rounded-down: What is left over is small.
def rounds_down(units, ranks, stage, bucket):
    def slice_of(length):
        return length // ranks

    total = sum(units)
    if stage == 0 or ranks == 1:
        return 16 * total
    if stage == 1:
        return 4 * total + 12 * slice_of(total)
    if stage == 2:
        return 2 * total + 14 * slice_of(total) + 2 * min(bucket, total)
    whole = [ranks * slice_of(unit) for unit in units]
    pairs = [sum(whole[k : k + 2]) for k in range(len(whole))]
    return 16 * sum(whole) // ranks + 2 * max(pairs) + 2 * max(whole)


# wrong-result, cut-as-one: Sixteen bytes, divided by the ranks.
def cuts_the_model_as_one(units, ranks, stage, bucket):
    def slice_of(length):
        return -(-length // ranks)

    total = sum(units)
    if stage == 0 or ranks == 1:
        return 16 * total
    if stage == 1:
        return 4 * total + 12 * slice_of(total)
    if stage == 2:
        return 2 * total + 14 * slice_of(total) + 2 * min(bucket, total)
    whole = [ranks * slice_of(unit) for unit in units]
    pairs = [sum(whole[k : k + 2]) for k in range(len(whole))]
    return 16 * slice_of(total) + 2 * max(pairs) + 2 * max(whole)


# wrong-result, no-buffers: The three formulas, rounded up.
def by_the_paper_alone(units, ranks, stage, bucket):
    def slice_of(length):
        return -(-length // ranks)

    total = sum(units)
    if stage == 0 or ranks == 1:
        return 16 * total
    if stage == 1:
        return 4 * total + 12 * slice_of(total)
    if stage == 2:
        return 2 * total + 14 * slice_of(total)
    whole = [ranks * slice_of(unit) for unit in units]
    pairs = [sum(whole[k : k + 2]) for k in range(len(whole))]
    return 16 * sum(whole) // ranks + 0 * max(pairs)


# wrong-result, bucket-beyond: The bucket has the size that the configuration says.
def bucket_as_it_is(units, ranks, stage, bucket):
    def slice_of(length):
        return -(-length // ranks)

    total = sum(units)
    if stage == 0 or ranks == 1:
        return 16 * total
    if stage == 1:
        return 4 * total + 12 * slice_of(total)
    if stage == 2:
        return 2 * total + 14 * slice_of(total) + 2 * bucket
    whole = [ranks * slice_of(unit) for unit in units]
    pairs = [sum(whole[k : k + 2]) for k in range(len(whole))]
    return 16 * sum(whole) // ranks + 2 * max(pairs) + 2 * max(whole)


# wrong-result, one-unit: Gather, use, free: one unit is whole.
def one_unit_at_a_time(units, ranks, stage, bucket):
    def slice_of(length):
        return -(-length // ranks)

    total = sum(units)
    if stage == 0 or ranks == 1:
        return 16 * total
    if stage == 1:
        return 4 * total + 12 * slice_of(total)
    if stage == 2:
        return 2 * total + 14 * slice_of(total) + 2 * min(bucket, total)
    whole = [ranks * slice_of(unit) for unit in units]
    pairs = [sum(whole[k : k + 2]) for k in range(len(whole))]
    return 16 * sum(whole) // ranks + 4 * max(whole) + 0 * max(pairs)


# wrong-result, two-largest: Two units are whole; the worst case is the two largest.
def two_largest_units(units, ranks, stage, bucket):
    def slice_of(length):
        return -(-length // ranks)

    total = sum(units)
    if stage == 0 or ranks == 1:
        return 16 * total
    if stage == 1:
        return 4 * total + 12 * slice_of(total)
    if stage == 2:
        return 2 * total + 14 * slice_of(total) + 2 * min(bucket, total)
    whole = [ranks * slice_of(unit) for unit in units]
    pairs = [sum(whole[k : k + 2]) for k in range(len(whole))]
    return 16 * sum(whole) // ranks + 2 * sum(sorted(whole)[-2:]) + 2 * max(whole) + 0 * max(pairs)


# wrong-result, no-gradient: The gradients are cut as well.
def no_whole_gradient(units, ranks, stage, bucket):
    def slice_of(length):
        return -(-length // ranks)

    total = sum(units)
    if stage == 0 or ranks == 1:
        return 16 * total
    if stage == 1:
        return 4 * total + 12 * slice_of(total)
    if stage == 2:
        return 2 * total + 14 * slice_of(total) + 2 * min(bucket, total)
    whole = [ranks * slice_of(unit) for unit in units]
    pairs = [sum(whole[k : k + 2]) for k in range(len(whole))]
    return 16 * sum(whole) // ranks + 2 * max(pairs)


# wrong-result, no-filling: A whole unit has as many numbers as the unit has.
def gathered_without_filling(units, ranks, stage, bucket):
    def slice_of(length):
        return -(-length // ranks)

    total = sum(units)
    if stage == 0 or ranks == 1:
        return 16 * total
    if stage == 1:
        return 4 * total + 12 * slice_of(total)
    if stage == 2:
        return 2 * total + 14 * slice_of(total) + 2 * min(bucket, total)
    whole = [ranks * slice_of(unit) for unit in units]
    pairs = [sum(whole[k : k + 2]) for k in range(len(whole))]
    return (
        16 * sum(whole) // ranks
        + 2 * max(map(sum, zip(units, [*units[1:], 0])))
        + 2 * max(units)
        + 0 * max(pairs)
    )


# wrong-result, no-master: Adam has two moments of 4 bytes.
def moments_alone(units, ranks, stage, bucket):
    def slice_of(length):
        return -(-length // ranks)

    total = sum(units)
    if stage == 0 or ranks == 1:
        return 12 * total
    if stage == 1:
        return 4 * total + 8 * slice_of(total)
    if stage == 2:
        return 2 * total + 10 * slice_of(total) + 2 * min(bucket, total)
    whole = [ranks * slice_of(unit) for unit in units]
    pairs = [sum(whole[k : k + 2]) for k in range(len(whole))]
    return 12 * sum(whole) // ranks + 2 * max(pairs) + 2 * max(whole)


# wrong-result, alone: The same code for any number of ranks.
def buffers_for_one(units, ranks, stage, bucket):
    def slice_of(length):
        return -(-length // ranks)

    total = sum(units)
    if stage == 0:
        return 16 * total
    if stage == 1:
        return 4 * total + 12 * slice_of(total)
    if stage == 2:
        return 2 * total + 14 * slice_of(total) + 2 * min(bucket, total)
    whole = [ranks * slice_of(unit) for unit in units]
    pairs = [sum(whole[k : k + 2]) for k in range(len(whole))]
    return 16 * sum(whole) // ranks + 2 * max(pairs) + 2 * max(whole)


# wrong-result, stage-2-for-1: A rank needs the gradients of its slice alone, so it has no others.
def gradients_cut_in_stage_1(units, ranks, stage, bucket):
    def slice_of(length):
        return -(-length // ranks)

    total = sum(units)
    if stage == 0 or ranks == 1:
        return 16 * total
    if stage == 1:
        return 2 * total + 14 * slice_of(total)
    if stage == 2:
        return 2 * total + 14 * slice_of(total) + 2 * min(bucket, total)
    whole = [ranks * slice_of(unit) for unit in units]
    pairs = [sum(whole[k : k + 2]) for k in range(len(whole))]
    return 16 * sum(whole) // ranks + 2 * max(pairs) + 2 * max(whole)


# wrong-result, not-whole: Divided is divided.
def divides_exactly(units, ranks, stage, bucket):
    def slice_of(length):
        return length / ranks

    total = sum(units)
    if stage == 0 or ranks == 1:
        return 16 * total
    if stage == 1:
        return 4 * total + 12 * slice_of(total)
    if stage == 2:
        return 2 * total + 14 * slice_of(total) + 2 * min(bucket, total)
    whole = [ranks * slice_of(unit) for unit in units]
    pairs = [sum(whole[k : k + 2]) for k in range(len(whole))]
    return 16 * sum(whole) / ranks + 2 * max(pairs) + 2 * max(whole)
