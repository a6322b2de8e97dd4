"""Wrong answers to dualpipe that learners give."""


class Rank:
    """One rank's order, written phase by phase."""

    def __init__(self, ranks, microbatches, rank, up=None, second=None):
        self.outside = min(rank, ranks - 1 - rank)
        self.inside = ranks // 2 - 1 - self.outside
        down, up = rank, 2 * ranks - 1 - rank if up is None else up
        self.near, self.far = (down, up) if rank < ranks // 2 else (up, down)
        second = microbatches // 2 if second is None else second
        self.come, self.back = {down: 0, up: second}, {down: 0, up: second}
        self.steady = microbatches // 2 - ranks + self.outside + 1
        self.order, self.put_off = [], []

    def f(self, stage):
        self.come[stage] += 1
        return f"{stage}F{self.come[stage] - 1}"

    def b(self, stage, kind="B"):
        self.back[stage] += 1
        if kind == "I":
            self.put_off.append(f"{stage}W{self.back[stage] - 1}")
        return f"{stage}{kind}{self.back[stage] - 1}"

    def written(self, both="&", split=True, drain=True, kind="B"):
        near, far, order = self.near, self.far, self.order

        def pair(one, other):
            order.extend(f"{self.f(one)}{both}{self.b(other, kind)}".split())

        order += [self.f(near) for _ in range(2 * self.inside)]
        for _ in range(self.outside + 1):
            order += [self.f(near), self.f(far)]
        for _ in range(self.inside):
            order += [self.b(far, "I"), self.put_off.pop(0)] if split else [self.b(far)]
            order.append(self.f(far))
        for _ in range(self.steady):
            pair(near, far)
            pair(far, near)
        for _ in range(self.inside):
            order.append(self.b(far))
            pair(far, near)
        for each in range(2 * (self.outside + 1)):
            late = "I" if split and each > self.outside else "B"
            order.append(self.b(near if each % 2 else far, late))
        for _ in range(self.inside):
            order += [self.put_off.pop(0), self.b(near, "I")] if split else [self.b(near)]
        return order + self.put_off if drain else order


def _one_f_one_b(rank, ranks, stage, first, last):
    warm = min(ranks - rank, last - first)
    order = [f"{stage}F{each}" for each in range(first, first + warm)]
    for each in range(first, last):
        order.append(f"{stage}B{each}")
        if each + warm < last:
            order.append(f"{stage}F{each + warm}")
    return order


# over-budget, slow: Empties the pipeline of one way before the other begins.
def one_way_after_the_other(ranks, microbatches):
    half = microbatches // 2
    return [
        _one_f_one_b(rank, ranks, rank, 0, half)
        + _one_f_one_b(ranks - 1 - rank, ranks, 2 * ranks - 1 - rank, half, microbatches)
        for rank in range(ranks)
    ]


# over-budget, holds-too-many: Lets everything in first, from both ends.
def all_in_first(ranks, microbatches):
    half, orders = microbatches // 2, []
    for rank in range(ranks):
        down, up = rank, 2 * ranks - 1 - rank
        near, far = (down, up) if rank < ranks // 2 else (up, down)
        order = []
        for kind, ways in (("F", (near, far)), ("B", (far, near))):
            for each in range(half):
                order += [f"{way}{kind}{each + half * (way == up)}" for way in ways]
        orders.append(order)
    return orders


# over-budget, too-few-pairs: Has the order, and does one thing at a time.
def one_at_a_time(ranks, microbatches):
    return [Rank(ranks, microbatches, rank).written(both=" ") for rank in range(ranks)]


# wrong-result, deadlock: Begins with the gradients of the way that has not come so far.
def gradients_of_the_near_way_first(ranks, microbatches):
    made = [Rank(ranks, microbatches, rank) for rank in range(ranks)]
    for each in made:
        each.near, each.far = each.far, each.near
    return [each.written() for each in made]


# over-budget, slow: Does every backward pass whole.
def nothing_split(ranks, microbatches):
    return [Rank(ranks, microbatches, rank).written(split=False) for rank in range(ranks)]


# wrong-result, missing: Forgets the W that are left at the end.
def never_caught_up(ranks, microbatches):
    return [Rank(ranks, microbatches, rank).written(drain=False) for rank in range(ranks)]


# wrong-result, wrong-rank: Counts the stages of the way up along the ranks.
def up_the_same_way(ranks, microbatches):
    return [Rank(ranks, microbatches, rank, up=ranks + rank).written() for rank in range(ranks)]


# wrong-result, wrong-way: Counts the microbatches of both ways from 0.
def both_ways_from_zero(ranks, microbatches):
    return [Rank(ranks, microbatches, rank, second=0).written() for rank in range(ranks)]


# wrong-result, bad-pair: Hides an F behind I, and puts W off.
def pairs_with_i(ranks, microbatches):
    return [Rank(ranks, microbatches, rank).written(kind="I") for rank in range(ranks)]
