"""Answers to lesson 32 on ranks that people hand in, each the solution with a change."""

from __future__ import annotations

from tests.course.puzzles.answers_on_ranks import IN_FLOAT32, Row

TURNS = "samples[r::n]"
ALL_REDUCE = "dist.all_reduce(total, group=group)"
SAVES = 'save({"state": own, "done": done})'

ROWS = {
    "shares of a batch side by side": Row(
        "elastic_restart",
        ((TURNS, "samples[len(samples) * r // n : len(samples) * (r + 1) // n]"),),
        ("4 ranks to 3", "fewer samples"),
    ),
    "one sample after the other": Row(
        "elastic_restart",
        (
            (
                "gradient(weights, samples[r::n])",
                "sum((gradient(weights, [s]) for s in samples[r::n]), 0 * weights)",
            ),
        ),
        ("fewer samples",),
    ),
    "one rank adds up, and tells the others": Row(
        "elastic_restart",
        (
            (
                ALL_REDUCE,
                "dist.reduce(total, 0, group=group)\n        dist.broadcast(total, 0, group=group)",
            ),
        ),
        ("2 ranks to 4",),
    ),
    "moments that are slices all the time": Row(
        "elastic_restart",
        (
            (
                "    size = -(-len(parameters) // n)\n",
                (
                    "    size = -(-len(parameters) // n)\n"
                    "    mine = slice(r * size, (r + 1) * size)\n"
                    "    m, v = m[mine].clone(), v[mine].clone()\n"
                ),
            ),
            (
                "        weights, m, v = adam(weights, total / batch, m, v, done)\n",
                (
                    "        new, m, v = adam(weights[mine], total[mine] / batch, m, v, done)\n"
                    "        weights = torch.zeros_like(weights)\n"
                    "        weights[mine] = new\n"
                    "        dist.all_reduce(weights, group=group)\n"
                ),
            ),
            (
                (
                    "            state = torch.stack([weights, m, v])\n"
                    "            own = state[:, r * size : (r + 1) * size]\n"
                ),
                "            own = torch.stack([weights[mine], m, v])\n",
            ),
        ),
        ("4 ranks to 3", "fewer parameters"),
    ),
    "all ranks there ever were add up": Row(
        "elastic_restart",
        ((ALL_REDUCE, "dist.all_reduce(total)"),),
        verdict="hazard: without-group",
    ),
    "another order after the restart": Row(
        "elastic_restart",
        (
            (
                TURNS,
                "samples[(r + (checkpoint is not None)) % n :: n]",
            ),
        ),
        verdict="wrong-result: other-bits",
    ),
    "no training after the last checkpoint": Row(
        "elastic_restart",
        (
            (
                "    while done < steps:\n",
                (
                    "    if steps < len(order) // batch:\n"
                    "        steps -= steps % every\n"
                    "    while done < steps:\n"
                ),
            ),
        ),
        verdict="wrong-result: not-all-seen",
    ),
    "all steps again from the beginning": Row(
        "elastic_restart",
        (("    if checkpoint is not None:\n", "    if False:\n"),),
        verdict="wrong-result: seen-again",
    ),
    "a checkpoint after each step": Row(
        "elastic_restart",
        (("if done % every == 0:", "if done > 0:"),),
        verdict="wrong-result: other-saves",
    ),
    "no checkpoint ever": Row(
        "elastic_restart",
        (("if done % every == 0:", "if done > steps:"),),
        verdict="wrong-result: other-saves",
    ),
    "a whole number as long as one likes": Row(
        "elastic_restart",
        (('"done": done}', '"done": done, "all": 1 << 999}'),),
        verdict="wrong-result: part-of-another-form",
    ),
    "a part that is a list": Row(
        "elastic_restart",
        ((SAVES, "save([own, done])"),),
        verdict="wrong-result: part-of-another-form",
    ),
    "a part with a list in it": Row(
        "elastic_restart",
        ((SAVES, 'save({"state": own.tolist(), "done": done})'),),
        verdict="wrong-result: part-of-another-form",
    ),
    "rank 0 alone saves": Row(
        "elastic_restart",
        (("        if done % every == 0:\n", "        if done % every == 0 and r == 0:\n"),),
        verdict="wrong-result: no-part",
    ),
    "slices of one length, and filled up": Row(
        "elastic_restart",
        (
            ("import torch\n", "import torch\nfrom torch import nn\n"),
            (
                "            state = torch.stack([weights, m, v])\n",
                (
                    "            state = torch.stack([weights, m, v])\n"
                    "            state = nn.functional.pad(state, (0, n * size - len(m)))\n"
                ),
            ),
        ),
        verdict="exception: exception",
    ),
    "gradients that cross as float32": Row(
        "elastic_restart",
        (
            (
                f"        {ALL_REDUCE}\n",
                (
                    "        half = total.float()\n"
                    "        dist.all_reduce(half, group=group)\n"
                    "        total = half.double()\n"
                ),
            ),
        ),
        verdict=IN_FLOAT32,
    ),
}
"""What each does, and what becomes of it."""
