"""The verdict on an answer on several ranks: results, calls, bytes, and who stood where."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpu_course.grading.check import check
from gpu_course.grading.python import ranked
from gpu_course.isolation import ranks, servers
from gpu_course.isolation.network import Crossed
from gpu_course.isolation.ranks import Traffic
from gpu_course.puzzle import Case, Judgement
from gpu_course.ranks.calls import Call
from gpu_course.ranks.runner import bytes_since, world
from tests.gpu_course.grading.python.hostile.ranks import WIRE_ATTACKS
from tests.gpu_course.grading.ranked_toy import EXCHANGE, RIGHT, SHIFT, answer
from tests.gpu_course.ranks.programs import program

pytestmark = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)

# What it is -> (the answer, reason, diagnosis, lines of the message in this order).
VERDICTS: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "wrong on one rank": (
        answer("", then=RIGHT.partition("(x)\n")[2].replace("return got", "return got + (r == 1)")),
        "wrong-result", "constant-offset",
        ("rank 1: result[0] is", "why:", "cells:", "visible example", "shift(x=[", "on rank 0"),
    ),
    "nothing on one rank": (
        answer("if r == 2:\n    return None", then="return 0 * x"),
        "wrong-result", "nothing-sent",
        ("rank 0: result[0] is", "No rank sent anything"),
    ),
    "an error on one rank": (
        answer("if r == 2:\n    got[9]"),
        "exception", "exception",
        ("rank 2 raised IndexError: index 9 is out of bounds", "where:  shift, shift.py:11",
         "got[9]", "why:"),
    ),
    "the whole program ended": (
        answer("sys.exit(0)"),
        "exception", "exception",
        ("rank 0 raised SystemExit: 0", "A function ends with `return`"),
    ),
    "a loss without a graph": (
        answer("x.sum().backward()"),
        "exception", "exception",
        ("does not require grad", "PyTorch has no graph to go back through here"),
    ),
    "a length that the ranks do not divide": (
        answer("dist.reduce_scatter_single(x.new_empty(3), x[:4])"),
        "exception", "exception",
        ("raised RuntimeError: Check failed:\n", "The collective takes a part for each rank"),
    ),
    "a tensor looked for in a list": (
        answer("[x, got].index(got)"),
        "exception", "exception",
        ("Boolean value of Tensor", "Many numbers together are neither true nor false"),
    ),
    "each receives before it sends": (
        answer("dist.recv(got, left)\ndist.send(x, right)", then="return got"),
        "hazard", "standstill",
        ("the ranks stand still", "rank 0: waits in recv from 2, line 10", "rank 1:", "rank 2:",
         "where:  shift.py:10", "dist.recv(got, left)", "why:"),
    ),
    "one rank stays away": (
        answer("if r == 1:\n    return got"),
        "hazard", "left-early",
        ("rank 0: waits in", "rank 1: has finished", "rank 2: waits in", "A rank has finished"),
    ),
    "one rank makes no collective": (
        answer("if r == 1:\n    return got\ndist.broadcast(x.clone(), 0)"),
        "hazard", "left-early",
        ("waits in broadcast 0", "rank 1: has finished"),
    ),
    "no result on the other ranks": (
        answer("", then=EXCHANGE.replace("return got", "return got if r == 0 else None")),
        "wrong-result", "missing-output",
        ("rank 1: result is None", "ends without `return`", "dist.all_reduce and others"),
    ),
    "one rank goes wrong": (
        answer("", then=EXCHANGE.replace("return got", "return got if r != 1 else got**2 + r")),
        "wrong-result", "wrong",
        ("rank 1: result[0] is", "also:   result is right on ranks 0 and 2"),
    ),
    "an input is written to": (
        answer("x += 1"),
        "input-changed", "input-changed",
        ("x[0] of rank 0 was",),
    ),
    "other collectives": (
        answer("if r == 1:\n    dist.broadcast(x, 0)\nelse:\n    dist.all_reduce(x)"),
        "hazard", "calls-differ",
        ("collective 0 of ranks 0, 1, 2 is",),
    ),
    "other sizes": (
        answer("if r == 1:\n    got = got[1:]"),
        "hazard", "sizes-differ",
        ("rank 0 sends 4 elements (32 bytes) to rank 1", "rank 0: calls send", "rank 1: calls"),
    ),
    "other roots": (
        answer("dist.broadcast(x, r % 2)"),
        "hazard", "roots-differ",
        ("collective 0 of ranks 0, 1, 2, broadcast, has root", "Without group="),
    ),
    "a neighbour that is not there": (
        answer("right, left = r + 1, r - 1"),
        "exception", "exception",
        ("rank 0 raised ValueError: receive from rank -1: the ranks are 0 to 2",
         "count round the ring, as (rank + 1) % 3 does", "where:  shift, shift.py:12",
         "dist.batch_isend_irecv(ops)"),
    ),
    "PyTorch's own word for itself": (
        answer("dist.send(x, r)"),
        "exception", "sends-to-itself",
        ("rank 0 sends to itself", "where:  shift.py:10", "dist.send(x, r)"),
    ),
    "other dtypes": (
        answer("if r == 1:\n    got = got.long()"),
        "hazard", "dtypes-differ",
        ("rank 0 sends 4 elements of float64 (32 bytes) to rank 1, which",
         "elements of int64", "rank 0: calls send", "rank 1: calls recv"),
    ),
    "other ops": (
        answer("dist.all_reduce(x, dist.ReduceOp.MIN if r else dist.ReduceOp.SUM)"),
        "hazard", "ops-differ",
        ("collective 0 of ranks 0, 1, 2, all_reduce, is ", "where:  shift.py:10"),
    ),
    "a group that one leaves out": (
        answer("if r == 0:\n    dist.new_group([0, 1])\ndist.new_group()"),
        "hazard", "new-group",
        ("new_group 1 is of ranks 0, 1", "where:  shift.py:11", "and:    shift.py:12"),
    ),
    "a group that one waits for": (
        answer("if r == 0:\n    dist.new_group([0, 1])"),
        "hazard", "new-group",
        ("the ranks stand still", "rank 0: waits in new_group of ranks 0, 1, for rank 1"),
    ),
    "a group's collective for one of all": (
        answer("g = dist.new_group([0, 1])\ndist.barrier(g if r == 0 else None)"),
        "hazard", "groups-crossed",
        ("rank 0: waits in barrier 0 of ranks 0, 1, for rank 1, line 11",),
    ),
    "one falls": (
        answer("if r == 1:\n    ctypes.string_at(0)"),
        "crash", "crash",
        ("rank 1 was ended by SIGSEGV", "where:  shift.py:11", "ctypes.string_at(0)"),
    ),
    "nobody waits": (
        answer("", then="work = dist.isend(x, right)\ndist.recv(got, left)\nreturn got"),
        "hazard", "not-waited",
        ("never waits for what it sends to rank", "where:  shift.py:11"),
    ),
    "to itself": (
        answer("dist.isend(x, r).wait()"),
        "exception", "sends-to-itself",
        ("rank 0 sends to itself", "where:  shift.py:10"),
    ),
    "the group is ended": (
        answer("", then=EXCHANGE.replace("return", "dist.destroy_process_group()\nreturn")),
        "refused", "group-ended",
        ("rank 0 ends the group of all", "where:  shift.py:14", "dist.destroy_process_group()"),
    ),
    "twice the bytes": (
        answer(RIGHT.partition("(x)\n")[2].replace("    return got\n", "")),
        "over-budget", "over-budget",
        ("rank 0 sends 64 bytes; 32 are due", "where:  shift.py:"),
    ),
    "an input written to": (
        answer("x += 1"),
        "input-changed", "input-changed",
        ("the input x of rank 0 was changed", "also:", "x of rank 1"),
    ),
    "an error in the file": (
        "import torch.distributed as dist\nassert dist.get_rank() == 0\n" + RIGHT,
        "exception", "exception",
        ("rank 1 raised AssertionError", "where:  shift.py:2"),
    ),
    "a file that never loads on one rank": (
        "import torch.distributed as dist\nif dist.get_rank(): dist.barrier()\n" + RIGHT,
        "hazard", "standstill",
        ("rank 0: has finished", "rank 1: waits in barrier 0, line 2"),
    ),
    "no such function at the end": (
        RIGHT + "\n\nshift = 3\n",
        "missing-function", "missing-function",
        ("does not define the function shift",),
    ),
    "a result of no kind": (
        answer("", then="return object()"),
        "wrong-result", "wrong-type",
        ("result is of the type object; return plain values or arrays",),
    ),
}  # fmt: skip


def test_a_right_answer_passes_and_says_what_it_sent() -> None:
    verdict = check(SHIFT, answer=RIGHT, seed=0)
    assert verdict.passed, verdict.message
    got = verdict.evidence["got"]
    assert got["bytes_sent"] == (32, 32, 32) and got["messages"] == (1, 1, 1)
    assert [(c.kind, c.rank) for c in got["wire"]].count(("send", 0)) == 1
    if got["tcp_bytes"] is not None:
        assert all(got["tcp_bytes"][rank, (rank + 1) % 3] >= 32 for rank in range(3))


@pytest.mark.parametrize("name", VERDICTS)
def test_verdicts(name: str) -> None:
    text, reason, diagnosis, says = VERDICTS[name]
    verdict = check(SHIFT, answer=text, seed=0)
    assert (verdict.status, verdict.reason) == ("failed", reason), verdict.message
    assert verdict.diagnosis == diagnosis, verdict.message
    at = 0
    message = " ".join(verdict.message.split())
    for fragment in says:
        fragment = " ".join(fragment.split())
        assert fragment in message[at:], verdict.message
        at = message.index(fragment, at)
    assert all(len(line) <= 70 for line in verdict.message.splitlines())


def test_a_rank_that_never_ends_is_named_with_its_line() -> None:
    text = answer("while r == 1: pass\ndist.barrier()")
    verdict = check(replace(SHIFT, seconds=1.0), answer=text, seed=0)
    assert (verdict.status, verdict.reason) == ("timeout", "deadline"), verdict.message
    first, *rest = (" ".join(row.split()) for row in verdict.message.splitlines())
    assert first == "rank 1 does not finish, and others wait for it"
    assert rest[:4] == [
        "rank 0: waits in barrier 0, line 11", "rank 1: is in no call, line 10",
        "rank 2: waits in barrier 0, line 11", "where: shift.py:10",
    ]  # fmt: skip


WARNS = """
import warnings
mine = torch.empty_like(x)
dist.all_gather_into_tensor(torch.cat([mine] * n), x)
dist.reduce_scatter_tensor(mine, torch.cat([x] * n))
"""


def test_the_new_names_of_old_collectives_fill_no_verdict() -> None:
    puzzle = replace(SHIFT, judge=None)
    verdict = check(puzzle, answer=answer(WARNS), seed=0)
    assert verdict.passed and verdict.evidence["printed"] == "", verdict.evidence["printed"]
    own = "warnings.warn('it is deprecated', FutureWarning)\nwarnings.warn('mind the gap')"
    printed = check(puzzle, answer=answer(WARNS + own), seed=0).evidence["printed"]
    assert "FutureWarning: it is deprecated" in printed and "mind the gap" in printed


def test_a_group_that_is_ended_takes_no_count_with_it() -> None:
    body = """
    own = dist.new_group()
    big = torch.ones(30_000, dtype=torch.float64)
    dist.all_reduce(big, group=own)
    dist.destroy_process_group(own)
    """
    verdict = check(SHIFT, answer=answer(body), seed=0)
    assert verdict.passed, verdict.message


def test_what_was_counted_on_connections_that_are_gone_is_never_a_number() -> None:
    """Where packets are not read, an open connection alone is counted: some may be closed."""
    calls = [Call(0, 0, "all_reduce", (0, 1), 0, (30,), 240)]
    before, now = (Traffic({(0, 1): n}, Crossed(n, n, 0)) for n in (9_000, 500))
    assert ranked._missing(calls, None, before, now) == ranked._beyond(calls, before, now) == ""
    assert bytes_since(before.between, now.between) is None


def test_what_ranks_print_bears_their_number() -> None:
    verdict = check(SHIFT, answer=answer("print('have', len(x))"), seed=0)
    assert "[1] have 4" in verdict.evidence["printed"].splitlines()


def test_cases_with_equally_many_ranks_share_them(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    real = ranked.world

    def counted(ranks: int, *given: Any, **named: Any) -> Any:
        made.append(ranks)
        return real(ranks, *given, **named)

    monkeypatch.setattr(ranked, "world", counted)
    assert check(SHIFT, answer=RIGHT, seed=0).passed
    assert made == [3, 2]


def test_a_puzzle_may_know_a_standstill_better() -> None:
    def diagnose(inputs: Any, case: Case, expected: Any, got: Any) -> str | None:
        kinds = {call.kind for call in got["wire"]}
        return "all-receive" if got["failed"] == "standstill" and kinds == {"recv"} else None

    puzzle = replace(SHIFT, diagnose=diagnose, diagnoses={"all-receive": "Nobody ever sends."})
    verdict = check(puzzle, answer=VERDICTS["each receives before it sends"][0], seed=0)
    assert verdict.diagnosis == "all-receive" and "Nobody ever sends." in verdict.message


def test_a_judge_may_refuse_a_call_by_its_line() -> None:
    def judge(inputs: Any, case: Case, got: Any) -> Judgement | None:
        for call in got["wire"]:
            if call.kind not in ("send", "recv"):
                return Judgement("library-collective", call.kind, "refused", call.line)
        return None

    text = answer("dist.barrier()")
    verdict = check(replace(SHIFT, judge=judge), answer=text, seed=0)
    assert (verdict.reason, verdict.diagnosis) == ("refused", "library-collective")
    assert "where:  shift.py:10\n          dist.barrier()" in verdict.message


def test_a_broken_specification_is_the_graders_fault() -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("the catalogue is broken")

    for part in ("inputs", "reference", "judge", "ranks"):
        verdict = check(replace(SHIFT, **{part: broken}), answer=RIGHT, seed=0)
        assert (verdict.status, verdict.reason) == ("error", "grader"), part


def test_where_ranks_cannot_be_forked_they_are_started_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(servers, "available", lambda: False)
    puzzle = replace(SHIFT, cases=SHIFT.cases[1:2])
    verdict = check(puzzle, answer=RIGHT, seed=0)
    assert verdict.passed, verdict.message
    assert "shared network, started anew" in verdict.evidence["isolation"]
    assert verdict.evidence["self-check"]
    assert verdict.evidence["isolation"].startswith(("limited", "process"))


def test_where_ranks_cannot_be_started_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "available", lambda: False)
    monkeypatch.setattr(ranks, "CAN_SPAWN", False)
    verdict = check(SHIFT, answer=RIGHT, seed=0)
    assert verdict.status == "error"
    assert "this system hands a new process no more" in verdict.message
    assert "torchrun" in verdict.message


def test_what_may_cross_is_what_is_told_and_what_gloo_adds() -> None:
    idle = ranked.most_tcp_bytes([])
    send = Call(0, 0, "send", (0, 1), 0, (10**6,), 8 * 10**6, 1)
    assert 8 * 10**6 + 144 <= ranked.most_tcp_bytes([send]) - idle < 8.02 * 10**6
    # Nobody gains room by messages in which there is nothing.
    empty = Call(0, 0, "send", (0, 1), 0, (0,), 0, 1)
    assert ranked.most_tcp_bytes([empty] * 100) - idle == 100 * 144
    barrier = Call(0, 0, "barrier", (0, 1, 2, 3), 0, (), 0)
    assert ranked.most_tcp_bytes([barrier]) - idle == 2 * 144
    # gloo makes a collective of each tensor of a list.
    one, many = (
        Call(0, 0, "reduce_scatter", (0, 1), 0, sizes, 64) for sizes in ((8,), (2, 2, 2, 2))
    )
    more = ranked.most_tcp_bytes([many]) - ranked.most_tcp_bytes([one])
    assert more == 3 * ranked.STEP_BYTES


def test_what_is_told_has_to_cross() -> None:
    reduce = [Call(r, 0, "all_reduce", (0, 1, 2), 0, (30,), 240) for r in range(3)]
    kept = [Call(r, 0, "all_to_all", (0, 1, 2), 0, (30,), 240) for r in range(3)]
    assert ranked.least_tcp_bytes(reduce) == 3 * 320
    assert ranked.least_tcp_bytes(kept) == 0
    # Where the parts are told, all but a rank's own part crosses, be it much or nothing.
    parts = [(30, 0, 0), (30, 0, 0), (10, 5, 15)]
    uneven = [replace(call, gives=own) for call, own in zip(kept, parts, strict=True)]
    assert [int(call.booked_bytes) for call in uneven] == [0, 240, 120]
    assert ranked.least_tcp_bytes(uneven) == 360
    before, enough, short = (Traffic(None, Crossed(2_000, n, 20)) for n in (0, 960, 959))
    assert ranked._missing(reduce, None, before, enough) == ""
    fact = ranked._missing(reduce, None, before, short)
    assert fact == "the recorded calls carry 960 bytes; 959 crossed the network"


LIBRARY = {
    "all_reduce": "dist.all_reduce(big)",
    "reduce": "dist.reduce(big, n - 1)",
    "reduce_scatter": "dist.reduce_scatter_single(torch.empty_like(big[::n].contiguous()), big)",
    "reduce_scatter of a list": "dist.reduce_scatter(big[::n].clone(), list(big.chunk(n)))",
    "all_gather": "dist.all_gather_single(torch.cat([big] * n), big)",
    "broadcast": "dist.broadcast(big, n - 1)",
    "all_to_all": "dist.all_to_all_single(torch.empty_like(big), big)",
}


@pytest.mark.parametrize("number", [2, 3, 4])
@pytest.mark.parametrize("kind", LIBRARY)
def test_a_library_s_collective_stays_within_what_is_told(kind: str, number: int) -> None:
    """Without any of what is left for the store."""
    body = f"big = torch.ones(30_000, dtype=torch.float64)\n{LIBRARY[kind]}"
    setup = {"harness": "", "memory_bytes": 1 << 28, "cpu_s": 30, "hidden": []}
    with world(number, "answer.py", setup=setup) as joined:
        load = {"answer": program(body), "file": "answer.py", "functions": ["main"], "seconds": 30}
        joined.ask([load] * number)
        turn = {"turn": 1, "inputs": {}, "arguments": [], "seed": 0, "seconds": 30, "held": False}
        before = joined.traffic().crossed
        joined.ask([turn] * number)
        after = joined.traffic().crossed
        calls = joined.log.calls
    if before is None or after is None:
        pytest.skip("this system has no own network")
    since = after - before
    assert ranked.least_tcp_bytes(calls) <= since.tcp_bytes
    assert since.tcp_bytes <= ranked.most_tcp_bytes(calls) - ranked.IDLE_BYTES
    assert abs(since.beside) <= 1_000


@pytest.mark.parametrize("attack", ["", "tells a quarter"])
@pytest.mark.parametrize("kind", LIBRARY)
def test_a_library_s_collective_crosses_as_booked_and_no_less_can_be_told(
    kind: str, attack: str
) -> None:
    body = f"big = torch.ones(30_000, dtype=torch.float64)\n{LIBRARY[kind]}"
    text = f"{WIRE_ATTACKS[attack]}\n{answer(body)}" if attack else answer(body)
    verdict = check(SHIFT, answer=text, seed=0)
    if "own network" not in verdict.evidence["isolation"]:
        pytest.skip("this system has no own network")
    assert verdict.passed == (not attack), verdict.message
    assert verdict.diagnosis == ("wire-disagrees" if attack else None), verdict.message


# Every call of torch.distributed that moves numbers, over the group of all and one of its own.
EVERY_CALL = """
from torch.distributed import distributed_c10d as internals
import torch.distributed._functional_collectives as functional
from torch.distributed.device_mesh import init_device_mesh

