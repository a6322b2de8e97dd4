"""Wrong answers to balance that learners give."""


# wrong-result, as-many-each: Gives each stage as many layers.
def as_many_layers_each(costs, ranks):
    layers = len(costs)
    return [layers * (rank + 1) // ranks - layers * rank // ranks for rank in range(ranks)]


# wrong-result, filled-to-the-mean: Closes a stage as soon as it reaches the mean.
def filled_to_the_mean(costs, ranks):
    mean, sizes, total = sum(costs) / ranks, [0], 0
    for number, cost in enumerate(costs):
        left = len(costs) - number
        if sizes[-1] and len(sizes) < ranks and (total >= mean or left <= ranks - len(sizes)):
            sizes.append(0)
            total = 0
        sizes[-1] += 1
        total += cost
    while len(sizes) < ranks:
        at = sizes.index(max(sizes))
        sizes[at : at + 1] = [1, sizes[at] - 1]
    return sizes


# wrong-result, stages: Fills stages up to the best limit, and leaves ranks without one.
def too_few_stages(costs, ranks):
    def cut(limit):
        sizes, room = [], 0
        for cost in costs:
            if cost > room:
                sizes.append(0)
                room = limit
            sizes[-1] += 1
            room -= cost
        return sizes

    limits = range(max(costs), sum(costs) + 1)
    return next(found for limit in limits if len(found := cut(limit)) <= ranks)


# wrong-result, layers: Leaves out the layers after the last cut.
def the_last_layers_left_out(costs, ranks):
    return [max(1, len(costs) // ranks)] * ranks


# wrong-result, wrong-form: Returns the layers of each stage, not how many they are.
def the_layers_themselves(costs, ranks):
    per = -(-len(costs) // ranks)
    return [costs[first : first + per] for first in range(0, len(costs), per)]


# wrong-result, empty-stage: Fills stages up to the best limit, and leaves some ranks nothing.
def filled_up_with_nothing(costs, ranks):
    if ranks > len(costs):
        return []
    sizes = too_few_stages(costs, ranks)
    return sizes + [0] * (ranks - len(sizes))


# wrong-result, wrong: Cuts the most expensive stage in two, again and again.
def halves_the_slowest(costs, ranks):
    if ranks > len(costs):
        return []
    stages = [list(costs)]
    while len(stages) < ranks:
        at = max(
            (n for n in range(len(stages)) if len(stages[n]) > 1), key=lambda n: sum(stages[n])
        )
        old = stages[at]
        cut = min(range(1, len(old)), key=lambda cut: max(sum(old[:cut]), sum(old[cut:])))
        stages[at : at + 1] = [old[:cut], old[cut:]]
    return [len(stage) for stage in stages]


# wrong-result, too-many-ranks: Gives the ranks that are left over stages without a layer.
def ranks_left_over(costs, ranks):
    if ranks > len(costs):
        return [1] * len(costs) + [0] * (ranks - len(costs))
    low, high = max(costs), sum(costs)

    def cut(limit):
        sizes, room = [], 0
        for cost in costs:
            if cost > room:
                sizes.append(0)
                room = limit
            sizes[-1] += 1
            room -= cost
        return sizes

    while low < high:
        middle = (low + high) // 2
        if len(cut(middle)) <= ranks:
            high = middle
        else:
            low = middle + 1
    sizes = cut(low)
    while len(sizes) < ranks:
        at = sizes.index(max(sizes))
        sizes[at : at + 1] = [1, sizes[at] - 1]
    return sizes
