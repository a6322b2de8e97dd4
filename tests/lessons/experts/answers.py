"""Answers to lesson 28 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

BY_TABLE = """table = torch.nn.functional.one_hot(experts, logits.shape[1]).sum(1)
    slots = (table.cumsum(0) - table).gather(1, experts)
    kept = slots < capacity"""
BY_SEARCH = """ahead = chosen[order]
    slots = torch.empty_like(chosen)
    slots[order] = torch.arange(len(chosen)) - torch.searchsorted(ahead, ahead)"""

RIGHT: dict[tuple[str, str], Changes] = {
    ("top_k_route", "a table and its running sum"): (("kept = slots < capacity", BY_TABLE),),
    ("top_k_route", "a search for where runs begin"): (
        ("slots = torch.empty_like(chosen)", BY_SEARCH),
        ("    slots[order] = torch.arange(len(chosen)) - firsts[chosen[order]]\n", ""),
    ),
    ("top_k_route", "the softmax of all, divided"): (
        (
            "weights = ranked[:, :k].softmax(1)",
            (
                "weights = logits.softmax(1).gather(1, experts)\n"
                "    weights = weights / weights.sum(1, keepdim=True)"
            ),
        ),
    ),
    ("top_k_route", "weights times zeros and ones"): (
        ("weights.where(kept, 0.0)", "weights * kept"),
    ),
    ("bias_balance", "the mean as a fraction"): (
        ("(loads.sum() - loads * number)", "(loads.sum() / number - loads)"),
    ),
    ("bias_balance", "the sigmoid under another name"): (
        ("logits.sigmoid()", "torch.special.expit(logits)"),
    ),
    ("bias_balance", "two comparisons"): (
        (
            "(loads.sum() - loads * number).sign()",
            "1.0 * (loads * number < loads.sum()) - 1.0 * (loads * number > loads.sum())",
        ),
    ),
    ("bias_balance", "counts of zeros and ones"): (
        (
            "torch.bincount(experts.flatten(), minlength=number)",
            "(experts.flatten()[:, None] == torch.arange(number)).sum(0)",
        ),
    ),
    ("all_to_all_bytes", "a product and a half"): (
        ("4 * -(-width // 128)", "4 * ((width + 127) // 128)"),
    ),
    ("all_to_all_bytes", "node by node"): (
        ("        nvlink += len(ranks - have)\n", ""),
        (
            "        rdma += len(nodes - {node})",
            (
                "        for each in nodes:\n"
                "            own = {r for r in ranks if r // per_node == each}\n"
                "            nvlink += len(own - {each * per_node + place})\n"
                "            rdma += each != node"
            ),
        ),
    ),
    ("limit_nodes", "the lowest number there is"): (
        ("-torch.inf", "torch.finfo(scores.dtype).min"),
    ),
    ("limit_nodes", "pairs of a token and a node"): (
        ("        seen = torch.zeros(tokens, nodes, dtype=torch.bool)\n", ""),
        (
            "        seen.scatter_(1, experts // (total // nodes), True)\n",
            (
                "        goals = experts // (total // nodes)\n"
                "        pairs = goals + nodes * torch.arange(tokens)[:, None]\n"
            ),
        ),
        (
            "return int(seen.scatter_(1, home[:, None], False).sum())",
            "return len(pairs[goals != home[:, None]].unique())",
        ),
    ),
}
CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
    ("top_k_route", "a NaN that no comparison sees"): (
        "wrong-result",
        (("logits.isnan().any() | (logits == torch.inf).any()", "(logits == torch.inf).any()"),),
    ),
    ("top_k_route", "closed experts are taken when nothing else is left"): (
        "wrong-result",
        (
            (
                "if refused or ((logits > -torch.inf).sum(1) < k).any():",
                "if refused or ((logits > -torch.inf).sum(1) < 1).any():",
            ),
        ),
    ),
    ("top_k_route", "a sort that need not keep its order"): (
        "wrong-result",
        (("order = chosen.argsort(stable=True)", "order = chosen.argsort()"),),
    ),
    # Its gradient at -inf is 0 times infinity.
    ("bias_balance", "a sigmoid by hand"): (
        "wrong-result",
        (("logits.sigmoid()", "1 / (1 + (-logits).exp())"),),
    ),
    ("bias_balance", "all choices over all experts, in whole numbers"): (
        "wrong-result",
        (("(loads.sum() - loads * number)", "(loads.sum() // number - loads)"),),
    ),
    ("bias_balance", "a sum that is at least 1e-20"): (
        "wrong-result",
        (
            (
                "(chosen.sum(1, keepdim=True) + 1e-20)",
                "chosen.sum(1, keepdim=True).clamp(min=1e-20)",
            ),
        ),
    ),
    ("all_to_all_bytes", "half an FP8 row more"): (
        "wrong-result",
        (("4 * -(-width // 128)", "round(4 * width / 128)"),),
    ),
    ("limit_nodes", "nothing is below -1"): ("wrong-result", (("-torch.inf", "-0.5"),)),
    ("limit_nodes", "the k best among each node's best"): (
        "wrong-result",
        (
            (
                "open_scores = by_node.masked_fill(closed[:, :, None], -torch.inf)",
                (
                    "floor = top.amin(2, keepdim=True)\n"
                    "    open_scores = by_node.masked_fill(closed[:, :, None], -torch.inf)\n"
                    "    open_scores = open_scores.masked_fill(by_node < floor, -torch.inf)"
                ),
            ),
        ),
    ),
}
