"""Ranks run for real: what they return and send, how failures are told, that nothing is left."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from collections import Counter
from pathlib import Path

import numpy as np
import psutil
import pytest

from gpu_course.errors import CourseError
from gpu_course.grading.python.ranked import least_tcp_bytes, most_tcp_bytes
from gpu_course.isolation import lockdown, network, servers
from gpu_course.isolation.ranks import MAX_RANKS
from gpu_course.ranks import runner
from gpu_course.ranks.runner import RankFailed, Run
from tests.gpu_course.ranks.programs import COMPUTES, ENDLESS, FAILURES, RING, program

pytestmark = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)


def run(folder: Path, text: str, ranks: int = 3, **given: object) -> Run:
    file = folder / "answer.py"
    file.write_text(text)
    return runner.run(file, ranks, arguments=given)


def test_each_rank_returns_prints_and_sends(tmp_path: Path) -> None:
    done = run(tmp_path, RING)
    for rank in range(3):
        before = (rank - 1) % 3
        np.testing.assert_array_equal(done.results[rank], np.full(4, before, np.float32))
        assert done.printed[rank] == f"rank {rank} has {before}.0\n"
        assert done.sent_bytes(rank) == 16
        own = [c for c in done.calls if c.rank == rank]
        assert [(c.kind, c.peer) for c in own] == [("send", (rank + 1) % 3), ("recv", before)]
        assert [c.line for c in own] == [12, 12]


def test_the_kernel_counts_at_least_the_payload(tmp_path: Path) -> None:
    text = program(
        """
        big = torch.ones(50_000)
        got = torch.zeros(50_000)
        ops = [dist.P2POp(dist.isend, big, (r + 1) % n), dist.P2POp(dist.irecv, got, (r - 1) % n)]
        for work in dist.batch_isend_irecv(ops):
            work.wait()
        """
    )
    done = run(tmp_path, text)
    if done.socket_bytes is None:
        pytest.skip("this kernel does not tell what its sockets carried")
    for rank in range(3):
        after, before = (rank + 1) % 3, (rank - 1) % 3
        assert 200_000 <= done.socket_bytes[rank, after] <= 200_000 + 2_000
        assert done.socket_bytes.get((rank, before), 0) <= 2_000


def test_arguments_reach_every_rank(tmp_path: Path) -> None:
    text = "import torch.distributed as dist\ndef main(a, k):\n    return a * k + dist.get_rank()\n"
    done = run(tmp_path, text, ranks=2, k=3, a=np.arange(2.0))
    np.testing.assert_array_equal(done.results, [[0.0, 3.0], [1.0, 4.0]])


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_named(name: str, tmp_path: Path) -> None:
    text, says = FAILURES[name]
    with pytest.raises(RankFailed) as caught:
        run(tmp_path, text)
    told = str(caught.value).replace(str(tmp_path / "answer.py"), "FILE").splitlines()
    assert len(told) >= len(says)
    for line, expected in zip(told, says, strict=False):
        assert line.strip().startswith(expected), "\n".join(told)


def test_one_look_after_a_while_without_a_processor_is_not_a_standstill() -> None:
    """Where whoever looks was not let run, the ranks were not either."""
    now = 0.0
    with subprocess.Popen(["sleep", "60"]) as asleep:
        while psutil.Process(asleep.pid).status() != psutil.STATUS_SLEEPING:
            time.sleep(runner.SHORTEST_POLL_S)
        log = runner.Log([-1])
        watch = runner._Watch(log, [asleep.pid], 60.0, lambda: None, clock=lambda: now)
        stood = []
        for gap in (0.02, 0.9, 0.9, 0.02, 0.9, 0.9, 0.9):
            now += gap
            stood.append(watch.stands_still([0]))
        asleep.kill()
    assert not any(stood[: runner.LOOKS])
    assert stood[-1]


def test_a_call_to_which_all_have_come_is_no_standstill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine nothing may be seen to go on there: each thread waits for the one before.

    All that shows it is looked away from here, and one look is enough.
    """
    monkeypatch.setattr(runner, "_threads", lambda pids: {})
    monkeypatch.setattr(runner, "ASLEEP_S", 1e-6)
    monkeypatch.setattr(runner, "POLL_S", runner.SHORTEST_POLL_S)
    monkeypatch.setattr(runner.World, "_crossed", lambda world: None)
    text = program(
        """
        x = torch.ones(1 << 23)
        dist.all_reduce(x)
        return r
        """
    )
    assert run(tmp_path, text).results == (0, 1, 2)


