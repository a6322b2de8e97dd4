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
