"""What crosses a network is read packet by packet, and gloo's messages in it one by one."""

from __future__ import annotations

import itertools
import json
import struct
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_course.isolation.capture import MESSAGE, Stream
from tests.sampling import examples

ALL_REDUCE = 4


def op(kind: int, slot: int, inside: bytes = b"") -> bytes:
    """What gloo writes for a message, with its content."""
    return struct.pack("<6Q", 48 + len(inside), kind, slot << 56, 0, len(inside), 0) + inside


GONE_BY = b"".join(
    [op(3, 0), op(1, 0, bytes(500)), op(2, ALL_REDUCE), op(1, ALL_REDUCE, bytes(8)), op(1, 0)]
)
MESSAGES = Counter({(MESSAGE, 500): 1, (ALL_REDUCE, 8): 1, (MESSAGE, 0): 1})


@given(st.data())
@settings(max_examples=examples(200, few=40), deadline=None)
def test_messages_are_found_however_they_are_cut_repeated_and_mixed(data: st.DataObject) -> None:
    connects, first = data.draw(st.booleans()), data.draw(st.sampled_from([0, 2**32 - 100]))
    text = (bytes(8) if connects else b"") + GONE_BY
    places = st.integers(1, len(text) - 1)
    cuts = [0, *sorted(data.draw(st.sets(places, max_size=12))), len(text)]
    packets = [(at, text[at:to]) for at, to in itertools.pairwise(cuts)]
    again = data.draw(st.lists(st.sampled_from(packets), max_size=3))
    stream = Stream()
    stream.begin(first, connects=connects)
    for at, content in data.draw(st.permutations(packets + again)):
        stream.take((first + 1 + at) % 2**32, content)
    assert stream.messages == MESSAGES
    assert (stream.payload, stream.foreign) == (len(text), 0)


@pytest.mark.parametrize("junk", [b"x" * 100, op(9, 0), struct.pack("<6Q", 7, 1, 0, 0, 0, 0)])
def test_what_is_none_of_gloos_is_counted_from_there_on(junk: bytes) -> None:
    stream = Stream()
    stream.take(0, op(1, 0) + junk)
    stream.take(48 + len(junk), op(1, 0))
    assert stream.messages == Counter({(MESSAGE, 0): 1})
    assert stream.foreign == len(junk) + 48


CROSSES = """
import json, os, socket
from gpu_course.isolation import network
from gpu_course.isolation.capture import Capture, Ledger

network.own_network()
capture = Capture()
meeting = socket.create_server(("127.0.0.1", 0))
ledger = Ledger(capture, [os.getpid()], meeting.getsockname()[1])

def pair(server, family=socket.AF_INET):
    one = socket.socket(family)
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 88)
    one.connect(server.getsockname())
    return one, server.accept()[0]

def send(one, other, data):
    one.sendall(data)
    left = len(data)
    while left:
        left -= len(other.recv(left))

def seen():
    crossed, frames = ledger.balance()
    return [crossed.tcp_bytes, crossed.beside, frames.foreign]

found = {}
server = socket.create_server(("127.0.0.1", 0))
one, other = pair(server)
ledger.read()
found["begin"] = seen()
send(one, other, bytes(20_000))
found["between ranks"] = seen()
store = pair(meeting)
send(*store, bytes(3_000))
found["to the store"] = seen()
link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
link.bind(("127.0.0.1", 0))
link.sendto(bytes(5_000), link.getsockname())
found["datagram"] = seen()
six = socket.create_server(("::1", 0), family=socket.AF_INET6)
send(*pair(six, socket.AF_INET6), bytes(700))
found["closed at once"] = seen()
print(json.dumps(found))
"""


def test_what_crosses_is_told_apart_to_the_byte() -> None:
    done = subprocess.run([sys.executable, "-c", CROSSES], capture_output=True, text=True)
    if "PermissionError" in done.stderr or "unshare" in done.stderr:
        pytest.skip("this system lets nobody make a network, or read what crosses it")
    assert not done.stderr
    found = json.loads(done.stdout)
    assert found["begin"] == [0, 0, 0]
    # Small segments have many headers, and none of them hides anything.
    assert found["between ranks"] == [20_000, 0, 20_000 - 8]
    assert found["to the store"] == [23_000, 0, 20_000 - 8]
    assert found["datagram"] == [23_000, 5_028, 20_000 - 8]
    tcp, beside, _ = found["closed at once"]
    assert tcp == 23_000 and beside > 5_028 + 700