whole, part = torch.ones(6 * n, dtype=torch.float64), torch.ones(6, dtype=torch.float64)
parts = lambda: [part.clone() for _ in range(n)]
counts = [k + 1 for k in range(n)]
uneven = torch.ones(sum(counts)), torch.ones(n * (r + 1)), [r + 1] * n
mine = lambda values: values if r == 0 else None

def collectives(group, **more):
    yield dist.all_reduce(whole, group=group, **more)
    yield dist.all_reduce(whole, dist.ReduceOp.MAX, group=group, **more)
    yield dist.all_reduce_coalesced([whole, part], group=group, **more)
    yield dist.broadcast(whole, 0, group=group, **more)
    yield dist.reduce(whole, 0, group=group, **more)
    yield dist.all_gather(parts(), part, group=group, **more)
    yield dist.all_gather_into_tensor(whole, part, group=group, **more)
    yield dist.all_gather_coalesced([[p, p] for p in parts()], [part, part], group=group, **more)
    yield dist.reduce_scatter(part, list(whole.chunk(n)), group=group, **more)
    yield dist.reduce_scatter_tensor(part, whole, group=group, **more)
    yield dist.all_to_all(parts(), parts(), group=group, **more)
    yield dist.all_to_all_single(torch.empty_like(whole), whole, group=group, **more)
    given, taken, rows = uneven
    yield dist.all_to_all_single(taken, given, rows, counts, group=group, **more)
    yield dist.gather(part, mine(parts()), 0, group=group, **more)
    yield dist.scatter(part, mine(parts()), 0, group=group, **more)
    yield dist.barrier(group=group, **more)

