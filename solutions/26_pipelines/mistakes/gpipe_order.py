"""Wrong answers to gpipe_order that learners give."""


# wrong-result, wrong-rank: Counts the stages from 1.
def stages_from_one(ranks, microbatches):
    return [
        [f"{rank + 1}{kind}{each}" for kind in "FB" for each in range(microbatches)]
        for rank in range(ranks)
    ]


# wrong-result, not-filled: Goes back through each microbatch as soon as it is through.
def back_at_once(ranks, microbatches):
    return [
        [f"{rank}{kind}{each}" for each in range(microbatches) for kind in "FB"]
        for rank in range(ranks)
    ]


# wrong-result, missing: Counts microbatches from 1, and stops one short.
def one_short(ranks, microbatches):
    return [
        [f"{rank}{kind}{each}" for kind in "FB" for each in range(microbatches - 1)]
        for rank in range(ranks)
    ]


# over-budget, slow: Every second rank goes back the other way, newest microbatch first.
def every_rank_its_own_way(ranks, microbatches):
    orders = []
    for rank in range(ranks):
        order = [f"{rank}F{each}" for each in range(microbatches)]
        way = range(microbatches) if rank % 2 else reversed(range(microbatches))
        orders.append(order + [f"{rank}B{each}" for each in way])
    return orders


# wrong-result, wrong-form: Returns the order of the first rank alone.
def one_order(ranks, microbatches):
    return [f"0{kind}{each}" for kind in "FB" for each in range(microbatches)]


# wrong-result, unknown: Counts microbatches from 1 to the last.
def microbatches_from_one(ranks, microbatches):
    return [
        [f"{rank}{kind}{each + 1}" for kind in "FB" for each in range(microbatches)]
        for rank in range(ranks)
    ]


# wrong-result, too-early: Sorts each order by its letters, and B comes before F.
def sorted_by_letters(ranks, microbatches):
    return [
        sorted(f"{rank}{kind}{each}" for kind in "FB" for each in range(microbatches))
        for rank in range(ranks)
    ]


# wrong-result, doubled: Goes forward once more with each microbatch that goes back.
def forward_again(ranks, microbatches):
    orders = []
    for rank in range(ranks):
        order = [f"{rank}F{each}" for each in range(microbatches)]
        for each in range(microbatches):
            order += [f"{rank}F{each}", f"{rank}B{each}"]
        orders.append(order)
    return orders


# wrong-result, other-kind: Takes the gradients of input and weights one after the other.
def the_way_back_in_two_parts(ranks, microbatches):
    orders = []
    for rank in range(ranks):
        order = [f"{rank}F{each}" for each in range(microbatches)]
        for each in range(microbatches):
            order += [f"{rank}I{each}", f"{rank}W{each}"]
        orders.append(order)
    return orders
