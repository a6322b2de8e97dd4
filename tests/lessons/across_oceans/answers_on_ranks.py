"""Answers to lesson 33 on ranks that people hand in, each the solution with a change."""

from __future__ import annotations

from tests.course.puzzles.answers_on_ranks import IN_FLOAT32, Row

SUMMED = """        gradient = weights - ended
        dist.all_reduce(gradient)
        gradient /= n
"""
STEP = """        velocity = momentum * velocity + gradient
        weights = weights - rate * (gradient + momentum * velocity)
        vector_to_parameters(weights.clone(), model.parameters())
"""

ROWS = {
    "PyTorch's SGD takes the outer step": Row(
        "diloco",
        (
            (
                "    velocity = torch.zeros_like(weights)\n",
                (
                    "    outer = torch.optim.SGD(\n"
                    "        [weights], lr=rate, momentum=momentum, nesterov=momentum > 0\n"
                    "    )\n"
                ),
            ),
            (
                STEP,
                (
                    "        weights.grad = gradient\n"
                    "        outer.step()\n"
                    "        vector_to_parameters(weights.clone(), model.parameters())\n"
                ),
            ),
        ),
        ("differ in number", "no momentum", "no batch"),
    ),
    "the mean of the ends is sent, in place of the differences": Row(
        "diloco",
        (
            (
                SUMMED,
                (
                    "        ended = ended.clone()\n"
                    "        dist.all_reduce(ended)\n"
                    "        gradient = weights - ended / n\n"
                ),
            ),
        ),
        ("shorter", "fewer batches"),
    ),
    "begun, and waited for before the step": Row(
        "diloco",
        (
            (
                "        dist.all_reduce(gradient)\n",
                "        dist.all_reduce(gradient, async_op=True).wait()\n",
            ),
        ),
        ("1 rank", "one step in a round"),
    ),
    "outer gradients in float32": Row(
        "diloco",
        ((SUMMED, SUMMED.replace("weights - ended", "(weights - ended).float()")),),
        verdict=IN_FLOAT32,
    ),
    "a round's end told by an all-reduce of one number": Row(
        "diloco",
        (
            (
                "        dist.all_reduce(gradient)\n",
                ("        dist.all_reduce(torch.ones(1))\n        dist.all_reduce(gradient)\n"),
            ),
        ),
        verdict="over-budget: too-many-bytes",
    ),
    "gradients exchanged by DDP within a round": Row(
        "diloco",
        (
            (
                "            loss_of(model, batch).backward()\n",
                (
                    "            loss_of(model, batch).backward()\n"
                    "            for parameter in model.parameters():\n"
                    "                dist.all_reduce(parameter.grad)\n"
                    "                parameter.grad /= n\n"
                ),
            ),
        ),
        verdict="wrong-result: every-step",
    ),
}
