"""Answers to lesson 27 that people hand in, each the solution with a change."""

from __future__ import annotations

from tests.course.puzzles.answers_on_ranks import Row

SENDS_AT_ONCE = (
    ("        dist.send(total, r + 1)\n", "        first = dist.isend(total.clone(), r + 1)\n"),
    (
        "        dist.recv(total, r + 1)\n",
        "        dist.recv(total, r + 1)\n        first.wait()\n",
    ),
)
ASKED_FOR = """    guess = scale_by(total)
    coming = dist.irecv(whole, r + 1) if r < n - 1 else None
"""
TWO_NUMBERS = """two = torch.zeros(2, dtype=total.dtype)
        dist.recv(two, r - 1)
        total = two[:1].clone()"""
RECEIVES_EARLY = (
    ("    weights = [", "    whole = total.clone()\n    weights = ["),
    (
        "    guess = scale_by(total)\n",
        ASKED_FOR,
    ),
    ("        dist.recv(total, r + 1)\n", "        coming.wait()\n        total = whole\n"),
)
BY_HAND = (
    (
        "copy.deepcopy(optimizer.state_dict())",
        "[copy.deepcopy(optimizer.state[p]) for p in parameters]",
    ),
    (
        "        optimizer.load_state_dict(state)\n",
        "        for k, p in enumerate(parameters):\n            optimizer.state[p] = state[k]\n",
    ),
)

ROWS = {
    "messages that nobody waits for before the step": Row("rollback", SENDS_AT_ONCE, ("four",)),
    "a receive that is asked for before the step": Row("rollback", RECEIVES_EARLY, ("four",)),
    "the state of each parameter by hand": Row("rollback", BY_HAND, ("taken back",)),
    "two numbers in a message": Row(
        "rollback",
        (
            ("dist.send(total, r + 1)", "dist.send(torch.cat([total, total]), r + 1)"),
            (
                "dist.recv(total, r - 1)",
                TWO_NUMBERS,
            ),
        ),
        ("four",),
        "over-budget: too-many-bytes",
    ),
    "a state in float32": Row(
        "rollback",
        (("weights = [p.clone()", "weights = [p.detach().float()"),),
        (),
        "wrong-result: seven-digits",
    ),
    "no check for infinities": Row(
        "rollback",
        (("not math.isfinite(total)", "math.isnan(total)"),),
        (),
        "wrong-result: infinity-passes",
    ),
}
