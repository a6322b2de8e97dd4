"""Answers to lesson 25 that people hand in, each the solution with a change."""

from __future__ import annotations

from tests.course.puzzles.answers_on_ranks import IN_FLOAT32, Row

PLAIN_EXP = """both = torch.log(torch.exp(lse) + torch.exp(other_lse))
    safe = both
    share = torch.exp(lse - safe)"""
BY_AUTOGRAD = """x = [each.clone().requires_grad_() for each in (q, k, v)]
    attend = torch.nn.functional.scaled_dot_product_attention
    out = attend(*(each[None] for each in x), is_causal=causal)[0]
    found = torch.autograd.grad(out, x, to_heads(dout, tokens))"""
IN_ORDER = (
    ("places[r].unsqueeze(1)", "places[r].sort().values.unsqueeze(1)"),
    ("places[owner].unsqueeze(0)", "places[owner].sort().values.unsqueeze(0)"),
)

ROWS = {
    "a table of exp": Row(
        "merge_lse",
        (
            (
                "share = torch.exp(lse - safe)",
                PLAIN_EXP,
            ),
        ),
        verdict="wrong-result: overflow",
    ),
    "binary search in plain Python": Row(
        "imbalance",
        (
            (
                "keys = [np.sort(each) for each in places]",
                "from bisect import bisect_right\n    keys = [sorted(x.tolist()) for x in places]",
            ),
            (
                'int(np.searchsorted(keys[(r - t) % n], places[r], side="right").sum())',
                "sum(bisect_right(keys[(r - t) % n], q) for q in keys[r])",
            ),
        ),
    ),
    "a ValueError for more heads than ranks alone": Row(
        "ulysses",
        (("if heads % n:", "if heads > n and heads % n:"),),
        ("fewer heads",),
        "hazard: not-refused",
    ),
    "None for heads that are left over": Row(
        "ulysses",
        (('raise ValueError(f"{n} ranks do not divide {heads} heads")', "return None"),),
        ("4 heads on 3 ranks",),
        "wrong-result: not-refused",
    ),
    "a mask of places in order": Row(
        "ring_attention", IN_ORDER, ("dealt out by chance",), "wrong-result: wrong"
    ),
    "slopes of places in order": Row(
        "ring_attention_backward", IN_ORDER, ("dealt out by chance",), "wrong-result: wrong"
    ),
    "heads exchanged in float32": Row(
        "ulysses", (("x.flatten()", "x.float().double().flatten()"),), verdict=IN_FLOAT32
    ),
    "blocks handed on in float32": Row(
        "ring_attention",
        (("k, v = coming", "k, v = (x.float().double() for x in coming)"),),
        verdict=IN_FLOAT32,
    ),
    "gradients handed on in float32": Row(
        "ring_attention_backward",
        (("each.contiguous() for each in tensors", "each.float().double() for each in tensors"),),
        verdict=IN_FLOAT32,
    ),
    "one exchange for all three gradients": Row(
        "ulysses_backward",
        (
            (
                "return tuple(to_tokens(each, tokens) for each in found)",
                "return to_tokens(torch.cat(found, 2), tokens).split(q.shape[2], 2)",
            ),
        ),
        ("3 ranks, 2 tokens",),
    ),
    "autograd in the middle": Row(
        "ulysses_backward",
        (("found = gradients(q, k, v, to_heads(dout, tokens), causal)", BY_AUTOGRAD),),
        ("not causal",),
    ),
    "dout in float32": Row(
        "ulysses_backward",
        (("to_heads(dout,", "to_heads(dout.float().double(),"),),
        verdict=IN_FLOAT32,
    ),
}
