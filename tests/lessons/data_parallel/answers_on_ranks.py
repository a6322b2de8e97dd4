"""Answers to lesson 22 that people hand in, each the solution with a change."""

from __future__ import annotations

from tests.course.puzzles.answers_on_ranks import IN_FLOAT32, Row

AVERAGE = "dist.all_reduce(parameter.grad)\n        parameter.grad /= n\n"
HAND_OUT = "dist.broadcast(parameter.data, 0)"
NARROWED = """g = parameter.grad.float()
        dist.all_reduce(g)
        parameter.grad = g.double() / n
"""
PAUSED = AVERAGE.replace("\n    ", "\n        ")
IN_TWO_HALVES = """size = -(-parameter.numel() // n)
        flat = parameter.grad.new_zeros(n * size)
        flat[: parameter.numel()] = parameter.grad.flatten()
        own = flat.new_empty(size)
        dist.reduce_scatter_single(own, flat)
        dist.all_gather_single(flat, own / n)
        parameter.grad.copy_(flat[: parameter.numel()].view_as(parameter.grad))
"""

ROWS = {
    "a mean by reduce-scatter and all-gather": Row(
        "ddp", ((AVERAGE, IN_TWO_HALVES),), ("4 ranks, a layer",)
    ),
    "gradients averaged in float32": Row("ddp", ((AVERAGE, NARROWED),), verdict=IN_FLOAT32),
    "weights handed out in float32": Row(
        "ddp",
        (
            (
                HAND_OUT,
                "own = parameter.data.float()\n        "
                + HAND_OUT.replace("parameter.data", "own")
                + "\n        parameter.data.copy_(own)",
            ),
        ),
        verdict=IN_FLOAT32,
    ),
    "buckets in float32": Row(
        "bucketed",
        (("begun.append((bucket", "flat = flat.float()\n            begun.append((bucket"),),
        verdict=IN_FLOAT32,
    ),
    "sums after a pause in float32": Row(
        "no_sync",
        ((PAUSED, NARROWED.replace("\n    ", "\n        ")),),
        verdict=IN_FLOAT32,
    ),
    "a pause and no hooks": Row(
        "no_sync",
        (("for parameter in model.parameters():", "for parameter in ():"),),
        ("4 ranks",),
        "wrong-result: nothing-sent",
    ),
    "a bare except round a pause": Row(
        "no_sync",
        (
            (
                "        finally:\n",
                "        except Exception:\n            pass\n        finally:\n",
            ),
        ),
        ("an error in a pause",),
        "wrong-result: swallowed",
    ),
}
