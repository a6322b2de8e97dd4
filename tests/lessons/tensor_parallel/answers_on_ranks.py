"""Answers to lesson 24 that people hand in, each the solution with a change."""

from __future__ import annotations

from tests.course.puzzles.answers_on_ranks import IN_FLOAT32, Row

VOCAB = "vocab_parallel_cross_entropy"
LARGEST = """largest = logits.max(1).values
    dist.all_reduce(largest, op=dist.ReduceOp.MAX)"""
MEAN = """largest = logits.mean(1)
    dist.all_reduce(largest)
    largest /= dist.get_world_size()"""
PANELS = """    for k, width in enumerate(widths):
        from_a"""
ADDED_UP = "        c += left @ top\n"
KEPT = """        of_row = [*of_row, left] if k else [left]
        of_column = [*of_column, top] if k else [top]
"""
ONE_AHEAD = """    def panel(k, mine, shape, line, here):
        \"\"\"Begins what panel k needs: (tensor, what is to be waited for).\"\"\"
        if len(line) == 1:
            return mine[k], []
        source = line[k]
        if here == k:
            own = mine[k].contiguous()
            return own, [dist.isend(own, to) for to in line if to != source]
        arrives = torch.empty(shape, dtype=a.dtype)
        return arrives, [dist.irecv(arrives, source)]

    def begin(k):
        return (
            panel(k, of_a, (len(a), widths[k]), my_row, j),
            panel(k, of_b, (widths[k], b.shape[1]), my_column, i),
        )

    coming = begin(0)
    for k in range(len(widths)):
        (left, one), (top, other) = coming
        for work in [*one, *other]:
            work.wait()
        coming = begin(k + 1) if k + 1 < len(widths) else None
        c += left @ top
    return c
    for k, width in enumerate(widths):
        from_a"""
BOTH_AT_ONCE = """both = F.apply(torch.cat([gain, down_bias]))
    whole = Gather.apply(norm(x, both[: len(gain)]))"""

ROWS = {
    "a share of the bias on each rank": Row(
        "row_linear",
        (
            ("x @ weight.T\n", "x @ weight.T + bias / dist.get_world_size()\n"),
            ("return y + bias", "return y"),
        ),
    ),
    "the next panel under way": Row("summa", ((PANELS, ONE_AHEAD),), ("1 x 4", "4 x 1")),
    "whole rows and columns": Row(
        "summa",
        (
            (ADDED_UP, KEPT),
            ("    return c", "    return torch.cat(of_row, 1) @ torch.cat(of_column)"),
        ),
        ("1 x 4",),
        "over-budget: panels-kept",
    ),
    "panels multiplied in float32": Row(
        "summa", (("left @ top", "(left.float() @ top.float()).double()"),), ("5 x 7",), IN_FLOAT32
    ),
    "g in float32": Row(
        "parallel_mlp",
        (
            (
                "y = x.clone()\n        dist.all_reduce(y)\n        return y",
                "y = x.float()\n        dist.all_reduce(y)\n        return y.double()",
            ),
        ),
        verdict=IN_FLOAT32,
    ),
    "heads added in float32": Row(
        "parallel_attention",
        (
            (
                "y = x.clone()\n        dist.all_reduce(y)\n        return y",
                "y = x.float()\n        dist.all_reduce(y)\n        return y.double()",
            ),
        ),
        verdict=IN_FLOAT32,
    ),
    "tokens gathered in float32": Row(
        "sequence_parallel",
        (
            (
                "dist.all_gather_single(whole, x)",
                "dist.all_gather_single(whole, x.float().double())",
            ),
        ),
        verdict=IN_FLOAT32,
    ),
    "sums of exponentials in float32": Row(
        VOCAB,
        (("dist.all_reduce(total)", "total = total.float().double()\n    dist.all_reduce(total)"),),
        verdict=IN_FLOAT32,
    ),
    "the mean in place of the maximum": Row(
        VOCAB,
        ((LARGEST, MEAN),),
        ("far apart",),
        "wrong-result: no-maximum",
    ),
    "any entry in place of the maximum": Row(
        VOCAB,
        ((LARGEST, "largest = logits[:, 0].clone()\n    dist.broadcast(largest, 0)"),),
        ("far apart",),
        "wrong-result: no-maximum",
    ),
    "the maximum of rank 0 on all": Row(
        VOCAB,
        ((LARGEST, "largest = logits.max(1).values\n    dist.broadcast(largest, 0)"),),
        ("far apart",),
        "wrong-result: no-maximum",
    ),
    "the right logit times a mask": Row(
        VOCAB,
        (
            (
                "right[mine] = logits[tokens[mine], place[mine]]",
                "right = (logits * (place[:, None] == torch.arange(logits.shape[1]))).sum(1)",
            ),
        ),
        ("ruled out",),
        "wrong-result: no-maximum",
    ),
    "the gradient of the rank's own maximum": Row(
        VOCAB,
        (
            (
                "dist.all_reduce(largest, op",
                "own = largest.clone()\n    dist.all_reduce(largest, op",
            ),
            ("shares / total", "(logits - own[:, None]).exp() / total"),
        ),
        verdict="wrong-result: slope-of-own-maximum",
    ),
    "one maximum for all tokens": Row(
        VOCAB,
        (("logits.max(1).values", "logits.max().repeat(len(logits))"),),
        ("far apart",),
        "wrong-result: no-maximum",
    ),
    "the logarithm of a share": Row(
        VOCAB,
        (
            ("right[mine] = logits[", "right[mine] = (shares / total[:, None])["),
            ("total.log() + largest - right", "-right.log()"),
        ),
        ("far apart",),
        "wrong-result: no-maximum",
    ),
    "parts of one length": Row(
        VOCAB,
        (("targets - first", "targets - dist.get_rank() * logits.shape[1]"),),
        ("2 ranks, 5 tokens",),
        "wrong-result: partly-wrong",
    ),
    "gain and bias in one message": Row(
        "sequence_parallel",
        (
            (
                "whole = Gather.apply(norm(x, F.apply(gain)))",
                BOTH_AT_ONCE,
            ),
            ("F.apply(down_bias)", "both[len(gain) :]"),
        ),
        ("4 ranks, 4 tokens",),
    ),
    "the rank's own maximum comes back": Row(
        VOCAB,
        (
            (
                "dist.all_reduce(largest, op",
                "own = largest.clone()\n    dist.all_reduce(largest, op",
            ),
            ("+ largest - right", "+ own - right"),
        ),
        verdict="wrong-result: own-maximum-back",
    ),
}
