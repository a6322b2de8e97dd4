"""Small programs for ranks: right ones, and one for each way in which a run can fail."""

from __future__ import annotations

import textwrap


def program(body: str) -> str:
    """Returns the text of a file whose `main` has this body, `r` and `n` being rank and size."""
    head = "import os, sys, time\nimport torch\nimport torch.distributed as dist\n\n\n"
    start = (
        "def main():\n    r, n = dist.get_rank(), dist.get_world_size()\n    x = torch.zeros(4)\n"
    )
    return head + start + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"


RING = program(
    """
    got = torch.zeros(4)
    x += r
    ops = [dist.P2POp(dist.isend, x, (r + 1) % n), dist.P2POp(dist.irecv, got, (r - 1) % n)]
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    print("rank", r, "has", got[0].item())
    return got
    """
)

# Name -> (the program for three ranks, what its error says, line by line from the first).
FAILURES: dict[str, tuple[str, list[str]]] = {
    "each receives before it sends": (
        program("dist.recv(x, (r - 1) % n)\ndist.send(x, (r + 1) % n)"),
        [
            "the run stands still: every rank that is not at its end waits",
            "rank 0 waits in recv from 2, FILE:9",
            "rank 1 waits in recv from 0, FILE:9",
            "rank 2 waits in recv from 1, FILE:9",
        ],
    ),
    "one skips a collective": (
        program("if r != 1:\n    dist.all_reduce(x)"),
        [
            "the run stands still: every rank that is not at its end waits",
            "rank 0 waits in all_reduce 0, FILE:10",
            "rank 1 has come to its end",
            "rank 2 waits in all_reduce 0, FILE:10",
        ],
    ),
    "one calls another collective": (
        program("if r == 1:\n    dist.broadcast(x, 0)\nelse:\n    dist.all_reduce(x)"),
        [
            "collective 0 of ranks 0, 1, 2 is",
            "where:  rank",
            "rank",
            "try:    let all ranks of a group make the same calls in the same order",
        ],
    ),
    "sizes differ": (
        program("dist.all_reduce(torch.zeros(4 + (r == 2)))"),
        ["collective 0 of ranks 0, 1, 2, all_reduce, has 4 elements (16 bytes) on rank"],
    ),
    "one ends": (
        program("if r == 1:\n    os._exit(3)\ndist.all_reduce(x)"),
        ["rank 1 ended with exit status 3"],
    ),
    "one ends after a call": (
        program("dist.barrier()\nif r == 1:\n    os.abort()\ndist.all_reduce(x)"),
        ["rank 1 was ended by SIGABRT, after barrier in FILE:9"],
    ),
    "one raises": (
        program("if r == 1:\n    x[9]\ndist.all_reduce(x)"),
        [
            "rank 1 raised IndexError: index 9 is out of bounds",
            "where:  FILE, line 10, in main",
        ],
    ),
    "one raises while it is read": (
        "import torch.distributed as dist\nif dist.get_rank() == 2:\n    1 / 0\ndef main(): pass\n",
        ["rank 2 raised ZeroDivisionError: division by zero", "where:  FILE, line 3, in <module>"],
    ),
    "no function": ("def other(): pass\n", ["FILE does not define main"]),
    "a result that cannot be sent": (
        program("return object()"),
        ["what rank 0 returned cannot be sent: the value['result'] is of the type object"],
    ),
}
