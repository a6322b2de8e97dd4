"""Wrong answers to zb_h2 that learners give."""


def _orders(ranks, microbatches, warm_of, late_of, drain=True):
    orders = []
    for rank in range(ranks):
        warm, late = warm_of(rank), late_of(rank)
        order = [f"{rank}F{each}" for each in range(min(warm, microbatches))]
        for each in range(microbatches):
            order.append(f"{rank}I{each}")
            if each >= late:
                order.append(f"{rank}W{each - late}")
            if warm + each < microbatches:
                order.append(f"{rank}F{warm + each}")
        if drain:
            order += [f"{rank}W{each}" for each in range(max(microbatches - late, 0), microbatches)]
        orders.append(order)
    return orders


# over-budget, slow-and-whole: Takes no backward pass apart: 1F1B.
def whole_backward_passes(ranks, microbatches):
    orders = []
    for rank in range(ranks):
        warm = ranks - rank
        order = [f"{rank}F{each}" for each in range(warm)]
        for each in range(microbatches):
            order.append(f"{rank}B{each}")
            if warm + each < microbatches:
                order.append(f"{rank}F{warm + each}")
        orders.append(order)
    return orders


# over-budget, slow: Lets in no more than 1F1B does.
def zb_h1_again(ranks, microbatches):
    return _orders(ranks, microbatches, lambda rank: ranks - rank, lambda rank: rank)


# over-budget, slow: Fills the beginning, and puts off no W for the end.
def no_w_put_off(ranks, microbatches):
    return _orders(ranks, microbatches, lambda rank: 2 * (ranks - rank) - 1, lambda rank: 0)


# over-budget, slow: Puts off one W for each rank before it, as with less memory.
def half_as_many_put_off(ranks, microbatches):
    return _orders(ranks, microbatches, lambda rank: 2 * (ranks - rank) - 1, lambda rank: rank)


# over-budget, holds-too-many: Lets in one more on each rank.
def one_too_many(ranks, microbatches):
    return _orders(ranks, microbatches, lambda rank: 2 * (ranks - rank), lambda rank: 2 * rank)


# wrong-result, missing: Forgets the W that were put off.
def never_caught_up(ranks, microbatches):
    return _orders(
        ranks, microbatches, lambda rank: 2 * (ranks - rank) - 1, lambda rank: 2 * rank, drain=False
    )
