"""A network of one's own: loopback and nothing else, and what the kernel counts on its sockets.

Source: Linux, user_namespaces(7), network_namespaces(7), netdevice(7), sock_diag(7);
linux/inet_diag.h, linux/tcp.h.
"""

from __future__ import annotations

import ctypes
import os
import re
import socket
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1

_NETLINK_SOCK_DIAG, _SOCK_DIAG_BY_FAMILY = 4, 20
_NLM_F_REQUEST_DUMP = 0x1 | 0x300
_NLMSG_ERROR, _NLMSG_DONE = 2, 3
_TCP, _ESTABLISHED, _INET_DIAG_INFO = 6, 1, 2
_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBBI")
_SOCKET_ID = struct.Struct("!HH16s16s")
_SEGMENTS = 136  # of struct tcp_info
_IPV4_HEADER, _IPV6_HEADER, _TCP_HEADER = 20, 40, 32  # TCP's with its time stamps
_IPV4_IN_IPV6 = bytes(10) + b"\xff\xff"
_BYTES_SENT = 200  # and behind it what was sent again; since Linux 4.19


def own_network() -> None:
    """Moves this process into a network with loopback alone, where it and its children stay.

    Raises:
        OSError: the system does not let this user make namespaces.
    """
    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    _bring_up(b"lo")


def _bring_up(interface: bytes) -> None:
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        asked = struct.pack("16sH22x", interface, 0)
        flags = struct.unpack_from("H", fcntl.ioctl(any_socket, _SIOCGIFFLAGS, asked), 16)[0]
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH22x", interface, flags | _IFF_UP))


@dataclass(frozen=True)
class Connection:
    """One end of a TCP connection.

    Attributes:
        inode: of the socket, as /proc/PID/fd names it.
        port, peer_port: this end's and the other's.
        sent: bytes the kernel sent for it, without headers and what was sent again.
        again: bytes it sent once more, because their arrival was not told in time.
        header_bytes: of all segments it sent, those that only acknowledge among them.
    """

    inode: int
    port: int
    peer_port: int
    sent: int
    again: int
    header_bytes: int


def connections() -> list[Connection]:
    """Returns every established TCP connection of this network over IPv4 and IPv6.

    Raises:
        OSError: this system has no such interface.
    """
    return [*_connections(socket.AF_INET), *_connections(socket.AF_INET6)]


def _connections(family: int) -> Iterator[Connection]:
    request = _REQUEST.pack(family, _TCP, 1 << (_INET_DIAG_INFO - 1), 0, 1 << _ESTABLISHED)
    request += bytes(48)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as netlink:
        size = _HEADER.size + len(request)
        header = _HEADER.pack(size, _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST_DUMP, 1, 0)
        netlink.send(header + request)
        while True:
            data = netlink.recv(1 << 16)
            while len(data) >= _HEADER.size:
                size, kind, *_ = _HEADER.unpack_from(data)
                if kind == _NLMSG_DONE:
                    return
                if kind == _NLMSG_ERROR:
                    raise OSError(-struct.unpack_from("=i", data, _HEADER.size)[0], "sock_diag")
                yield _connection(data[_HEADER.size : size])
                data = data[(size + 3) & ~3 :]


def _connection(message: bytes) -> Connection:
    """Reads a struct inet_diag_msg and, behind it, the attribute with a struct tcp_info."""
    port, peer_port, source, _ = _SOCKET_ID.unpack_from(message, 4)
    # A socket of IPv6 speaks IPv4 where its address is one of those.
    is_ipv6 = message[0] == socket.AF_INET6 and not source.startswith(_IPV4_IN_IPV6)
    header = _TCP_HEADER + (_IPV6_HEADER if is_ipv6 else _IPV4_HEADER)
    inode = struct.unpack_from("=I", message, 68)[0]
    sent, again, segments, at = 0, 0, 0, 72
    while at + 4 <= len(message):
        size, kind = struct.unpack_from("=HH", message, at)
        if kind == _INET_DIAG_INFO and size >= 4 + _BYTES_SENT + 16:
            all_bytes, again = struct.unpack_from("=QQ", message, at + 4 + _BYTES_SENT)
            sent = all_bytes - again
            segments = struct.unpack_from("=I", message, at + 4 + _SEGMENTS)[0]
        at += max((size + 3) & ~3, 4)
    return Connection(inode, port, peer_port, sent, again, header * segments)


@dataclass(frozen=True)
class Crossed:
    """What crossed a network's loopback so far.

    Attributes:
        bytes: all of it, by whatever protocol, headers included. What TCP sent once more on
            connections that are open is left out: a busy machine does so even here, and no program
            has a say in it.
        tcp_bytes: what connections that are open sent, without headers.
        header_bytes: and the headers of all that they sent, bare acknowledgements among them.
    """

    bytes: int
    tcp_bytes: int
    header_bytes: int

    @property
    def beside(self) -> int:
        """Bytes that no open TCP connection accounts for: other protocols, closed connections."""
        return self.bytes - self.tcp_bytes - self.header_bytes

    def __sub__(self, before: Crossed) -> Crossed:
        return Crossed(
            self.bytes - before.bytes,
            self.tcp_bytes - before.tcp_bytes,
            self.header_bytes - before.header_bytes,
        )


def crossed() -> Crossed | None:
    """Returns what crossed this network's loopback; None where the system tells none.

    Source: proc_pid_net(5): /proc/PID/net/dev.
    """
    with suppress(OSError, ValueError, IndexError):
        for row in Path("/proc/self/net/dev").read_text().splitlines():
            name, colon, counters = row.partition(":")
            if colon and name.strip() == "lo":
                found = connections()
                return Crossed(
                    int(counters.split()[0]) - sum(each.again for each in found),
                    sum(each.sent for each in found),
                    sum(each.header_bytes for each in found),
                )
    return None


def bytes_between(pids: Iterable[int]) -> dict[tuple[int, int], int]:
    """Returns {(process, process): bytes the first sent to the second over TCP}.

    Only connections that are still open count, and only those between the processes given.

    Raises:
        OSError: the kernel does not tell, or a process is not ours to ask.
    """
    ends = {(each.port, each.peer_port): each for each in connections()}
    found: dict[tuple[int, int], int] = {}
    for ports, pair in owners(pids).items():
        if ports in ends:
            found[pair] = found.get(pair, 0) + ends[ports].sent
    return found


def owners(pids: Iterable[int]) -> dict[tuple[int, int], tuple[int, int]]:
    """Returns {(port, peer's port): (process, process)} of open connections between processes.

    Raises:
        OSError: the kernel does not tell, or a process is not ours to ask.
    """
    owner = {inode: pid for pid in pids for inode in _sockets(pid)}
    at = {(c.port, c.peer_port): owner[c.inode] for c in connections() if c.inode in owner}
    return {
        (port, peer_port): (pid, at[peer_port, port])
        for (port, peer_port), pid in at.items()
        if (peer_port, port) in at
    }


def _sockets(pid: int) -> set[int]:
    found = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        with suppress(FileNotFoundError):
            target = os.readlink(f"/proc/{pid}/fd/{name}")
            if match := re.fullmatch(r"socket:\[(\d+)\]", target):
                found.add(int(match[1]))
    return found