def test_what_stands_still_is_named_alike_on_a_busy_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There some thread of a rank that waits always seems to run."""
    monkeypatch.setattr(runner, "_threads", lambda pids: None)
    monkeypatch.setattr(runner, "QUIET_S", 0.5)
    text, says = FAILURES["each receives before it sends"]
    with pytest.raises(RankFailed) as caught:
        run(tmp_path, text)
    assert str(caught.value).splitlines()[0] == says[0]
    assert caught.value.key == "standstill"


@pytest.mark.parametrize("name", ENDLESS)
def test_a_rank_that_never_ends_says_in_which_line_it_is(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, why, line = ENDLESS[name]
    monkeypatch.setattr(runner, "QUIET_S", 0.5)
    seconds = 1 if why[0].isdecimal() else 60
    file = tmp_path / "answer.py"
    file.write_text(text)
    with pytest.raises(RankFailed) as caught:
        runner.run(file, 3, seconds=seconds)
    told = str(caught.value).replace(str(file), "FILE").splitlines()
    assert caught.value.key == "deadline"
    assert told[0].startswith(f"the run does not finish: {why}")
    assert told[2].strip() == f"rank 1 is in no call, FILE:{line}"


def test_a_rank_that_computes_while_others_wait_is_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "QUIET_S", 0.3)
    assert run(tmp_path, COMPUTES).results == (0, 1, 2)


def test_a_rank_that_waits_for_a_processor_is_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It sleeps in place of a system whose processors are all taken."""
    monkeypatch.setattr(runner, "QUIET_S", 0.1)
    monkeypatch.setattr(runner, "waited_s", lambda pid: time.monotonic())
    text = program("if r == 1:\n    time.sleep(1)\ndist.all_reduce(x)\nreturn r")
    assert run(tmp_path, text).results == (0, 1, 2)


GROUPS = {
    "made by its ranks alone": """
        g = dist.new_group([0, 1], use_local_synchronization=True)
        if r < 2:
            dist.all_reduce(x, group=g)
        """,
    "two in one order": """
        pairs = [dist.new_group(ranks) for ranks in ([0, 1], [1, 2], [2, 0])]
        for pair in pairs:
            if r in dist.get_process_group_ranks(pair):
                dist.all_reduce(x, group=pair)
        """,
    "ended and made anew": """
        for _ in range(12):
            g = dist.new_group([0, 1, 2])
            dist.all_reduce(x, group=g)
            dist.destroy_process_group(g)
        """,
}


@pytest.mark.parametrize("name", GROUPS)
def test_groups_of_ones_own_are_left_alone(name: str, tmp_path: Path) -> None:
    done = run(tmp_path, program(GROUPS[name] + "\n        return r"))
    assert done.results == (0, 1, 2)
    sizes = {len(call.group) for call in done.calls}
    assert sizes == ({3} if name == "ended and made anew" else {2})


def test_what_was_printed_before_a_failure_is_kept(tmp_path: Path) -> None:
    with pytest.raises(RankFailed) as caught:
        run(tmp_path, program("print('rank', r)\ndist.recv(x, (r + 1) % n)"))
    assert caught.value.printed == ("rank 0\n", "rank 1\n", "rank 2\n")
    assert [call.kind for call in caught.value.calls] == ["recv"] * 3


def test_nothing_survives_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path, RING)
    folders = tmp_path / "folders"
    folders.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folders))
    me = psutil.Process()
    before = {child.pid for child in me.children(recursive=True)}
    for text in (RING, FAILURES["one skips a collective"][0], FAILURES["one ends"][0]):
        with contextlib.suppress(RankFailed):
            run(tmp_path, text)
    assert {child.pid for child in me.children(recursive=True)} == before
    assert not list(folders.iterdir())


