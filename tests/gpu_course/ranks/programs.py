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

SENDS_4 = "rank 0 sends 4 elements of float32 (16 bytes) to rank 1, which"

# Name -> (the program for three ranks, what its error says, line by line from the first).
FAILURES: dict[str, tuple[str, list[str]]] = {
    "each receives before it sends": (
        program("dist.recv(x, (r - 1) % n)\ndist.send(x, (r + 1) % n)"),
        [
            "the run stands still: every rank that has not finished waits",
            "rank 0 waits in recv from 2, FILE:9",
            "rank 1 waits in recv from 0, FILE:9",
            "rank 2 waits in recv from 1, FILE:9",
        ],
    ),
    "one skips a collective": (
        program("if r != 1:\n    dist.all_reduce(x)"),
        [
            "the run stands still: every rank that has not finished waits",
            "rank 0 waits in all_reduce 0, FILE:10",
            "rank 1 has finished",
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
        ["rank 1 was ended by SIGABRT, in FILE:11"],
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
    **{
        f"a peer that is not there: {call}": (
            program(f"if r == {rank}:\n    {call}"),
            [
                f"rank {rank} raised ValueError: {way} rank {peer}: the ranks are 0 to 2",
                "try: count round the ring, as (rank + 1) % 3 does,",
                "or leave out the rank that has no neighbour there",
                "where:  FILE, line 10, in main",
            ],
        )
        for call, rank, way, peer in (
            ("dist.send(x, r + 1)", 2, "send to", 3),
            ("dist.isend(x, r + 7).wait()", 2, "send to", 9),
            ("dist.recv(x, r - 1)", 0, "receive from", -1),
            ("dist.irecv(x, r + 1).wait()", 2, "receive from", 3),
            ("dist.batch_isend_irecv([dist.P2POp(dist.isend, x, r + 1)])", 2, "send to", 3),
        )
    },
    "a peer that is not there, of a group": (
        program("g = dist.new_group([0, 1])\nif r == 0:\n    dist.send(x, group=g, group_dst=2)"),
        ["rank 0 raised ValueError: send to rank 2: the group of ranks 0, 1 has 0 to 1"],
    ),
    "a root that is not there": (
        program("dist.broadcast(x, 5)"),
        [
            "rank 0 raised ValueError: broadcast with root rank 5: the ranks are 0 to 2",
            "try: name one of them, the same on all ranks",
        ],
    ),
    "a group that some leave out": (
        program(
            """
            if r < 2:
                dist.new_group([0, 1])
            dist.all_reduce(x, group=dist.new_group([0, 1, 2]))
            """
        ),
        ["new_group 1 is of ranks 0, 1 on rank", "where:  rank", "rank", "try:    call new_group"],
    ),
    "a group whose member does not come": (
        program("if r != 1:\n    dist.new_group([0, 1])"),
        [
            "the run stands still: every rank that has not finished waits",
            "rank 0 waits in new_group of ranks 0, 1, for rank 1, FILE:10",
            "rank 1 has finished",
            "rank 2 has finished",
            "try:    call new_group for each group on all ranks, those that are not in it too",
        ],
    ),
    "a group's collective against one of all": (
        program("g = dist.new_group([0, 1])\ndist.all_reduce(x, group=g if r == 0 else None)"),
        [
            "the run stands still: every rank that has not finished waits",
            "rank 0 waits in all_reduce 0 of ranks 0, 1, for rank 1, FILE:10",
            "rank 1 waits in all_reduce 0 of ranks 0, 1, 2, for rank 0, FILE:10",
            "rank 2 waits in all_reduce 0 of ranks 0, 1, 2, for rank 0, FILE:10",
            "try:    let all ranks call the collectives of these groups in one order",
        ],
    ),
    "two groups in crossed order": (
        program(
            """
            a, b = dist.new_group([0, 1]), dist.new_group([0, 1])
            for group in (a, b) if r else (b, a):
                if r < 2:
                    dist.barrier(group) if group is a else dist.all_reduce(x, group=group)
            """
        ),
        ["collective 0 of ranks 0, 1 is"],
    ),
    "other tags": (
        program("if r < 2:\n    dist.recv(x, 0, tag=2) if r else dist.send(x, 1, tag=1)"),
        [
            "the run stands still: every rank that has not finished waits",
            "rank 0 waits in send to 1 with tag 1, FILE:10",
            "rank 1 waits in recv from 0 with tag 2, FILE:10",
            "rank 2 has finished",
        ],
    ),
    **{
        f"a dtype of its own: {receive}": (
            program(f"if r < 2:\n    {receive} if r else dist.send(x, 1)"),
            [
                f"{SENDS_4} receives 4 elements of {dtype} ({size} bytes)",
                "where:  rank 0, FILE:10",
                "rank 1, FILE:10",
                "try:    give the tensors on both sides one dtype",
            ],
        )
        for receive, dtype, size in (
            ("dist.recv(x.double(), 0)", "float64", 32),
            ("dist.recv(x.int(), 0)", "int32", 16),
            ("dist.recv(x.int())", "int32", 16),
            ("dist.irecv(x.bfloat16(), 0).wait()", "bfloat16", 8),
        )
    },
    "an all-reduce of two dtypes": (
        program("dist.all_reduce(x.double() if r == 1 else x)"),
        ["collective 0 of ranks 0, 1, 2, all_reduce, has 4 elements of float"],
    ),
    **{
        f"another op: {call}": (
            program(f"op = dist.ReduceOp.MAX if r == 1 else dist.ReduceOp.SUM\n{call}"),
            [f"collective 0 of ranks 0, 1, 2, {kind}, is ", "where:", "rank", "try:    give all"],
        )
        for kind, call in (
            ("all_reduce", "dist.all_reduce(x, op)"),
            ("all_reduce", "dist.all_reduce(x, op, async_op=True).wait()"),
            ("reduce", "dist.reduce(x, 0, op)"),
            ("reduce_scatter", "dist.reduce_scatter_tensor(x[:1].clone(), x[:3].clone(), op)"),
        )
    },
    "another op of a functional collective": (
        program(
            """
            import torch.distributed._functional_collectives as functional
            functional.all_reduce(x, "max" if r else "sum", dist.group.WORLD) + 1
            """
        ),
        ["collective 0 of ranks 0, 1, 2, all_reduce, is "],
    ),
    "parts that do not fit": (
        program(
            """
            gives = [[1, 2, 0], [1, 1, 1], [1, 1, 1]][r]
            dist.all_to_all_single(torch.zeros(3), torch.zeros(3), [1, 1, 1], gives)
            """
        ),
        ["in collective 0 of ranks 0, 1, 2, all_to_all, rank 0 gives "],
    ),
    "a message that nobody takes": (
        program("if r == 0:\n    dist.send(x, 1)"),
        [
            "the run stands still: every rank that has not finished waits",
            "rank 0 waits in send to 1, FILE:10",
        ],
    ),
    "a barrier on one rank": (
        program("if r == 1:\n    dist.barrier()"),
        [
            "the run stands still: every rank that has not finished waits",
            "rank 0 has finished",
            "rank 1 waits in barrier 0, FILE:10",
        ],
    ),
    "one turn less": (
        program("for _ in range(3 - (r == 2)):\n    dist.all_reduce(x)"),
        [
            "the run stands still: every rank that has not finished waits",
            "rank 0 waits in all_reduce 2, FILE:10",
            "rank 1 waits in all_reduce 2, FILE:10",
            "rank 2 has finished",
        ],
    ),
    "async calls in two orders": (
        program(
            """
            pair = [x, torch.zeros(8)]
            works = [dist.all_reduce(each, async_op=True) for each in pair[:: 1 if r else -1]]
            for work in works:
                work.wait()
            """
        ),
        ["collective 0 of ranks 0, 1, 2, all_reduce, has "],
    ),
    "a wait that was forgotten": (
        program("dist.isend(x, (r + 1) % n)\ndist.recv(x, (r - 1) % n)"),
        ["the run stands still"],
    ),
    "one falls": (
        program("import ctypes\nif r == 1:\n    ctypes.string_at(0)\ndist.all_reduce(x)"),
        ["rank 1 was ended by SIGSEGV, in FILE:11"],
    ),
    "one exits": (
        program("if r == 1:\n    sys.exit(3)\ndist.all_reduce(x)"),
        ["rank 1 raised SystemExit: 3", "where:  FILE, line 10, in main"],
    ),
    "one asks for what nobody types": (
        program("if r == 1:\n    input()\ndist.all_reduce(x)"),
        ["rank 1 raised EOFError", "where:  FILE, line 10, in main"],
    ),
    "one recurs without end": (
        program("def f():\n    f()\nif r == 1:\n    f()\ndist.all_reduce(x)"),
        ["rank 1 raised RecursionError", "where:  FILE, line 10, in f"],
    ),
    "one has left the group": (
        program("if r == 1:\n    dist.destroy_process_group()\ndist.all_reduce(x)"),
        ["rank 1 raised ValueError: Default process group has not been initialized"],
    ),
    "a result that cannot be sent": (
        program("return object()"),
        ["what rank 0 returned cannot be sent: the value['result'] is of the type object"],
    ),
}

# Name -> (the program for three ranks, which never ends; why it is ended; the line of rank 1).
# A loop that never ends is one line: which of several is at work just then is anybody's guess.
ENDLESS: dict[str, tuple[str, str, int]] = {
    "all turn for ever": (program("while True: pass"), "1 s are over", 9),
    "one turns for ever": (
        program("while r == 1: pass\ndist.all_reduce(x)"), "1 s are over", 9
    ),
    "one turns for ever in C": (
        program("if r == 1:\n    sum(iter(int, 1))\ndist.all_reduce(x)"), "1 s are over", 10
    ),
    "one sleeps": (
        program("if r == 1:\n    time.sleep(1000)\ndist.all_reduce(x)"),
        "no rank told or computed anything for", 10,
    ),
    "one waits for itself": (
        program(
            """
            import threading
            lock = threading.Lock()
            lock.acquire()
            if r == 1:
                lock.acquire()
            dist.all_reduce(x)
            """
        ),
        "no rank told or computed anything for", 13,
    ),
}  # fmt: skip
COMPUTES = program(
    """
    used = time.process_time()
    while r == 1 and time.process_time() - used < 1:
        pass
    dist.all_reduce(x)
    return r
    """
)
"""One rank computes for a second while the others wait."""
