"""Answers to lesson 18 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

RIGHT: dict[tuple[str, str], Changes] = {
    ("best_cost", "stages that don't fit are passed over"): (("break", "continue"),),
    ("selective_plan", "in the order of a reversed list"): (
        ("return list(max(best.values())[1])", "return list(reversed(max(best.values())[1]))"),
    ),
}
CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
    ("best_cost", "room is left over"): ("too-expensive", (("if rise <= room", "if rise < room"),)),
    ("best_cost", "a forward pass leaves room over"): (
        "too-expensive",
        (('"forward_bytes"] > room', '"forward_bytes"] >= room'),),
    ),
    ("best_cost", "a large number where nothing fits"): (
        "nothing-fits",
        (
            (
                "return best(0, len(stages), memory)",
                "return min(10**9, best(0, len(stages), memory))",
            ),
        ),
    ),
    ("best_cost", "the rise of saving is not looked at"): (
        "too-cheap",
        (('            gradient + here["forward_saving_bytes"],\n', "            0,\n"),),
    ),
    ("best_cost", "no output beside the gradient in the pass on"): (
        "too-cheap",
        (("gradient + taken + before", "gradient + before"),),
    ),
    ("best_cost", "the rise of the backward pass without the gradient"): (
        "too-cheap",
        (
            (
                'here["output_gradient_bytes"] + kept + here["backward_bytes"]',
                'kept + here["backward_bytes"]',
            ),
        ),
    ),
    ("schedule_peak", "the batch takes memory"): (
        "let-go-too-late",
        (("in values if value)", "in values)"),),
    ),
    ("schedule_peak", "what is saved keeps no input"): (
        "too-low",
        (('if word != "forward":', 'if word == "keep input":'),),
    ),
    ("schedule_peak", "inputs stay"): (
        "let-go-too-late",
        (("            kept.discard(stage)\n", ""),),
    ),
    ("schedule_peak", "the gradient of the loss throughout"): (
        "old-gradient",
        (("            gradient = stage\n", ""),),
    ),
    ("schedule_peak", "the output of a saved stage is not there"): (
        "too-low",
        (("kept | {each + 1 for each in saved}", "set(kept)"),),
    ),
    ("schedule_peak", "an input that is not kept is not there"): (
        "too-low",
        (("values.add(stage)", "values |= set()"),),
    ),
    ("selective_plan", "room is left over"): ("room-left", (("more <= budget", "more < budget"),)),
    ("selective_plan", "the densest first"): (
        "not-the-best",
        (
            (
                "    best = {0: (0, ())}\n",
                (
                    "    chosen = []\n"
                    "    rank = lambda n: -products[n]['flops'] / products[n]['bytes']\n"
                    "    for n in sorted(range(len(products)), key=rank):\n"
                    "        if products[n]['bytes'] <= budget:\n"
                    "            chosen.append(n)\n"
                    "            budget -= products[n]['bytes']\n"
                    "    return chosen\n"
                    "    best = {0: (0, ())}\n"
                ),
            ),
        ),
    ),
}
