"""Answers to lesson 23 that people hand in, each the solution with a change."""

from __future__ import annotations

from tests.course.puzzles.answers_on_ranks import IN_FLOAT32, Row

REDUCE_SCATTER = """    mine = torch.empty_like(m)
    dist.reduce_scatter_single(mine, torch.cat([gradient, filling]))
"""
SLICES_BY_HAND = """    parts = torch.cat([gradient, filling]).split(size)
    arrive, works = torch.zeros(n, size, dtype=m.dtype), []
    arrive[r] = parts[r]
    for turn in range(1, n):
        to, by = (r + turn) % n, (r - turn) % n
        works += [dist.isend(parts[to], to), dist.irecv(arrive[by], by)]
    for work in works:
        work.wait()
    mine = arrive.sum(0)
"""
ROUND_OFF = """    def round_off(parameter):
        parameter.grad = parameter.grad.float().double()

"""

UPDATED_IN_THE_HOOK = (
    ("    def to_its", "    place = {p: k for k, p in enumerate(parameters)}\n\n    def to_its"),
    (
        "            parameter.grad /= n\n        else:\n            parameter.grad = None\n",
        (
            "            parameter.grad /= n\n            update(place[parameter])\n"
            "        parameter.grad = None\n"
        ),
    ),
    (
        "        if owners[k] == r:\n            update(k)\n            parameter.grad = None\n",
        "",
    ),
)
GATHER = """    everything = parameters.new_empty(n * size)
    dist.all_gather_single(everything, weights)
"""
ADDED_UP = """    everything = parameters.new_zeros(n * size)
    everything[r * size : (r + 1) * size] = weights
    dist.all_reduce(everything)
"""

ROWS = {
    "parameters added up from slices and zeros": Row(
        "zero1", ((GATHER, ADDED_UP),), verdict="over-budget: too-many-bytes"
    ),
    "parameters alone come back": Row(
        "zero1", (("[:length], m, v", "[:length]"),), verdict="wrong-result: wrong-shape"
    ),
    "updates as the gradients come": Row("zero2", UPDATED_IN_THE_HOOK),
    "parameters handed out by adding zeros": Row(
        "zero2",
        (
            (
                "        dist.broadcast(parameter.data, owners[k])",
                (
                    "        else:\n            parameter.data.zero_()\n"
                    "        dist.all_reduce(parameter.data)"
                ),
            ),
        ),
        verdict="over-budget: too-many-bytes",
    ),
    "units put together by adding zeros": Row(
        "zero3",
        (
            (
                (
                    "        whole = shards[k].new_empty(n * len(shards[k]))\n"
                    "        return whole, dist.all_gather_single(whole, shards[k], async_op=True)"
                ),
                (
                    "        whole = shards[k].new_zeros(n * len(shards[k]))\n"
                    "        whole.view(n, -1)[dist.get_rank()] = shards[k]\n"
                    "        return whole, dist.all_reduce(whole, async_op=True)"
                ),
            ),
        ),
        verdict="over-budget: too-many-bytes",
    ),
    "slices in messages of one's own": Row(
        "zero1", ((REDUCE_SCATTER, SLICES_BY_HAND),), ("4 ranks, 5", "fewer parameters")
    ),
    "slices of gradients in float32": Row(
        "zero1",
        (("torch.cat([gradient, filling])", "torch.cat([gradient, filling]).float().double()"),),
        ("3 ranks, 9",),
        IN_FLOAT32,
    ),
    "gradients to their owners in float32": Row(
        "zero2",
        (
            ("owner_of[parameter])\n", "owner_of[parameter])\n        round_off(parameter)\n"),
            ("    def to_its", ROUND_OFF + "    def to_its"),
        ),
        verdict=IN_FLOAT32,
    ),
    "slices of unit gradients in float32": Row(
        "zero3",
        (("functional.pad(of_weights", "functional.pad(of_weights.float().double()"),),
        verdict=IN_FLOAT32,
    ),
    "every rank updates what all have": Row(
        "zero2",
        (
            (
                "        if owners[k] == r:\n            update(k)\n            parameter",
                "        update(k)\n        parameter",
            ),
        ),
        verdict="wrong-result: owner",
    ),
    "a slice rounded down, and one more": Row(
        "memory_per_rank",
        (("-(-length // ranks)", "length // ranks + 1"),),
        verdict="wrong-result: wrong",
    ),
    "the host's bytes rounded to the nearest": Row(
        "estimate",
        (("return int(1.5 * host), gpu", "return round(1.5 * host), gpu"),),
        verdict="wrong-result: rounded-otherwise",
    ),
    "the host's share rounded early": Row(
        "estimate",
        (("18 * parameters / nodes", "18 * parameters // nodes"),),
        verdict="wrong-result: rounded-otherwise",
    ),
}
