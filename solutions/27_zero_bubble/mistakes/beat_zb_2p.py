"""Wrong answers to beat_zb_2p that learners give."""


def _by_hand(ranks, microbatches, warm_of, late_of):
    orders = []
    for rank in range(ranks):
        warm, late = min(warm_of(rank), microbatches), min(late_of(rank), microbatches)
        order = [f"{rank}F{each}" for each in range(warm)]
        for each in range(microbatches):
            order.append(f"{rank}I{each}")
            if each >= late:
                order.append(f"{rank}W{each - late}")
            if warm + each < microbatches:
                order.append(f"{rank}F{warm + each}")
        left = range(microbatches - late, microbatches)
        orders.append(order + [f"{rank}W{each}" for each in left])
    return orders


# over-budget, slow: Gives ZB-H2, which was made for equal times.
def the_order_by_hand(ranks, microbatches, times, comm, memory, limit):
    return _by_hand(ranks, microbatches, lambda rank: 2 * (ranks - rank) - 1, lambda rank: 2 * rank)


# over-budget, slow: Gives ZB-H1, which holds half of what is allowed.
def the_order_with_less_memory(ranks, microbatches, times, comm, memory, limit):
    return _by_hand(ranks, microbatches, lambda rank: ranks - rank, lambda rank: rank)


# over-budget, holds-too-many: Lets everything in, since then nobody waits.
def everything_at_once(ranks, microbatches, times, comm, memory, limit):
    return _by_hand(ranks, microbatches, lambda rank: microbatches, lambda rank: 2 * rank)


# wrong-result, missing: Puts W off, and never does those that are left.
def w_left_undone(ranks, microbatches, times, comm, memory, limit):
    orders = _by_hand(
        ranks, microbatches, lambda rank: 2 * (ranks - rank) - 1, lambda rank: 2 * rank
    )
    return [order[: len(order) - 1] for order in orders]