def test_where_nothing_can_be_forked_each_rank_starts_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "available", lambda: False)
    folders = tmp_path / "folders"
    folders.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folders))
    me = psutil.Process()
    before = {child.pid for child in me.children(recursive=True)}
    done = run(tmp_path, RING, ranks=2)
    np.testing.assert_array_equal(done.results, [[1.0] * 4, [0.0] * 4])
    assert done.printed == ("rank 0 has 1.0\n", "rank 1 has 0.0\n")
    assert done.note == runner.STARTED_ANEW
    if done.socket_bytes is not None:
        assert done.socket_bytes[0, 1] >= 16
    text = program("dist.barrier()\nif r == 1:\n    os.abort()\ndist.all_reduce(x)")
    with pytest.raises(RankFailed, match=r"rank 1 was ended by SIGABRT, in .*:11"):
        run(tmp_path, text, ranks=2)
    assert {child.pid for child in me.children(recursive=True)} == before
    assert not list(folders.iterdir())


def test_confined_ranks_have_a_network_of_their_own() -> None:
    setup = {"harness": "", "memory_bytes": 1 << 28, "cpu_s": 30, "hidden": []}
    text = program(
        """
        import socket
        dist.all_reduce(x)
        try:
            open("/etc/passwd")
        except OSError as error:
            kept_out = type(error).__name__
        try:
            # An address that is for documents alone.
            socket.create_connection(("192.0.2.1", 9), timeout=1)
        except OSError as error:
            return [kept_out, error.errno]
        """
    )
    with runner.world(2, "answer.py", setup=setup) as joined:
        load = {"answer": text, "file": "answer.py", "functions": ["main"], "seconds": 30}
        assert joined.ask([load] * 2) == [{"loaded": True}] * 2
        turn = {"turn": 1, "inputs": {}, "arguments": [], "seed": 0, "seconds": 30, "held": False}
        replies = joined.ask([turn] * 2)
        level = joined.isolation.partition(" ")[0]
    if lockdown.OWN not in joined.isolation:
        assert level in ("limited", "process")
        pytest.skip("this system lets this user make no network")
    assert [reply["got"]["result"][1] for reply in replies] == [errno.ENETUNREACH] * 2
    if level == "sandboxed":
        assert replies[0]["got"]["result"][0] == "PermissionError"


@pytest.mark.parametrize("number", [0, -1, MAX_RANKS + 1])
def test_a_number_of_ranks_that_cannot_be(number: int, tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=f"1 to {MAX_RANKS}"):
        run(tmp_path, RING, ranks=number)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"no_such\.py cannot be read"):
        runner.run(tmp_path / "no_such.py")