for group in (dist.group.WORLD, dist.new_group()):
    assert not any(work for work in collectives(group))
    for work in [*collectives(group, async_op=True)]:
        work.wait()
    dist.all_reduce(whole, group=group, async_op=True).get_future().wait()
    dist.all_gather_object([None] * n, {"rank": r}, group=group)
    dist.broadcast_object_list([r], 0, group=group)
    dist.gather_object(r, mine([None] * n), 0, group=group)
    dist.scatter_object_list([None], mine([*range(n)]), 0, group=group)
    if r < 2:
        (dist.recv_object_list if r else dist.send_object_list)([r], 1 - r, group=group)
    for tag in (0, 3):
        works = [dist.isend(part, right, group=group, tag=tag)]
        works += [dist.irecv(part.clone(), left, group=group, tag=tag)]
        for work in works:
            work.wait()
    work = dist.isend(part, right, group=group)
    dist.recv(part.clone(), group=group)
    work.wait()
    with internals._coalescing_manager(group=group):
        dist.all_reduce(whole, group=group)
        dist.all_reduce(part, group=group)
    for found in (
        functional.all_reduce(whole, "sum", group),
        functional.broadcast(whole, 0, group),
        functional.all_gather_tensor(part, 0, group),
        functional.reduce_scatter_tensor(whole, "sum", 0, group),
        functional.all_to_all_single(whole, None, None, group),
        functional.all_to_all_single(uneven[0], uneven[2], counts, group),
        *functional.all_reduce_coalesced([whole, part], "sum", group),
        *functional.all_gather_into_tensor_coalesced([part, part], group),
    ):
        found + 1
mesh = init_device_mesh("cpu", (n, 1), mesh_dim_names=("rows", "columns"))
for name in ("rows", "columns"):
    dist.all_reduce(whole, group=mesh[name].get_group())
own, _ = dist.new_subgroups(1)
dist.all_reduce(whole, group=own)
"""


def test_every_call_is_told_and_crosses_as_it_is_told() -> None:
    puzzle = replace(SHIFT, judge=None, cases=SHIFT.cases[:1])
    verdict = check(puzzle, answer=answer(EVERY_CALL), seed=0)
    assert verdict.passed, verdict.message
    assert verdict.evidence["printed"] == "", verdict.evidence["printed"]


def test_what_is_booked_is_a_rings_volume_for_each_rank() -> None:
    calls = [Call(r, 0, "all_reduce", (0, 1, 2), 0, (30,), 240) for r in range(3)]
    send = Call(2, 1, "send", (0, 1, 2), 0, (5,), 40, peer=0)
    assert ranked._booked([*calls, send], 3) == (320, 320, 360)
