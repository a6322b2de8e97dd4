"""Wrong answers to parameter_server that people give."""


def served(
    weights,
    matrix,
    target,
    rate,
    bound,
    events,
    *,
    fresh=False,
    view=False,
    below=False,
    drops=True,
    silent=False,
    counts_all=False,
    forgets=False,
    between=False,
):
    """A server, with one part of it as somebody else would have it."""
    weights, version = weights.copy(), 0
    copies, staleness, pushes = {}, [], {}
    for number, (what, worker) in enumerate(events):
        if what == "pull":
            copies[worker] = (weights if view else weights.copy()), version, number
            continue
        own, pulled, since = copies[worker]
        age = version - pulled
        if between:
            age = sum(1 for what, _ in events[since:number] if what == "push")
        taken = (age < bound if below else age <= bound) or not drops
        if taken or not silent:
            staleness.append(age)
        if taken:
            weights -= rate * (matrix @ (weights if fresh else own) - target)
        if taken or counts_all:
            version += 1
        if forgets:
            copies[worker] = weights.copy(), version, number
    return weights, version, staleness


# wrong-result, fresh: The gradient is taken where the server stands now.
def always_fresh(weights, matrix, target, rate, bound, events):
    return served(weights, matrix, target, rate, bound, events, fresh=True)


# wrong-result, fresh: A copy is a name for the same array.
def pulls_a_view(weights, matrix, target, rate, bound, events):
    return served(weights, matrix, target, rate, bound, events, view=True)


# wrong-result, takes-everything: Every push is taken.
def takes_everything(weights, matrix, target, rate, bound, events):
    return served(weights, matrix, target, rate, bound, events, drops=False)


# wrong-result, too-strict: At most means less than.
def one_too_strict(weights, matrix, target, rate, bound, events):
    return served(weights, matrix, target, rate, bound, events, below=True)


# wrong-result, only-taken: What is not taken has no staleness.
def lists_only_what_is_taken(weights, matrix, target, rate, bound, events):
    return served(weights, matrix, target, rate, bound, events, silent=True)


# wrong-result, counts-dropped: A push is a push: the version grows.
def counts_what_is_dropped(weights, matrix, target, rate, bound, events):
    return served(weights, matrix, target, rate, bound, events, counts_all=True)


# wrong-result, pulled-again: After a push a worker has the new weights.
def pulls_with_each_push(weights, matrix, target, rate, bound, events):
    return served(weights, matrix, target, rate, bound, events, forgets=True)


# wrong-result, counts-pushes: Counts the pushes of all since the pull, taken or not.
def counts_pushes(weights, matrix, target, rate, bound, events):
    return served(weights, matrix, target, rate, bound, events, between=True)


# wrong-result, synchronous: All workers wait for each other, so nothing is old.
def synchronous(weights, matrix, target, rate, bound, events):
    weights, version = weights.copy(), 0
    for what, _ in events:
        if what == "push":
            weights -= rate * (matrix @ weights - target)
            version += 1
    return weights, version, [0] * version


# wrong-result, climbs: Adds where it should go down.
def climbs(weights, matrix, target, rate, bound, events):
    return served(weights, matrix, target, -rate, bound, events)


# input-changed, input-changed: Works on the array it was given.
def in_place(weights, matrix, target, rate, bound, events):
    version, copies, staleness = 0, {}, []
    for what, worker in events:
        if what == "pull":
            copies[worker] = weights.copy(), version
            continue
        own, pulled = copies[worker]
        staleness.append(version - pulled)
        if version - pulled <= bound:
            weights -= rate * (matrix @ own - target)
            version += 1
    return weights, version, staleness