def test_the_same_file_runs_under_torchrun(tmp_path: Path) -> None:
    file = tmp_path / "ring.py"
    file.write_text(RING)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    done = subprocess.run(
        [*command, "--nproc-per-node", "2", "-m", "gpu_course.ranks.runner", str(file)],
        capture_output=True,
        text=True,
        env=os.environ | {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "rank 0 has 1.0" in done.stdout
    assert "rank 1 has 0.0" in done.stdout


def test_the_command_labels_what_each_rank_printed(tmp_path: Path) -> None:
    file = tmp_path / "ring.py"
    file.write_text(RING)
    command = [sys.executable, "-m", "gpu_course.ranks.runner", str(file), "--ranks", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:2] == ["[0] rank 0 has 1.0", "[1] rank 1 has 0.0"]


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        (
            "dist.barrier()\nx[9]",
            1,
            ["rank 0 raised IndexError: index 9 is out", "line 10, in main"],
        ),
        ("dist.destroy_process_group()\nreturn 5", 0, ["rank 0: 5"]),
    ],
)
def test_a_rank_of_torchrun_says_what_it_came_to(
    body: str, status: int, says: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "answer.py"
    file.write_text(program(body))
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    alone = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    command = [sys.executable, "-m", "gpu_course.ranks.runner", str(file)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | alone, check=False
    )
    assert done.returncode == status, done.stderr
    told = done.stdout if status == 0 else done.stderr
    assert "Traceback" not in done.stderr
    assert all(each in told for each in says), told


LIBRARIES = {
    "DDP": (
        """
        wrapped = nn.parallel.DistributedDataParallel(model)
        wrapped(data).sum().backward()
        """,
        {"all_reduce": 1},
    ),
    "fully_shard": (
        """
        from torch.distributed.fsdp import fully_shard
        fully_shard(model)
        model(data).sum().backward()
        """,
        {"all_gather": 1, "reduce_scatter": 1},
    ),
    "parallelize_module": (
        """
        from torch.distributed.tensor import parallel
        cuts = {"0": parallel.ColwiseParallel(), "2": parallel.RowwiseParallel()}
        parallel.parallelize_module(model, init_device_mesh("cpu", (4,)), cuts)
        model(data.requires_grad_()).sum().backward()
        """,
        {"all_reduce": 2},
    ),
    "DTensor": (
        """
        from torch.distributed.tensor import Replicate, Shard, distribute_tensor
        cut = distribute_tensor(data, init_device_mesh("cpu", (4,)), [Shard(0)])
        cut.redistribute(placements=[Replicate()]).to_local()
        """,
        {"scatter": 1, "all_gather": 1},
    ),
    "functional collectives": (
        """
        import torch.distributed._functional_collectives as functional
        functional.all_reduce(data, "sum", dist.group.WORLD) + 1
        functional.all_gather_tensor(data, 0, dist.group.WORLD) + 1
        functional.reduce_scatter_tensor(data, "sum", 0, dist.group.WORLD) + 1
        """,
        {"all_reduce": 1, "all_gather": 1, "reduce_scatter": 1},
    ),
    "ZeroRedundancyOptimizer": (
        """
        from torch.distributed.optim import ZeroRedundancyOptimizer
        ours = ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam)
        model(data).sum().backward()
        ours.step()
        """,
        {"broadcast": 4},
    ),
    "Accelerate": (
        """
        from accelerate import Accelerator
        accelerator = Accelerator(cpu=True)
        wrapped = accelerator.prepare(model)
        accelerator.backward(wrapped(data).sum())
        """,
        {"all_reduce": 1},
    ),
    "a mesh of two directions": (
        """
        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("down", "across"))
        dist.all_reduce(data, group=mesh["down"].get_group())
        dist.all_reduce(data, group=mesh["across"].get_group())
        """,
        {"all_reduce": 2},
    ),
    "objects": ("dist.all_gather_object([None] * 4, r)", {"all_gather": 2}),
}
MODEL = """
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).double()
data = torch.ones(4, 8, dtype=torch.float64)
"""


@pytest.mark.parametrize("name", LIBRARIES)
def test_what_libraries_call_is_told(name: str, tmp_path: Path) -> None:
    body, least = LIBRARIES[name]
    if name == "Accelerate":
        pytest.importorskip("accelerate")
    done = run(tmp_path, program(MODEL + textwrap.dedent(body)), ranks=4)
    for rank in range(4):
        kinds = Counter(call.kind for call in done.calls if call.rank == rank)
        assert all(kinds[kind] >= times for kind, times in least.items()), kinds
    if done.socket_bytes is not None:
        # Nothing of size went another way: gloo adds up to 608 bytes for each step of a call.
        assert sum(done.socket_bytes.values()) <= most_tcp_bytes(done.calls)
        assert sum(done.socket_bytes.values()) >= least_tcp_bytes(done.calls)
    if name == "a mesh of two directions":
        assert {c.group for c in done.calls if c.rank == 0 and c.sizes} >= {(0, 2), (0, 1)}


def test_a_level_says_when_the_network_is_shared() -> None:
    layers = ("limits", "session", "seccomp", "landlock")
    assert lockdown.level([*layers, lockdown.OWN]) == "sandboxed"
    assert lockdown.level([*layers, lockdown.SHARED]) == "limited"
    assert lockdown.level([lockdown.SHARED]) == "process"


def test_connections_of_this_process_are_found() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as one,
        server.accept()[0] as other,
    ):
        one.sendall(b"x" * 1000)
        assert other.recv(2000)
        port = one.getsockname()[1]
        (found,) = [each for each in network.connections() if each.port == port]
        assert found.sent == 1000
        assert found.peer_port == server.getsockname()[1]


