"""Several processes forked together, as whoever runs them sees them: the ranks of one run."""

from __future__ import annotations

import json
import os
import select
import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from gpu_course.errors import CourseError
from gpu_course.isolation import servers
from gpu_course.isolation.forkserver import MOST_HANDLES
from gpu_course.isolation.network import Crossed
from gpu_course.isolation.processes import Ended, Process, piped
from gpu_course.isolation.steward import STREAMS

MOST_RANKS = (MOST_HANDLES - 1) // STREAMS


@dataclass(frozen=True)
class Traffic:
    """Bytes that the kernel counted.

    Attributes:
        between: {(from, to): bytes over TCP} on connections of the ranks that are open; None where
            the kernel does not tell.
        crossed: all that crossed their own network; None where they have none.
    """

    between: dict[tuple[int, int], int] | None
    crossed: Crossed | None


@dataclass
class Ranks:
    """The processes of one run, and the steward that forked them.

    Attributes:
        processes: one for each rank.
        events: for each rank the descriptor its events are read from; reading never waits.
        own_network: whether they have a network of their own.
        port: on loopback, where they meet; rank 0 has the socket that listens there as STREAMS.
    """

    processes: list[Process]
    events: list[int]
    own_network: bool
    port: int
    _wire: socket.socket
    _ended: dict[int, int] = field(default_factory=dict)

    def ended(self) -> dict[int, int]:
        """Returns {rank: wait status} of those that have ended."""
        while select.select([self._wire], [], [], 0)[0]:
            self._take(self._receive())
        return self._ended

    def traffic(self) -> Traffic:
        """Returns what the kernel has counted so far."""
        self._wire.send(b'{"sockets": true}')
        while "sockets" not in (message := self._receive()):
            self._take(message)
        found = message["sockets"]
        between = None if found is None else {(a, b): sent for a, b, sent in found}
        told = message["crossed"] if self.own_network else None
        return Traffic(between, None if told is None else Crossed(*told))

    def _take(self, message: Mapping[str, Any]) -> None:
        self._ended[message["ended"]] = message["status"]

    def _receive(self) -> dict[str, Any]:
        data = self._wire.recv(1 << 20)
        if not data:
            raise Ended("exit")
        return dict(json.loads(data))


@contextmanager
def started_ranks(
    libraries: str, number: int, *, own_network: bool, server: str = ""
) -> Iterator[Ranks]:
    """Yields so many fresh processes; at the end nothing of them is left.

    Args:
        libraries: "numpy" or "torch".
        number: how many, from 1 to MOST_RANKS.
        own_network: whether they are to have a network of their own, which not every system grants.
        server: as in `servers.forkserver`.

    Raises:
        CourseError: this system has no forkserver.
    """
    folder = servers.empty_folder()
    warm = servers.forkserver(libraries, server)
    with warm.lock, ExitStack() as closing:
        closing.callback(servers.remove_folder, folder)
        wire, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        closing.callback(wire.close)
        ranks = Ranks([], [], False, 0, wire)
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
        begun = ranks._receive()
        ranks.own_network, ranks.port = begun["own_network"], begun["port"]
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
