"""Chrome traces that are as they should be, and many that are not."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from gpu_course.errors import CourseError
from gpu_course.lessons.profiling import trace_file
from gpu_course.lessons.profiling.trace_file import read_trace


def event(name: str = "aten::mm", ts: float = 0.0, dur: float = 1.0, **more: Any) -> dict[str, Any]:
    row = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur}
    return row | more


META = {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}}
TAKEN = {
    "ph": "i", "name": "[memory]", "ts": 0.5, "args": {"Bytes": 64, "Addr": 7, "Device Type": 0}
}  # fmt: skip
NESTED = [META, event("step", 0, 10), event(ts=2, dur=3), TAKEN, event("t", 2, 1)]


def written(folder: Path, events: list[Any], name: str = "t.json", **around: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events, **around}))
    return path


def refusal(path: Path, **options: Any) -> str:
    """The one line that says why a file is not read."""
    with pytest.raises(CourseError) as raised:
        read_trace(path, **options)
    assert "\n" not in raised.value.fact and raised.value.hint
    assert "\n" not in raised.value.hint
    return raised.value.fact


def test_a_trace_is_read_with_its_nesting(tmp_path: Path) -> None:
    trace = read_trace(written(tmp_path, NESTED, displayTimeUnit="ms"))
    assert [(e.name, e.number, e.start_ns, e.length_ns) for e in trace.events] == [
        ("step", 1, 0, 10_000), ("aten::mm", 2, 2000, 3000), ("t", 4, 2000, 1000)
    ]  # fmt: skip
    assert trace.parents() == (None, 0, 1)
    assert [(m.at_ns, m.change_bytes, m.address, m.on_cpu) for m in trace.memory] == [
        (500, 64, 7, True)
    ]


def test_gzipped_or_a_bare_list_it_is_the_same(tmp_path: Path) -> None:
    plain = written(tmp_path, NESTED)
    zipped = tmp_path / "t.json.gz"
    zipped.write_bytes(gzip.compress(plain.read_bytes()))
    bare = tmp_path / "bare.json"
    bare.write_text(json.dumps(NESTED))
    expected = read_trace(plain).events
    assert read_trace(zipped).events == read_trace(bare).events == expected


def test_it_is_the_same_however_small_the_pieces_are(tmp_path: Path, monkeypatch) -> None:
    path = written(tmp_path, NESTED * 20)
    expected = read_trace(path).events
    monkeypatch.setattr(trace_file, "_PIECE", 7)
    assert read_trace(path).events == expected


@pytest.mark.parametrize("zipped", [False, True])
def test_a_file_that_is_cut_off_names_the_event(tmp_path: Path, zipped: bool) -> None:
    text = json.dumps({"traceEvents": [event(f"op {k}", 2 * k) for k in range(50)]}).encode()
    path = tmp_path / "t.json"
    if zipped:
        path.write_bytes(gzip.compress(text)[:-20])
        assert "is cut off" in refusal(path)
        return
    place = text.index(b"op 30")
    for end in (place, place - 40, len(text) - 2, len(text) - 3):
        path.write_bytes(text[:end])
        assert "t.json: event " in refusal(path) and "is cut off" in refusal(path)
    path.write_bytes(text[:place])
    assert refusal(path) == "t.json: event 30 is cut off, and the file ends there"


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"dur": None}, "event 2 (aten::mm) has no dur"),
        ({"ts": None}, "event 2 (aten::mm) has no ts"),
        ({"ts": -3.0}, "event 2 (aten::mm) has a negative ts: -3"),
        ({"dur": -1e-3}, "event 2 (aten::mm) has a negative dur: -0.001"),
        ({"ts": float("nan")}, "event 2 (aten::mm) has a ts that is not finite"),
        ({"dur": float("inf")}, "event 2 (aten::mm) has a dur that is not finite"),
        ({"dur": 10**400}, "event 2 (aten::mm) has a dur that is not finite"),
        ({"dur": "3"}, "event 2 (aten::mm) has a dur that is no number"),
        ({"dur": True}, "event 2 (aten::mm) has a dur that is no number"),
        ({"ph": "B"}, "event 2 (aten::mm) begins or ends without a length (ph B or E)"),
        ({"name": "\x1b[31m" + "x" * 90, "dur": None}, "has no dur"),
        ({"name": "[memory]", "ph": "i"}, "event 2 ([memory]) does not say its bytes and address"),
    ],
)  # fmt: skip
def test_an_event_that_cannot_be_is_named(tmp_path: Path, broken: dict, said: str) -> None:
    bad = {key: value for key, value in (event() | broken).items() if value is not None}
    told = refusal(written(tmp_path, [META, event(), bad, event()]))
    assert said in told and told.isprintable() and len(told) < 120


def test_events_that_cross_are_named_both(tmp_path: Path) -> None:
    crossing = [event("a", 0, 10), event("b", 5, 10)]
    assert refusal(written(tmp_path, crossing)) == (
        "t.json: event 1 (b) overlaps event 0 (a) on one thread"
    )
    # On two threads, or where they only touch, nothing is wrong.
    assert len(read_trace(written(tmp_path, [crossing[0], crossing[1] | {"tid": 2}])).events) == 2
    assert len(read_trace(written(tmp_path, [event("a", 0, 5), event("b", 5, 5)])).events) == 2


def test_nanoseconds_that_rounding_moved_are_no_overlap(tmp_path: Path) -> None:
    late = [event("a", 0, 10), event("b", 4, 6.002)]
    beside = [event("a", 0, 10.002), event("b", 10, 5), event("c", 10, 1)]
    trace = read_trace(written(tmp_path, late))
    assert trace.events[1].end_ns == trace.events[0].end_ns == 10_000
    trace = read_trace(written(tmp_path, beside))
    assert trace.parents() == (None, None, 1)
    assert all(each.length_ns >= 0 for each in trace.events)


def test_a_zero_length_is_nobodys_trouble(tmp_path: Path) -> None:
    trace = read_trace(
        written(tmp_path, [event("a", 0, 5), event("z", 5, 0), event("b", 5, 5), event("y", 5, 0)])
    )
    assert sorted(e.name for e in trace.events) == ["a", "b", "y", "z"]


def test_too_many_events_end_the_reading_at_once(tmp_path: Path) -> None:
    path = written(tmp_path, [event(ts=2 * k) for k in range(50)])
    assert refusal(path, max_events=20) == "t.json: event 20 is one too many, 20 are read"
    assert len(read_trace(path, max_events=50).events) == 50


def test_a_file_of_300_megabytes_is_read_no_further_than_it_has_to_be(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    one = (json.dumps(event()) + ",\n").encode()
    with path.open("wb") as stream:
        stream.write(b'{"traceEvents": [\n')
        stream.write(one * 30)
        stream.seek(300 * 2**20)  # a file with a hole, which takes no room on the disk
        stream.write(b"]}")
    assert "event 30 is not written as JSON" in refusal(path)
    assert "event 5 is one too many" in refusal(path, max_events=5)


@pytest.mark.parametrize(
    "text",
    [
        b"", b"   ", b"hello", b"{}", b'{"traceEvents": 3}', b'{"traceEvents": [', b"[", b"[1, 2]",
        b'{"traceEvents": []}', b'{"traceEvents": [null]}', b"\xff\xfe\x00", b"\x1f\x8b", b"\x1f",
        b'{"traceEvents": [{"ph": "X", "ts": 1' + b"1" * 5000 + b"}]}", b"[" * 100_000,
        b"\x1f\x8b\x08\x00nonsense that is no deflate stream", b'[{"ph": "X", "name": [1]}]',
    ],
)  # fmt: skip
def test_what_is_no_trace_is_answered_in_a_line(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(text)
    assert "t.json" in refusal(path)