def test_what_crosses_loopback_is_counted_by_any_protocol() -> None:
    before = network.crossed()
    if before is None:
        pytest.skip("this system does not tell what crossed its loopback")
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other,
    ):
        other.bind(("127.0.0.1", 0))
        one.sendto(b"x" * 10_000, other.getsockname())
        assert len(other.recv(1 << 16)) == 10_000
    after = network.crossed()
    assert after is not None and (after - before).bytes >= 10_000


RESENT = """
import ctypes, socket, struct, time
from gpu_course.isolation import network

network.own_network()
nothing = (ctypes.c_uint16 * 4)(0x06)  # one instruction, BPF_RET: let through 0 bytes
program = struct.pack("HL", 1, ctypes.addressof(nothing))
data = bytes(30_000)
server = socket.create_server(("127.0.0.1", 0))
one = socket.create_connection(server.getsockname())
other = server.accept()[0]

def sender():
    port = one.getsockname()[1]
    return next(each for each in network.connections() if each.port == port)

before = network.crossed()
other.setsockopt(socket.SOL_SOCKET, 26, program)  # SO_ATTACH_FILTER
one.sendall(data)
while not sender().again:
    time.sleep(0.01)
other.setsockopt(socket.SOL_SOCKET, 27, 0)  # SO_DETACH_FILTER
left = len(data)
while left:
    left -= len(other.recv(left))
since = network.crossed() - before
print(sender().sent, sender().again, since.bytes, since.tcp_bytes, since.beside)
"""


def test_what_tcp_sends_once_more_is_not_counted_twice() -> None:
    """The receiver drops all that arrives until the kernel has begun to send it once more."""
    done = subprocess.run([sys.executable, "-c", RESENT], capture_output=True, text=True)
    if "unshare" in done.stderr:
        pytest.skip("this system lets nobody make a network of their own")
    assert not done.stderr
    sent, again, crossed, tcp, beside = map(int, done.stdout.split())
    assert sent == tcp == 30_000
    assert again > 0
    assert 30_000 <= crossed < 32_000
    assert abs(beside) < 500


BESIDE = """
import socket, sys
from gpu_course.isolation import network

network.own_network()
listens, asks = sys.argv[1:]
family = socket.AF_INET6 if ":" in listens else socket.AF_INET
server = socket.create_server((listens, 0), family=family, dualstack_ipv6=listens == "::")
one = socket.create_connection((asks, server.getsockname()[1]))
other = server.accept()[0]
got = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
got.bind(("127.0.0.1", 0))
begin = network.crossed()
one.sendall(bytes(20_000))
left = 20_000
while left:
    left -= len(other.recv(left))
middle = network.crossed()
got.sendto(bytes(5_000), got.getsockname())
end = network.crossed()
for since in (middle - begin, end - middle):
    print(since.tcp_bytes, since.beside)
"""


@pytest.mark.parametrize(
    ("listens", "asks"), [("127.0.0.1", "127.0.0.1"), ("::", "127.0.0.1"), ("::1", "::1")]
)
def test_what_crosses_beside_tcp_is_told_apart(listens: str, asks: str) -> None:
    command = [sys.executable, "-c", BESIDE, listens, asks]
    done = subprocess.run(command, capture_output=True, text=True)
    if "unshare" in done.stderr:
        pytest.skip("this system lets nobody make a network of their own")
    if ":" in listens and "OSError" in done.stderr:
        pytest.skip("this system has no IPv6")
    assert not done.stderr
    (tcp, beside), (tcp_then, beside_then) = (
        tuple(map(int, line.split())) for line in done.stdout.splitlines()
    )
    assert tcp == 20_000 and abs(beside) < 100
    assert tcp_then == 0 and 5_000 <= beside_then < 5_100


STEPS_OF_A_MODEL = program(
    """
    import resource

    def faults():
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

    torch.ones(1 << 17)
    before = faults()
    for _ in range(100):
        torch.ones(1 << 17)
    return faults() - before
    """
)


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's mallopt")
def test_a_rank_of_ones_own_keeps_the_blocks_that_it_frees(tmp_path: Path) -> None:
    # 512 KiB are 128 pages: a hundred blocks that are mapped anew would be 12,800 faults.
    assert max(run(tmp_path, STEPS_OF_A_MODEL, ranks=2).results) < 1000
