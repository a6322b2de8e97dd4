"""Every packet of a network of one's own, and the messages of gloo that the packets carry.

It is read by a process that runs no line of an answer, from a ring that the kernel fills. So what
crossed is known to the byte whatever protocol carried it, and of each message between two ranks
its length, and whether it was a message alone or a step of a collective.

Source: Linux, packet(7), Documentation/networking/packet_mmap.rst (TPACKET_V3), linux/if_packet.h;
RFC 791, 8200 and 9293; gloo, gloo/transport/tcp/pair.h (Op) and gloo/types.h (Slot).
"""

from __future__ import annotations

import mmap
import select
import socket
import struct
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from gpu_course.isolation import network
from gpu_course.isolation.network import Crossed

BLOCK_BYTES, BLOCKS = 1 << 17, 64
RETIRE_MS = 4
"""After so long the kernel hands over a block that has something in it and is not full."""
MARKER_S = 1.0
"""How long a packet of one's own is waited for, behind which nothing older can come."""
MAX_MESSAGES = 4000
"""Of different length or ends; more than these are not told one by one."""
MESSAGE = 0
"""The kind of what one rank sends one other; a step of a collective has gloo's number for it."""

_SOL_PACKET, _VERSION, _RX_RING, _STATISTICS = 263, 10, 5, 6
_TPACKET_V3, _ETH_P_ALL, _OUTGOING, _TO_USER = 2, 3, 4, 1
_BLOCK, _BLOCK_AT = struct.Struct("=III"), 8  # status, packets, place of the first
_PACKET = struct.Struct("=6I2H")  # next, s, ns, held, length, status, places of MAC and network
_KIND_AT = 48 + 10  # sll_pkttype of the struct sockaddr_ll behind a packet's head
_TCP, _FRAGMENT = 6, 0x1FFF
_SYN, _ACK = 0x02, 0x10
_OP = struct.Struct("<6Q")  # bytes with this head, what it is, slot, offset, length, offset there
_BUFFERS, _LAST_OP = (0, 1), 3
_WHICH_PAIR = 8  # bytes that whoever connects sends first
_PREFIX_BITS = 56
_HALF = 1 << 31

Ends = tuple[bytes, int, bytes, int]
"""Of one direction of a connection: address and port it comes from, address and port it goes to."""


@dataclass
class Stream:
    """One direction of a TCP connection, as it went by.

    Attributes:
        payload: bytes, what was sent once more left out.
        headers: bytes of its packets' headers.
        messages: {(kind, bytes): how many}, as far as what went by is gloo's.
        foreign: bytes that are none of gloo's.
    """

    payload: int = 0
    headers: int = 0
    messages: Counter[tuple[int, int]] = field(default_factory=Counter)
    foreign: int = 0
    _first: int | None = None
    _next: int | None = None
    _early: dict[int, bytes] = field(default_factory=dict)
    _held: bytes = b""
    _skip: int = 0

    def begin(self, number: int, *, connects: bool) -> None:
        """Takes in the packet that opens it; the side that connects says for which pair it is."""
        if number != self._first:
            self._first, self._next = number, (number + 1) % 2**32
            self._early.clear()
            self._held, self._skip = b"", _WHICH_PAIR if connects else 0

    def take(self, number: int, data: bytes) -> None:
        """Takes in a packet's content: what comes early waits, what comes again is left out."""
        if self._next is None:
            self._next = number
        self._early[number] = data
        going = True
        while going:
            going = False
            for at in list(self._early):
                behind = (self._next - at) % 2**32
                if behind < _HALF:
                    new = self._early.pop(at)[behind:]
                    self._next = (self._next + len(new)) % 2**32
                    self._follow(new)
                    going = going or bool(new)

    def _follow(self, data: bytes) -> None:
        self.payload += len(data)
        if self.foreign:
            self.foreign += len(data)
            return
        skipped = min(self._skip, len(data))
        self._skip -= skipped
        self._held += data[skipped:]
        while len(self._held) >= _OP.size:
            size, kind, slot, *_ = _OP.unpack_from(self._held)
            inside = size - _OP.size
            if kind > _LAST_OP or inside < 0 or (inside and kind not in _BUFFERS):
                self.foreign += len(self._held)
                self._held = b""
                return
            if kind in _BUFFERS:
                self.messages[slot >> _PREFIX_BITS, inside] += 1
            behind = _OP.size + inside
            self._skip = max(0, behind - len(self._held))
            self._held = self._held[behind:]


