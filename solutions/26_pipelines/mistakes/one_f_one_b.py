"""Wrong answers to one_f_one_b that learners give."""


def _orders(ranks, microbatches, warm_of):
    orders = []
    for rank in range(ranks):
        warm = min(warm_of(rank), microbatches)
        order = [f"{rank}F{each}" for each in range(warm)]
        for each in range(microbatches):
            order.append(f"{rank}B{each}")
            if warm + each < microbatches:
                order.append(f"{rank}F{warm + each}")
        orders.append(order)
    return orders


# over-budget, holds-too-many: Lets as many in on every rank as on the first.
def every_rank_as_the_first(ranks, microbatches):
    return _orders(ranks, microbatches, lambda rank: ranks)


# over-budget, holds-too-many: Fills the pipeline first, as before.
def fill_and_drain(ranks, microbatches):
    return _orders(ranks, microbatches, lambda rank: microbatches)


# wrong-result, deadlock: Counts the ranks the wrong way round.
def the_last_rank_first(ranks, microbatches):
    return _orders(ranks, microbatches, lambda rank: 1 + rank)


# over-budget, slow: One forward, one backward from the beginning, on every rank.
def no_warm_up(ranks, microbatches):
    return _orders(ranks, microbatches, lambda rank: 1)


# over-budget, slow: One forward pass fewer before the first backward pass.
def one_too_few(ranks, microbatches):
    return _orders(ranks, microbatches, lambda rank: max(1, ranks - rank - 1))


# wrong-result, missing: Forgets the backward passes that are left when no forward pass is.
def no_drain(ranks, microbatches):
    orders = []
    for rank in range(ranks):
        warm = min(ranks - rank, microbatches)
        order = [f"{rank}F{each}" for each in range(warm)]
        for each in range(microbatches - warm):
            order += [f"{rank}B{each}", f"{rank}F{warm + each}"]
        orders.append(order)
    return orders


# over-budget, slow: Drains with the newest microbatch first.
def newest_first_at_the_end(ranks, microbatches):
    orders = []
    for rank in range(ranks):
        warm = min(ranks - rank, microbatches)
        order = [f"{rank}F{each}" for each in range(warm)]
        for each in range(microbatches - warm):
            order += [f"{rank}B{each}", f"{rank}F{warm + each}"]
        order += [f"{rank}B{each}" for each in reversed(range(microbatches - warm, microbatches))]
        orders.append(order)
    return orders


# wrong-result, doubled: Begins the turns with the last forward pass of the first part.
def one_forward_pass_twice(ranks, microbatches):
    orders = []
    for rank in range(ranks):
        warm = min(ranks - rank, microbatches)
        order = [f"{rank}F{each}" for each in range(warm)]
        for each in range(microbatches):
            order.append(f"{rank}B{each}")
            if warm - 1 + each < microbatches:
                order.append(f"{rank}F{warm - 1 + each}")
        orders.append(order)
    return orders


# wrong-result, unknown: Lets a microbatch in for each that leaves, to the end.
def a_microbatch_too_many(ranks, microbatches):
    orders = []
    for rank in range(ranks):
        warm = min(ranks - rank, microbatches)
        order = [f"{rank}F{each}" for each in range(warm)]
        for each in range(microbatches):
            order += [f"{rank}B{each}", f"{rank}F{warm + each}"]
        orders.append(order)
    return orders


# wrong-result, too-early: Begins with one forward pass less, and goes back first all the same.
def one_less_and_back_first(ranks, microbatches):
    orders = []
    for rank in range(ranks):
        warm = min(ranks - rank - 1, microbatches)
        order = [f"{rank}F{each}" for each in range(warm)]
        for each in range(microbatches):
            order.append(f"{rank}B{each}")
            if warm + each < microbatches:
                order.append(f"{rank}F{warm + each}")
        orders.append(order)
    return orders
