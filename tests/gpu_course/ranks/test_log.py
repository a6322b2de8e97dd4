"""What ranks tell becomes calls; what they could make up or pour in does not."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from gpu_course.ranks import log
from gpu_course.ranks.calls import NEW_GROUP
from gpu_course.ranks.log import Log

CALL = {
    "rank": 0, "number": 0, "kind": "send", "group": [0, 1], "place": 0, "sizes": [4],
    "payload_bytes": 32, "peer": 1, "tag": 0, "line": 7,
}  # fmt: skip


class Told:
    """A log of two ranks, and the ends that the ranks write to."""

    def __init__(self) -> None:
        (ours, self.first), (other, self.second) = os.pipe(), os.pipe()
        for each in (ours, other, self.first):
            os.set_blocking(each, False)
        self.ends = (ours, other, self.first, self.second)
        self.log = Log([ours, other])

    def tell(self, message: Any) -> None:
        self._tell(self.first, message)

    def tell_as_second(self, message: Any) -> None:
        self._tell(self.second, message)

    def _tell(self, end: int, message: Any) -> None:
        text = message if isinstance(message, bytes) else json.dumps(message).encode()
        os.write(end, text + b"\n")
        self.log.read()


@pytest.fixture
def told() -> Iterator[Told]:
    made = Told()
    yield made
    for each in made.ends:
        os.close(each)


def test_a_call_its_wait_and_its_end(told: Told) -> None:
    told.tell({"call": CALL})
    (call,) = told.log.calls
    assert (call.rank, call.kind, call.group, call.line) == (0, "send", (0, 1), 7)
    assert told.log.never_waited_for() == [call] and told.log.waits_for(0) is None
    told.tell({"waits": 0})
    assert told.log.waits_for(0) == call and told.log.waits_for(1) is None
    told.tell({"over": 0})
    assert told.log.never_waited_for() == [] and told.log.waits_for(0) is None


def test_who_ends_the_group_is_told_with_the_line(told: Told) -> None:
    told.tell({"ends": 12})
    told.tell({"ends": "now"})
    assert told.log.ended == [(0, 12)]


def test_who_tells_is_the_pipe_and_not_what_is_told(told: Told) -> None:
    told.tell({"call": CALL | {"rank": 1}})
    assert [call.rank for call in told.log.calls] == [0]


def test_what_nobody_can_wait_for_any_more_is_known(told: Told) -> None:
    told.tell({"call": CALL})
    assert told.log.dropped() == []
    told.tell({"dropped": 0})
    assert told.log.dropped() == told.log.calls
    told.tell({"call": CALL | {"number": 1, "kind": "all_reduce", "peer": None}})
    told.tell({"dropped": 1})
    assert len(told.log.dropped()) == 1, "a collective that was let go of goes on"


@pytest.mark.parametrize(
    "message",
    [
        b"", b"[" * 30_000, b"9" * 9_000, b"{}", b"nonsense", b'{"call": 3}', b'{"over": {}}',
        {"call": CALL | {"kind": "sends"}}, {"call": CALL | {"kind": ["send"]}},
        {"call": CALL | {"group": [1]}}, {"call": CALL | {"group": [0, 0]}},
        {"call": CALL | {"group": [0, 5]}}, {"call": CALL | {"peer": 2}},
        {"call": CALL | {"payload_bytes": -1}}, {"call": CALL | {"payload_bytes": 1e3}},
        {"call": CALL | {"payload_bytes": 1 << 60}}, {"call": CALL | {"number": True}},
        {"call": CALL | {"sizes": [1] * 5_000}}, {"call": CALL | {"sizes": 3}},
        {"call": CALL | {"line": "7"}}, {"call": {"rank": 0}}, {"waits": "0"}, {"waits": None},
        {"dropped": []}, {"call": CALL | {"dtype": 3}}, {"call": CALL | {"op": "a b"}},
        {"call": CALL | {"gives": [1]}}, {"makes": {"group": [1], "place": 0, "tag": 0, "line": 1}},
        {"makes": {"group": [0, 9], "place": 0, "tag": 0, "line": 1}}, {"makes": 3},
        {"found": {"number": 0, "peer": 1, "place": 0}}, {"found": None},
    ],
)  # fmt: skip
def test_what_is_no_event_is_left_out(told: Told, message: Any) -> None:
    told.tell(message)
    assert told.log.calls == [] and told.log.waits_for(0) is None
    told.tell({"call": CALL})
    assert len(told.log.calls) == 1


def test_a_number_is_told_once(told: Told) -> None:
    told.tell({"call": CALL})
    told.tell({"call": CALL | {"payload_bytes": 8}})
    assert [call.payload_bytes for call in told.log.calls] == [32]


def test_a_line_without_end_is_a_flood(told: Told) -> None:
    assert told.log.flooded is None
    for _ in range(3):
        os.write(told.first, b"x" * 30_000)
        told.log.read()
    assert told.log.flooded == 0


def test_events_without_end_are_a_flood(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "MAX_EVENTS", 50)
    for _ in range(50):
        told.tell({"waits": 1})
    assert told.log.flooded is None
    told.tell({"waits": 1})
    assert told.log.flooded == 0


def test_what_a_rank_told_is_there_in_its_order(told: Told) -> None:
    second = {**CALL, "number": 1, "place": 1}
    for message in ({"call": CALL}, {"mark": 7}, {"call": second}, {"waits": 0}, {"future": 1},
                    {"over": 0}, {"mark": -1}, {"mark": "x"}):  # fmt: skip
        told.tell(message)
    assert told.log.told == [
        [("begins", 0), ("mark", 7), ("begins", 1), ("waits", 0), ("future", 1), ("over", 0)],
        [],
    ]


def test_a_collective_is_under_way_until_somebody_has_waited_for_it(told: Told) -> None:
    told.tell({"call": CALL | {"kind": "all_gather", "peer": None}})
    assert told.log.collectives_under_way() == told.log.calls
    assert told.log.never_waited_for() == []
    told.tell({"over": 0})
    assert told.log.collectives_under_way() == []


def test_a_group_that_is_made_is_waited_for_and_is_no_call(told: Told) -> None:
    told.tell({"makes": {"group": [0, 1], "place": 3, "tag": 0, "line": 9}})
    making = told.log.waits_for(0)
    assert making is not None and (making.kind, making.group, making.line) == (NEW_GROUP, (0, 1), 9)
    assert told.log.missing_from(making) == (1,) and told.log.calls == []
    told.tell({"made": True})
    assert told.log.waits_for(0) is None and told.log.groups == [making]


def test_who_has_not_come_to_a_collective_is_known(told: Told) -> None:
    told.tell({"call": CALL | {"kind": "barrier", "peer": None}})
    assert told.log.missing_from(told.log.calls[0]) == (1,)


@pytest.mark.parametrize(
    ("mine", "theirs", "complete"),
    [
        ({"kind": "barrier", "peer": None}, {"kind": "barrier", "peer": None}, True),
        ({"kind": "barrier", "peer": None}, {"kind": "send", "peer": 0}, False),
        ({"kind": "send"}, {"kind": "recv", "peer": 0}, True),
        ({"kind": "send"}, {"kind": "recv", "peer": 0, "place": 5}, False),
        ({"kind": "send"}, {"kind": "recv", "peer": 0, "tag": 5}, False),
        ({"kind": "send"}, {"kind": "send", "peer": 0}, False),
        ({"kind": "recv"}, {"kind": "send", "peer": 0}, True),
        ({"kind": "recv", "peer": None}, {"kind": "send", "peer": 0}, True),
        ({"kind": "recv", "peer": None}, {"kind": "recv", "peer": 0}, False),
    ],
)
def test_a_call_to_which_all_have_come_waits_for_nobody(
    told: Told, mine: dict[str, Any], theirs: dict[str, Any], complete: bool
) -> None:
    told.tell({"call": CALL | mine})
    (call,) = told.log.calls
    assert not told.log.is_complete(call)
    told.tell_as_second({"call": CALL | theirs})
    assert told.log.is_complete(call) is complete


def test_a_message_that_was_let_go_of_completes_nothing(told: Told) -> None:
    told.tell({"call": CALL})
    told.tell_as_second({"call": CALL | {"kind": "recv", "peer": 0}})
    sent, received = told.log.calls
    assert told.log.is_complete(sent) and told.log.is_complete(received)
    told.tell({"dropped": sent.number})
    assert not told.log.is_complete(sent) and not told.log.is_complete(received)


def test_a_message_that_another_receive_took_completes_none_from_any_rank(told: Told) -> None:
    told.tell_as_second({"call": CALL | {"peer": 0}})
    told.tell({"call": CALL | {"kind": "recv", "peer": None}})
    told.tell({"call": CALL | {"number": 1, "kind": "recv", "peer": None, "place": 1}})
    first, second = told.log.calls[1:]
    assert told.log.is_complete(first) and told.log.is_complete(second)
    told.tell({"found": {"number": first.number, "peer": 1, "place": told.log.calls[0].place}})
    assert not told.log.is_complete(second)


def test_from_whom_a_message_came_is_told_later(told: Told) -> None:
    told.tell({"call": CALL | {"kind": "recv", "peer": None}})
    told.tell({"found": {"number": 0, "peer": 1, "place": 2}})
    assert told.log.found == [replace(told.log.calls[0], peer=1, place=2)]


def test_where_a_rank_is_comes_as_python_writes_it(told: Told) -> None:
    told.tell(b'  File "other.py", line 3 in read')
    assert told.log.line_of(0, "a.py") == 0
    told.tell(b'  File "cell 2", line 5 in of_an_earlier_cell')
    told.tell(b'  File "cell 4", line 7 in main')
    told.tell(b'  File "cell 4", line 9 in <module>')
    assert told.log.line_of(0, "cell") == 7 and told.log.line_of(1, "cell") == 0
    told.log.begin()
    assert told.log.line_of(0, "cell") == 0
    told.tell(b'  File "my file.py", line 2 in main')
    assert told.log.line_of(0, "my file.py") == 2
