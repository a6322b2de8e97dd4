"""What lesson 09 shows: tables and pictures of traces, and an allocator's snapshot."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.card.nsight_cases import METRICS
from gpu_course.draw.paper.picture import alt_text
from gpu_course.errors import CourseError
from gpu_course.lessons.profiling.claims import steps
from gpu_course.lessons.profiling.shows import (
    bars_of,
    beside_the_sound_loop,
    call_table,
    history_text,
    inside,
    live_bytes,
    marks_of,
    open_trace,
    save_trace,
    show_memory,
    show_simulated,
    show_snapshot,
    show_timeline,
    step_counts,
)
from gpu_course.lessons.profiling.snapshot import Allocator, live_bytes_of, pieces_of
from gpu_course.lessons.profiling.sweep import sweep
from gpu_course.lessons.profiling.trace_file import Trace, read_trace
from gpu_course.measure.timeline import Copy, Host, Kernel, Synchronise, run
from gpu_course.notebook.note import Note
from gpu_course.notebook.pictures import Picture
from tests.course.puzzles.by_hand import SOLUTIONS
from tests.gpu_course.draw.readable import assert_readable
from tests.lessons.profiling.test_trace_file import event, written

MIB = 2**20


def small(tmp_path: Path) -> Trace:
    memory: list[dict[str, Any]] = [
        {"ph": "i", "name": "[memory]", "ts": at, "args": {"Bytes": size, "Addr": 1}}
        for at, size in ((0.5, 4096), (3.5, 8192), (6.0, -8192))
    ]
    return read_trace(
        written(
            tmp_path,
            [
                event("step 0", 1, 9, cat="user_annotation"),
                event("aten::linear", 2, 6),
                event("aten::addmm", 3, 4),
                event("kernel_a", 4, 2, cat="kernel", pid=0, tid=7),
                event("cudaDeviceSynchronize", 8, 1.5, cat="cuda_runtime"),
                *memory,
            ],
        )
    )


def test_a_table_has_totals_and_what_is_left_of_them(tmp_path: Path) -> None:
    lines = call_table(small(tmp_path)).splitlines()
    assert lines[0].split() == ["name", "calls", "in", "all", "itself"]
    rows = {line.split()[0]: line.split()[1:] for line in lines[1:]}
    assert rows["aten::addmm"] == ["1", "4", "µs", "4", "µs"]
    assert rows["aten::linear"] == ["1", "6", "µs", "2", "µs"]
    assert max(map(len, lines)) <= 70


def test_a_timeline_has_a_lane_for_each_thread_and_each_stream(tmp_path: Path) -> None:
    trace = small(tmp_path)
    bars = bars_of(trace)
    assert [(bar.lane, bar.depth, bar.kind) for bar in bars] == [
        ("thread 1", 0, "mark"), ("thread 1", 1, "operator"), ("thread 1", 2, "operator"),
        ("stream 7", 0, "kernel"), ("thread 1", 1, "wait"),
    ]  # fmt: skip
    shown = show_timeline(trace, within="aten::linear")
    assert isinstance(shown, Picture)
    assert "stream 7: 1 event, outermost kernel_a" in alt_text(shown.figure)
    assert_readable(shown.figure)
    assert isinstance(show_timeline(trace, within="backward"), Note)
    with pytest.raises(CourseError, match="no event is called 'aten::mm'"):
        inside(trace, "aten::mm")


def test_a_timeline_says_no_times(tmp_path: Path) -> None:
    """Times differ from run to run, and the words of a picture are compared."""
    fast = small(tmp_path)
    rows = json.loads(fast.path.read_text())["traceEvents"]
    for row in rows:
        row["ts"] *= 3
        row["dur"] = row.get("dur", 0) * 3
    slow = read_trace(written(tmp_path, rows, "slow.json"))
    assert repr(show_timeline(fast)) == repr(show_timeline(slow))


def test_a_simulated_run_is_drawn_as_it_was_simulated() -> None:
    program = [Kernel("k", 2e-5, 1), Copy("c", 1e5, "H2D", 2), Host("Python", 1e-5), Synchronise()]
    shown = show_simulated(program)
    assert isinstance(shown, Picture) and "stream 2: 1 event, outermost c" in repr(shown)
    many = show_simulated([Kernel(name, 2e-5, 1) for name in "abcdef"])
    assert "stream 1: 6 events, outermost a, b, c, d and 2 others." in repr(many)
    assert isinstance(show_simulated([Kernel("k", -1.0)]), Note)


def test_a_simulated_trace_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    timeline = run([Kernel("k", 2e-5, 1), Kernel("l", 3e-5, 2), Synchronise()])
    trace = read_trace(timeline.write_trace(tmp_path / "t.json"))
    assert sorted(e.name for e in trace.events) == sorted(s.name for s in timeline.spans)
    for span in timeline.of("compute"):
        (same,) = (e for e in trace.events if e.name == span.name)
        assert same.length_ns == round(span.seconds * 1e9)


def test_a_trace_is_saved_for_perfetto(tmp_path: Path) -> None:
    trace = small(tmp_path)
    for name in ("a.json", "a.json.gz"):
        said = save_trace(trace, tmp_path / name)
        assert name in said and "https://ui.perfetto.dev" in said
        assert read_trace(tmp_path / name).events == trace.events
    with gzip.open(tmp_path / "a.json.gz") as stream:
        assert json.load(stream)["traceEvents"]
    assert isinstance(save_trace(trace, tmp_path / "nowhere" / "a.json"), Note)


def test_a_file_that_is_no_good_is_answered_in_words(tmp_path: Path) -> None:
    good = small(tmp_path).path
    cut = tmp_path / "cut.json"
    cut.write_bytes(good.read_bytes()[:-150])
    told = open_trace(cut)
    assert isinstance(told, Note) and repr(told).startswith("cut.json: event ")
    assert isinstance(open_trace(tmp_path / "nothing.json"), Note)
    assert isinstance(open_trace(tmp_path), Note)
    assert isinstance(open_trace(str(good)), Trace)


def test_memory_is_what_the_allocator_told(tmp_path: Path) -> None:
    shown = repr(show_memory(small(tmp_path)))
    assert "3 events" in shown and "step 0: at most 12 KiB, 4 KiB at the end" in shown


def test_memory_is_that_of_the_gpu_where_there_is_any(tmp_path: Path) -> None:
    blocks = [
        {
            "ph": "i",
            "name": "[memory]",
            "ts": at,
            "args": {"Bytes": size, "Addr": 1, "Device Type": on},
        }
        for at, size, on in ((0.5, 4096, 0), (1.5, 512, 1), (2.5, 1024, 1), (3.5, -512, 1))
    ]
    step = event("step 0", 2, 9, cat="user_annotation")
    trace = read_trace(written(tmp_path, [event("a", 0, 1), step, *blocks]))
    assert live_bytes(trace) == [512, 1536, 1024]
    assert marks_of(trace) == [(1, "step 0")]


def test_what_is_planted_differs_from_the_sound_loop_where_it_should() -> None:
    told = beside_the_sound_loop("item", 0).splitlines()
    assert [line.split() for line in told[1:]] == [
        ["rest", "aten::_local_scalar_dense", "0", "1"], ["rest", "aten::item", "0", "1"]
    ]  # fmt: skip
    assert "loader    aten::flip" in beside_the_sound_loop("loader", 1)
    assert "optimizer aten::addcmul_" in beside_the_sound_loop("optimizer", 1)
    assert beside_the_sound_loop("none", 2) == "no count differs"
    assert isinstance(beside_the_sound_loop("nothing"), Note)
    assert step_counts(2)["optimizer", "aten::item"] > 0 == step_counts(2)["rest", "aten::item"]
    for plant in ("small operations", "optimizer", "loader"):
        for way in range(3):
            lines = beside_the_sound_loop(plant, way).splitlines()
            assert max(map(len, lines)) <= 70


def test_the_allocator_keeps_the_rules_of_pytorchs() -> None:
    gpu = Allocator()
    gpu.take("x", 300_000)
    gpu.take("y", 1)
    gpu.take("large", MIB + 1)
    gpu.take("whole", 11 * MIB)
    gpu.take("own", 30 * MIB + 1)
    found = [[(p.bytes, p.live) for p in blocks] for blocks in pieces_of(gpu.snapshot())]
    assert found[0] == [(300_032, True), (512, True), (2 * MIB - 300_544, False)]
    assert [sum(size for size, _ in blocks) for blocks in found] == [2 * MIB, 20 * MIB, 32 * MIB]
    assert found[1][:2] == [(MIB + 512, True), (11 * MIB, True)]
    gpu.give_back("large")
    gpu.give_back("whole")
    # Neighbours that are free become one.
    assert [(p.bytes, p.live) for p in pieces_of(gpu.snapshot())[1]] == [(20 * MIB, False)]
    (history,) = gpu.snapshot()["device_traces"]
    assert live_bytes_of(history)[-1] == sum(
        p.bytes for blocks in pieces_of(gpu.snapshot()) for p in blocks if p.live
    )
    for call in (lambda: gpu.take("x", 1), lambda: gpu.take("z", 0), lambda: gpu.give_back("z")):
        with pytest.raises(CourseError):
            call()


def test_pytorchs_own_viewer_reads_the_snapshot() -> None:
    from torch.cuda import _memory_viz

    gpu = Allocator()
    gpu.take("x", 300_000)
    gpu.take("y", 3 * MIB)
    gpu.give_back("x")
    snapshot = gpu.snapshot()
    assert "stream_0" in _memory_viz.segsum(snapshot) or _memory_viz.segsum(snapshot)
    assert "alloc" in _memory_viz.trace(snapshot)
    assert history_text(snapshot).splitlines()[-1].split() == [
        "free_completed", "300,032", "3,145,728", "live"
    ]  # fmt: skip
    shown = show_snapshot(snapshot)
    assert isinstance(shown, Picture) and "20 MiB in 2 blocks, 3 MiB of it live" in repr(shown)


def test_a_sweep_measures_each_side() -> None:
    rates = sweep([8, 16])
    assert [rate.side for rate in rates] == [8, 16]
    assert all(rate.flop_per_s > 0 for rate in rates)
    assert torch.get_num_threads() >= 1


def test_the_lesson_names_the_metrics_that_a_run_under_ncu_reads() -> None:
    text = (SOLUTIONS.parent / "notebooks/source/09_profiling.md").read_text(encoding="utf-8")
    named = re.findall(r"^([a-z_.]+)\n    ([a-z0-9_]+\.sum)$", text, re.MULTILINE)
    assert len(named) == 7
    assert {ours: theirs for ours, theirs in METRICS.items() if ours in dict(named)} == dict(named)


def test_the_models_of_steps() -> None:
    assert steps.loader_step_s(10.0, 8.0, 2) == 4.0
    assert steps.loader_step_s(10.0, 8.0, 8) == 2.0  # the compute, which no worker hides
    assert steps.idle_percent(500, 1.0) == 50.0
    assert steps.blended_speedup(0.5, 2.0, 1.0) == pytest.approx(4 / 3)
    assert steps.attention_percent(0) == 0.0
    assert steps.attention_percent(10**9) > 99


FAILED = Note("no source of train can be found", "trouble")


@pytest.mark.parametrize("show", [call_table, show_memory, show_timeline])
def test_what_shows_a_recording_says_that_it_failed(show: Any) -> None:
    said = show(FAILED)
    assert isinstance(said, Note)
    assert f"{show.__name__} needs a trace, and the recording failed" in said.text
    assert "this is str" in show("train.json").text


@pytest.mark.parametrize("count", [live_bytes, marks_of, lambda trace: inside(trace, "step 0")])
def test_what_counts_in_a_recording_says_that_it_failed(count: Any) -> None:
    with pytest.raises(CourseError, match="needs a trace, and the recording failed"):
        count(FAILED)
