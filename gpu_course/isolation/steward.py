"""The process between a forkserver and the ranks of one run: their network, their end (Linux).

It runs no line of an answer. It forks the ranks, says how each of them ended, and is asked what
their sockets carried: the ranks cannot reach it, so what it counts is out of an answer's hands.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import socket
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple

from gpu_course.isolation import child, lockdown, network
from gpu_course.isolation.capture import Capture, Ledger

STREAMS = 4
"""Descriptors of a rank: requests, replies, what it prints, and the events of its wire. Rank 0 has
one more, the socket at which the ranks meet."""


def main(handles: Sequence[int], folder: str, own_network: bool) -> None:
    """Forks a rank for each group of STREAMS descriptors, and serves until the asker is gone.

    Messages are JSON. It says {"pids", "own_network", "port"} first and {"ended": rank, "status"}
    when a rank ends; {"sockets": true} is answered by {"sockets": [[from, to, bytes] ...] or null,
    "crossed": [bytes, TCP bytes, header bytes] or null, "frames": [foreign bytes, [[from, to, kind,
    bytes, how many] ...]] or null}.

    Args:
        handles: the socket of its own, then those of the ranks.
        folder: where the ranks start.
        own_network: whether the ranks are to have a network of their own.
    """
    wire = socket.socket(fileno=handles[0])
    alone = False
    capture = None
    if own_network:
        with suppress(OSError):
            network.own_network()
            alone = True
            capture = Capture()
    with suppress(ImportError):
        # Once for all ranks; where it cannot be imported, each of them says so.
        importlib.import_module(child.WORLD)
    # Where the ranks meet is listened at before any of them is there, so none has to try twice.
    meeting = socket.create_server(("127.0.0.1", 0))
    port = meeting.getsockname()[1]
    streams = [[*handles[at : at + STREAMS]] for at in range(1, len(handles), STREAMS)]
    streams[0].append(meeting.fileno())
    pids = [_fork(each, handles, folder) for each in streams]
    meeting.close()
    for each in handles[1:]:
        os.close(each)
    _tell(wire, {"pids": pids, "own_network": alone, "port": port})
    ends = {os.pidfd_open(pid): rank for rank, pid in enumerate(pids)}
    ledger = Ledger(capture, pids, port) if capture is not None else None
    watched = [ledger.fileno()] if ledger is not None else []
    while True:
        for ready in select.select([wire.fileno(), *watched, *ends], [], [])[0]:
            if ready == wire.fileno():
                if not wire.recv(4096):
                    return
                _tell(wire, {"sockets": _sockets(pids), **_crossed(ledger)})
            elif ledger is not None and ready == ledger.fileno():
                ledger.read()
            else:
                rank = ends.pop(ready)
                os.close(ready)
                _tell(wire, {"ended": rank, "status": os.waitpid(pids[rank], 0)[1]})


def _crossed(ledger: Ledger | None) -> dict[str, object]:
    """Returns what crossed the network: read packet by packet, or else as interfaces count it."""
    crossed, frames = (None, None) if ledger is None else ledger.balance()
    if crossed is None or frames is None:
        counted = network.crossed()
        return {"crossed": None if counted is None else astuple(counted), "frames": None}
    told = [frames.foreign, [[*at, count] for at, count in frames.messages.items()]]
    return {"crossed": astuple(crossed), "frames": told}


def _tell(wire: socket.socket, message: Mapping[str, object]) -> None:
    with suppress(BrokenPipeError, ConnectionResetError):
        wire.send(json.dumps(message).encode())


def _sockets(pids: Sequence[int]) -> list[tuple[int, int, int]] | None:
    rank = {pid: number for number, pid in enumerate(pids)}
    try:
        between = network.bytes_between(pids)
    except OSError:
        return None
    return [(rank[a], rank[b], sent) for (a, b), sent in sorted(between.items())]


def _fork(streams: Sequence[int], handles: Sequence[int], folder: str) -> int:
    steward = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        lockdown.die_with_parent(steward)
        # Above all others first: a descriptor must not be written over before it is moved.
        above = 1 + max(*handles, *streams)
        for number, handle in enumerate(streams):
            os.dup2(handle, above + number)
        for number in range(len(streams)):
            os.dup2(above + number, number)
        os.closerange(len(streams), 1024)
        os.chdir(folder)
        child.serve()
    except BaseException:
        with contextlib.suppress(BaseException):
            traceback.print_exc()
    finally:
        os._exit(70)
