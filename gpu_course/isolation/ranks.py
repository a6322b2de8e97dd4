"""Several processes started together, as whoever runs them sees them: the ranks of one run."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from gpu_course.errors import CourseError
from gpu_course.isolation import network, servers
from gpu_course.isolation.capture import Frames
from gpu_course.isolation.forkserver import MAX_HANDLES
from gpu_course.isolation.network import Crossed
from gpu_course.isolation.processes import Ended, Process, end_family, piped
from gpu_course.isolation.steward import STREAMS

CAN_SPAWN = os.name == "posix"
"""Whether a new process can be handed descriptors beside its standard streams."""
MAX_RANKS = (MAX_HANDLES - 1) // STREAMS


@dataclass(frozen=True)
class Traffic:
    """Bytes that the kernel counted.

    Attributes:
        between: {(from, to): bytes over TCP} on connections of the ranks that are open; None where
            the kernel does not tell.
        crossed: all that crossed their own network; None where they have none.
        frames: each message that did; None where the packets are not at hand.
    """

    between: dict[tuple[int, int], int] | None
    crossed: Crossed | None
    frames: Frames | None = None


@dataclass
class Ranks:
    """The processes of one run.

    Attributes:
        processes: one for each rank.
        events: for each rank the descriptor its events are read from; reading never waits.
        own_network: whether they have a network of their own.
        port: on loopback, where they meet; rank 0 has the socket that listens there.
        warm: whether they were forked with their libraries; else each of them started anew.
    """

    processes: list[Process]
    events: list[int]
    own_network: bool
    port: int
    warm: bool
    _keeper: _Steward | _Spawned

    def ended(self) -> dict[int, int]:
        """Returns {rank: wait status} of those that have ended."""
        return self._keeper.ended()

    def traffic(self) -> Traffic:
        """Returns what the kernel has counted so far."""
        return self._keeper.traffic()


@contextmanager
def started_ranks(
    libraries: str, number: int, *, own_network: bool, server: str = ""
) -> Iterator[Ranks]:
    """Yields so many fresh processes; at the end nothing of them is left.

    Where a system has no forkserver, each process starts Python anew, on the machine's own network.

    Args:
        libraries: "numpy" or "torch".
        number: how many, from 1 to MAX_RANKS.
        own_network: whether they are to have a network of their own, which not every system grants.
        server: as in `servers.forkserver`.

    Raises:
        CourseError: this system can start no ranks.
    """
    forks = servers.available()
    if forks:
        # It takes seconds to start, and whoever is killed meanwhile could remove no folder.
        servers.forkserver(libraries, server)
    folder = servers.empty_folder()
    with ExitStack() as closing:
        closing.callback(servers.remove_folder, folder)
        if forks:
            ranks = closing.enter_context(
                _forked(libraries, number, folder, own_network=own_network, server=server)
            )
        elif CAN_SPAWN:
            ranks = closing.enter_context(_spawned(libraries, number, folder))
        else:
            raise CourseError(
                "this system hands a new process no more than its standard streams",
                f"start the file by torchrun --nproc-per-node {number}, or use Linux",
            )
        yield ranks


@dataclass
class _Steward:
    """The process that forked the ranks, as it is asked about them."""

    wire: socket.socket
    own_network: bool = False
    found: dict[int, int] = field(default_factory=dict)

    def ended(self) -> dict[int, int]:
        while select.select([self.wire], [], [], 0)[0]:
            self._take(self.receive())
        return self.found

    def traffic(self) -> Traffic:
        self.wire.send(b'{"sockets": true}')
        while "sockets" not in (message := self.receive()):
            self._take(message)
        found = message["sockets"]
        between = None if found is None else {(a, b): sent for a, b, sent in found}
        told = message["crossed"] if self.own_network else None
        crossed = None if told is None else Crossed(*told)
        frames = None
        if message["frames"] is not None:
            foreign, rows = message["frames"]
            frames = Frames(Counter({tuple(at): count for *at, count in rows}), foreign)
        return Traffic(between, crossed, frames)

    def _take(self, message: Mapping[str, Any]) -> None:
        self.found[message["ended"]] = message["status"]

    def receive(self) -> dict[str, Any]:
        data = self.wire.recv(1 << 20)
        if not data:
            raise Ended("exit")
        return dict(json.loads(data))


@contextmanager
def _forked(
    libraries: str, number: int, folder: str, *, own_network: bool, server: str
) -> Iterator[Ranks]:
    warm = servers.forkserver(libraries, server)
    with warm.lock, ExitStack() as closing:
        wire, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        closing.callback(wire.close)
        steward = _Steward(wire)
        ranks = Ranks([], [], False, 0, True, steward)
        handles = [theirs.detach()]
        for _ in range(number):
            (their_in, our_out), (our_in, their_out) = os.pipe(), os.pipe()
            (our_print, their_print), (our_events, their_events) = os.pipe(), os.pipe()
            handles += their_in, their_out, their_print, their_events
            os.set_blocking(our_events, False)
            closing.callback(os.close, our_events)
            ranks.events.append(our_events)
            ranks.processes.append(piped(0, our_in, our_out, our_print))
            closing.callback(ranks.processes[-1].close)
        try:
            warm.fork_ranks(folder, handles, own_network)
        except (OSError, KeyError) as error:
            warm.close()
            raise CourseError(f"the forkserver is gone: {error}", "run it again") from None
        finally:
            for each in handles:
                os.close(each)
        # The last to be put here comes first: pipes are read to their end once the ranks are gone.
        closing.callback(_end, warm)
        wire.settimeout(servers.START_DEADLINE_S)
        begun = steward.receive()
        ranks.own_network = steward.own_network = begun["own_network"]
        ranks.port = begun["port"]
        for process, pid in zip(ranks.processes, begun["pids"], strict=True):
            process.pid = pid
        yield ranks


def _end(server: servers.Forkserver) -> None:
    """Ends what a forkserver forked last; one that cannot is replaced by the next run."""
    try:
        server.end()
    except (OSError, KeyError):
        server.close()
    except BaseException:
        # Interrupted between question and answer.
        server.close()
        raise


@dataclass
class _Spawned:
    """Ranks that are this process's own children."""

    children: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def ended(self) -> dict[int, int]:
        codes = {rank: child.poll() for rank, child in enumerate(self.children)}
        # A wait status has the signal in its low byte, and an exit's number above it.
        return {
            rank: -code if code < 0 else code << 8
            for rank, code in codes.items()
            if code is not None
        }

    def traffic(self) -> Traffic:
        rank = {child.pid: number for number, child in enumerate(self.children)}
        try:
            between = network.bytes_between(list(rank))
        except (OSError, AttributeError):
            # No Linux, or one of them has ended.
            return Traffic(None, None)
        return Traffic({(rank[a], rank[b]): sent for (a, b), sent in between.items()}, None)


@contextmanager
def _spawned(libraries: str, number: int, folder: str) -> Iterator[Ranks]:
    spawned = _Spawned()
    with ExitStack() as closing, socket.create_server(("127.0.0.1", 0)) as meeting:
        ranks = Ranks([], [], False, meeting.getsockname()[1], False, spawned)
        for rank in range(number):
            our_events, their_events = os.pipe()
            os.set_blocking(our_events, False)
            closing.callback(os.close, our_events)
            ranks.events.append(our_events)
            handles = [their_events, *([meeting.fileno()] if rank == 0 else [])]
            try:
                child = subprocess.Popen(
                    servers.command("alone", libraries, *map(str, handles)),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env=servers.environment(),
                    cwd=folder,
                    start_new_session=True,
                    pass_fds=handles,
                )
            finally:
                os.close(their_events)
            assert child.stdin and child.stdout and child.stderr
            spawned.children.append(child)
            process = Process(child.pid, child.stdout, child.stdin, child.stderr)
            ranks.processes.append(process)
            closing.callback(process.close)
            closing.callback(end_family, child)
        meeting.close()
        yield ranks
