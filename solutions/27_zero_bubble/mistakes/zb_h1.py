"""Wrong answers to zb_h1 that learners give."""


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


# over-budget, slow: Does W right after I on every rank: 1F1B, written apart.
def w_after_i(ranks, microbatches):
    return _orders(ranks, microbatches, lambda rank: ranks - rank, lambda rank: 0)


# over-budget, holds-too-many: Puts every W off to the end.
def every_w_at_the_end(ranks, microbatches):
    return _orders(ranks, microbatches, lambda rank: ranks - rank, lambda rank: microbatches)


# over-budget, holds-too-many: Lets in as many on each rank as on the first, and puts W off as well.
def full_on_every_rank(ranks, microbatches):
    return _orders(ranks, microbatches, lambda rank: ranks, lambda rank: rank)


# wrong-result, missing: Forgets the W that were put off.
def never_caught_up(ranks, microbatches):
    return _orders(ranks, microbatches, lambda rank: ranks - rank, lambda rank: rank, drain=False)


# over-budget, holds-too-many: Puts W off on the first ranks, where most is held.
def put_off_on_the_wrong_side(ranks, microbatches):
    return _orders(ranks, microbatches, lambda rank: ranks - rank, lambda rank: ranks - rank - 1)


# wrong-result, too-early: Does W first, and the gradient to the input after it.
def w_before_i(ranks, microbatches):
    orders = _orders(ranks, microbatches, lambda rank: ranks - rank, lambda rank: 0)
    turned = str.maketrans("IW", "WI")
    return [[action.translate(turned) for action in order] for order in orders]
