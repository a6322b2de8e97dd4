"""Wrong answers to breadth_first that learners give."""


# wrong-result, wrong-rank: Gives each rank stages that are neighbours.
def neighbours_on_a_rank(ranks, microbatches, chunks):
    orders = []
    for rank in range(ranks):
        stages = [rank * chunks + chunk for chunk in range(chunks)]
        order = [f"{stage}F{each}" for stage in stages for each in range(microbatches)]
        order += [f"{stage}B{each}" for stage in stages[::-1] for each in range(microbatches)]
        orders.append(order)
    return orders


# over-budget, comes-back: Sends each microbatch through all stages of the rank in turn.
def depth_first(ranks, microbatches, chunks):
    orders = []
    for rank in range(ranks):
        stages = [chunk * ranks + rank for chunk in range(chunks)]
        order = [f"{stage}F{each}" for each in range(microbatches) for stage in stages]
        order += [f"{stage}B{each}" for each in range(microbatches) for stage in stages[::-1]]
        orders.append(order)
    return orders


# over-budget, comes-back: Takes groups of as many microbatches as ranks, as before.
def in_groups(ranks, microbatches, chunks):
    orders = []
    for rank in range(ranks):
        stages = [chunk * ranks + rank for chunk in range(chunks)]
        firsts = range(0, microbatches, ranks)

        def group(first):
            return range(first, min(first + ranks, microbatches))

        order = [f"{s}F{each}" for first in firsts for s in stages for each in group(first)]
        order += [f"{s}B{each}" for first in firsts for s in stages[::-1] for each in group(first)]
        orders.append(order)
    return orders


# wrong-result, deadlock: Goes back through the stages in the order in which it went forward.
def stages_not_turned_round(ranks, microbatches, chunks):
    orders = []
    for rank in range(ranks):
        stages = [chunk * ranks + rank for chunk in range(chunks)]
        order = [f"{stage}F{each}" for stage in stages for each in range(microbatches)]
        order += [f"{stage}B{each}" for stage in stages for each in range(microbatches)]
        orders.append(order)
    return orders


# over-budget, slow: Every second rank goes back with the newest microbatch first.
def every_rank_its_own_way(ranks, microbatches, chunks):
    orders = []
    for rank in range(ranks):
        stages = [chunk * ranks + rank for chunk in range(chunks)]
        way = list(range(microbatches))[:: -1 if rank % 2 else 1]
        order = [f"{stage}F{each}" for stage in stages for each in range(microbatches)]
        order += [f"{stage}B{each}" for stage in stages[::-1] for each in way]
        orders.append(order)
    return orders


# wrong-result, missing: Leaves out the way back through the first stage of each rank.
def the_first_stage_left_out(ranks, microbatches, chunks):
    orders = []
    for rank in range(ranks):
        order = [
            f"{chunk * ranks + rank}F{each}"
            for chunk in range(chunks)
            for each in range(microbatches)
        ]
        order += [
            f"{chunk * ranks + rank}B{each}"
            for chunk in range(chunks - 1, 0, -1)
            for each in range(microbatches)
        ]
        orders.append(order)
    return orders
