"""Wrong answers to interleaved that learners give."""


def _orders(ranks, microbatches, chunks, warm_of, back=True, group=None, stage=None):
    group = group or ranks
    stage = stage or (lambda chunk, rank: chunk * ranks + rank)

    def passes(rank, kind, order):
        return [
            f"{stage(chunk, rank)}{kind}{each}"
            for first in range(0, microbatches, group)
            for chunk in order
            for each in range(first, min(first + group, microbatches))
        ]

    orders = []
    for rank in range(ranks):
        forward = passes(rank, "F", range(chunks))
        backward = passes(rank, "B", range(chunks)[:: -1 if back else 1])
        warm = min(warm_of(rank), len(forward))
        order = forward[:warm]
        for step, action in enumerate(forward[warm:]):
            order += [action, backward[step]]
        orders.append(order + backward[len(forward) - warm :])
    return orders


# wrong-result, wrong-rank: Gives each rank stages that are neighbours.
def neighbours_on_a_rank(ranks, microbatches, chunks):
    return _orders(
        ranks, microbatches, chunks,
        lambda rank: 2 * (ranks - rank - 1) + (chunks - 1) * ranks,
        stage=lambda chunk, rank: rank * chunks + chunk,
    )  # fmt: skip


# wrong-result, deadlock: Goes back through the stages in the order in which it went forward.
def stages_not_turned_round(ranks, microbatches, chunks):
    return _orders(
        ranks, microbatches, chunks,
        lambda rank: 2 * (ranks - rank - 1) + (chunks - 1) * ranks,
        back=False,
    )  # fmt: skip


# over-budget, holds-too-many: Sends every microbatch through a stage before the next.
def no_groups(ranks, microbatches, chunks):
    return _orders(
        ranks, microbatches, chunks,
        lambda rank: (chunks - 1) * microbatches + 2 * (ranks - rank - 1),
        group=microbatches,
    )  # fmt: skip


# over-budget, holds-too-many: Takes all forward passes first.
def fill_and_drain(ranks, microbatches, chunks):
    return _orders(ranks, microbatches, chunks, lambda rank: microbatches * chunks)


# wrong-result, too-early: Begins to go back as early as with one stage on a rank.
def warm_up_of_one_chunk(ranks, microbatches, chunks):
    return _orders(ranks, microbatches, chunks, lambda rank: ranks - rank - 1)


# exception, exception: Hands the groups an iterator, which the first of them uses up.
def an_iterator_is_used_up(ranks, microbatches, chunks):
    orders = []
    for rank in range(ranks):
        lists = {}
        for kind, order in (("F", iter(range(chunks))), ("B", reversed(range(chunks)))):
            lists[kind] = [
                f"{chunk * ranks + rank}{kind}{first + each}"
                for first in range(0, microbatches, ranks)
                for chunk in order
                for each in range(ranks)
            ]
        warm = 2 * (ranks - rank - 1) + (chunks - 1) * ranks
        order = lists["F"][:warm]
        for step in range(microbatches * chunks - warm):
            order += [lists["F"][warm + step], lists["B"][step]]
        orders.append(order + lists["B"][-warm:])
    return orders


# wrong-result, unknown: Begins each group at its number, not at its first microbatch.
def groups_side_by_side(ranks, microbatches, chunks):
    return _orders(
        ranks, microbatches * ranks, chunks,
        lambda rank: 2 * (ranks - rank - 1) + (chunks - 1) * ranks,
    )  # fmt: skip


# wrong-result, missing: Lets the turns end with the last forward pass, and forgets the rest.
def no_drain(ranks, microbatches, chunks):
    orders = _orders(
        ranks, microbatches, chunks,
        lambda rank: 2 * (ranks - rank - 1) + (chunks - 1) * ranks,
    )  # fmt: skip
    for order in orders:
        while order and "F" not in order[-2]:
            order.pop()
    return orders