@dataclass
class Seen:
    """What went by so far.

    Attributes:
        streams: by their ends.
        other_bytes: of all packets that are no TCP, with their headers.
    """

    streams: dict[Ends, Stream] = field(default_factory=dict)
    other_bytes: int = 0

    def take(self, packet: bytes) -> None:
        """Takes in a packet, from its IP header on."""
        found = _tcp(packet)
        if found is None:
            self.other_bytes += len(packet)
            return
        ends, number, flags, content = found
        stream = self.streams.setdefault(ends, Stream())
        stream.headers += len(packet) - len(content)
        if flags & _SYN:
            stream.begin(number, connects=not flags & _ACK)
        if content:
            stream.take((number + bool(flags & _SYN)) % 2**32, content)


def _tcp(packet: bytes) -> tuple[Ends, int, int, bytes] | None:
    """Returns (ends, sequence number, flags, content) of a packet of TCP; None of any other."""
    with suppress(struct.error, IndexError):
        if packet[0] >> 4 == 4:
            at = 4 * (packet[0] & 15)
            whole = not struct.unpack_from("!H", packet, 6)[0] & _FRAGMENT
            protocol, source, target = packet[9], packet[12:16], packet[16:20]
        else:
            at, whole = 40, packet[0] >> 4 == 6
            protocol, source, target = packet[6], packet[8:24], packet[24:40]
        if whole and protocol == _TCP:
            one, other, number, _, offset, flags = struct.unpack_from("!HHIIBB", packet, at)
            content = packet[at + 4 * (offset >> 4) :]
            return (source, one, target, other), number, flags, content
    return None


