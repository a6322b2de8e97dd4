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
