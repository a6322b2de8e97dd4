"""Answers to lesson 28 on ranks that people hand in, each the solution with a change."""

from __future__ import annotations

from tests.course.puzzles.answers_on_ranks import IN_FLOAT32, Row

BY_HAND = """n, r = dist.get_world_size(), dist.get_rank()
    gone, come = rows.contiguous().split(leave), found.split(arrive)
    come[r].copy_(gone[r])
    works = []
    for turn in range(1, n):
        to, by = (r + turn) % n, (r - turn) % n
        works += [dist.isend(gone[to], to), dist.irecv(come[by], by)]
    for work in works:
        work.wait()"""
ALL_TO_ALL = "dist.all_to_all_single(found, rows.contiguous(), arrive, leave)"
TOLD_TO_ALL = """flags = [torch.zeros(1, dtype=torch.int64) for _ in held]
    dist.all_gather(flags, wrong.long().view(1))
    wrong = max(map(int, flags))"""
EVERY_RANKS_LOADS = """everybody = [torch.empty_like(loads) for _ in held]
    dist.all_gather(everybody, loads)
    first = sum(held[: dist.get_rank()])
    coming = torch.stack(everybody)[:, first : first + own].contiguous()"""

ROWS = {
    "rows in messages of its own": Row(
        "all_to_all_experts", ((ALL_TO_ALL, BY_HAND),), ("neither", "3 tokens", "dropped")
    ),
    "a wrong number told by an all-gather": Row(
        "all_to_all_experts",
        (("dist.all_reduce(wrong, op=dist.ReduceOp.MAX)", TOLD_TO_ALL),),
        ("a ValueError", "many tokens"),
    ),
    "all loads to all ranks": Row(
        "all_to_all_experts",
        (("coming = exchanged(loads, held, [own] * n).view(n, own)", EVERY_RANKS_LOADS),),
        ("neither", "one expert"),
    ),
    "weights given before the way back, at home": Row(
        "all_to_all_experts",
        (
            (
                "return torch.zeros_like(x).index_add(0, tokens, scaled)",
                (
                    "out = torch.zeros_like(x).index_put((tokens,), scaled, accumulate=True)\n"
                    "    return out"
                ),
            ),
        ),
        ("neither", "dropped"),
    ),
    "the way back in float32": Row(
        "all_to_all_experts",
        (
            (
                "Exchange.apply(made, arrive, leave)",
                "Exchange.apply(made.float(), arrive, leave).double()",
            ),
        ),
        verdict=IN_FLOAT32,
    ),
    "gradients in float32": Row(
        "all_to_all_experts",
        (
            (
                "exchanged(gradient, *ctx.back), None, None",
                "exchanged(gradient.float(), *ctx.back).double(), None, None",
            ),
        ),
        verdict=IN_FLOAT32,
    ),
    "a rank without rows stays out of the backward pass": Row(
        "all_to_all_experts",
        (
            (
                "return exchanged(gradient, *ctx.back), None, None",
                (
                    "if not sum(ctx.back[0]) + sum(ctx.back[1]):\n"
                    "            return gradient, None, None\n"
                    "        return exchanged(gradient, *ctx.back), None, None"
                ),
            ),
        ),
        ("neither",),
        "hazard: left-out",
    ),
}