class Capture:
    """The ring in which the kernel lays down what crosses this network's loopback.

    Raises:
        OSError: the system does not give this process such a ring.

    Attributes:
        seen: what went by, as far as it was read.
        lost: how many packets found no room.
    """

    def __init__(self) -> None:
        self.seen = Seen()
        self.lost = 0
        self._at = 0
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        asked = (BLOCK_BYTES, BLOCKS, 2048, BLOCKS * BLOCK_BYTES // 2048, RETIRE_MS, 0, 0)
        self._socket.setsockopt(_SOL_PACKET, _VERSION, _TPACKET_V3)
        self._socket.setsockopt(_SOL_PACKET, _RX_RING, struct.pack("7I", *asked))
        self._ring = mmap.mmap(self._socket.fileno(), BLOCK_BYTES * BLOCKS)
        # What is forked from here on runs answers: none of them may look into the ring.
        self._ring.madvise(mmap.MADV_DONTFORK)
        self._marker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._marker.bind(("127.0.0.1", 0))
        self._marker.setblocking(False)
        self._marked = 0
        self._socket.bind(("lo", _ETH_P_ALL))

    def fileno(self) -> int:
        """Returns the descriptor that says when there is something to read."""
        return self._socket.fileno()

    def read(self) -> None:
        """Takes in all blocks that the kernel has handed over."""
        for block in self._blocks():
            for packet in _packets(block):
                if packet[20:22] + packet[28:] == self._sign():
                    self._marked += 1
                else:
                    self.seen.take(packet)

    def settle(self) -> None:
        """Takes in all that has crossed before this is called."""
        waits_for = self._marked + 1
        self._marker.sendto(self._text(), self._marker.getsockname())
        with suppress(OSError):
            self._marker.recv(64)
        deadline = time.monotonic() + MARKER_S
        while self._marked < waits_for and time.monotonic() < deadline:
            select.select([self._socket], [], [], RETIRE_MS / 1000)
            self.read()
        dropped = struct.unpack_from("=II", self._socket.getsockopt(_SOL_PACKET, _STATISTICS, 12))
        self.lost += dropped[1]

    def _text(self) -> bytes:
        return b"nothing older comes"

    def _sign(self) -> bytes:
        return struct.pack("!H", self._marker.getsockname()[1]) + self._text()

    def _blocks(self) -> Iterator[memoryview]:
        with memoryview(self._ring) as ring:
            while True:
                base = self._at * BLOCK_BYTES
                if not _BLOCK.unpack_from(ring, base + _BLOCK_AT)[0] & _TO_USER:
                    return
                with ring[base : base + BLOCK_BYTES] as block:
                    yield block
                struct.pack_into("=I", ring, base + _BLOCK_AT, 0)
                self._at = (self._at + 1) % BLOCKS


def _packets(block: memoryview) -> Iterator[bytes]:
    """Yields each packet of a block as it arrived: loopback shows it on its way out as well."""
    _, number, at = _BLOCK.unpack_from(block, _BLOCK_AT)
    for _ in range(number):
        following, _, _, held, _, _, _, network = _PACKET.unpack_from(block, at)
        if block[at + _KIND_AT] != _OUTGOING:
            yield bytes(block[at + network : at + network + held])
        at += following


@dataclass(frozen=True)
class Frames:
    """What crossed between ranks, message by message.

    Attributes:
        messages: {(from, to, kind, bytes): how many}.
        foreign: bytes on connections between two ranks that are no message of gloo's.
    """

    messages: Counter[tuple[int, int, int, int]]
    foreign: int

    def __sub__(self, before: Frames) -> Frames:
        return Frames(self.messages - before.messages, self.foreign - before.foreign)


class Ledger:
    """Lays the connections of a capture to the ranks at their ends.

    Args:
        capture: of the ranks' network.
        pids: of the ranks, in order.
        port: at which they meet: what goes there is the store's.
    """

    def __init__(self, capture: Capture, pids: Sequence[int], port: int) -> None:
        self._capture, self._pids, self._port = capture, pids, port
        self._between: dict[tuple[int, int], tuple[int, int]] = {}

    def fileno(self) -> int:
        """Returns the descriptor that says when there is something to read."""
        return self._capture.fileno()

    def read(self) -> None:
        """Takes in what has crossed, and who stands at the ends of what is new."""
        self._capture.read()
        new = {(ends[1], ends[3]) for ends in self._capture.seen.streams} - set(self._between)
        if all(self._port in ports for ports in new):
            return
        with suppress(OSError):
            rank = {pid: number for number, pid in enumerate(self._pids)}
            for ports, (one, other) in network.owners(self._pids).items():
                self._between.setdefault(ports, (rank[one], rank[other]))

    def balance(self) -> tuple[Crossed, Frames | None]:
        """Returns what has crossed by now; no frames where a packet was lost on the way here."""
        self._capture.settle()
        self.read()
        payload, headers, foreign = 0, 0, 0
        beside = self._capture.seen.other_bytes
        messages: Counter[tuple[int, int, int, int]] = Counter()
        for (_, port, _, peer_port), stream in self._capture.seen.streams.items():
            to_store = self._port in (port, peer_port)
            pair = None if to_store else self._between.get((port, peer_port))
            if pair is None and not to_store:
                beside += stream.payload + stream.headers
                continue
            payload, headers = payload + stream.payload, headers + stream.headers
            if pair is not None:
                foreign += stream.foreign
                for (kind, size), count in stream.messages.items():
                    messages[(*pair, kind, size)] += count
        crossed = Crossed(beside + payload + headers, payload, headers)
        whole = not self._capture.lost and len(messages) <= MAX_MESSAGES
        return crossed, Frames(messages, foreign) if whole else None
