"""`make gpu` without a GPU: its order, its records and its words, whatever becomes of an item."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import gpu
from benchmarks.card.gpu_parts import Item, Part, parts, run
from benchmarks.gpu import Session
from gpu_course.hardware import records
from gpu_course.hardware.nvml import Driver, InstalledGpu
from gpu_course.puzzle import KernelPuzzle, index
from tests.benchmarks.stand_in import WRONG_BY_ONE

DEVICE = {"name": "Card of the Tests", "driver": "580.1", "l2_bytes": 1 << 20}
FOLDER = "card-of-the-tests"
PLANNED = "tests.benchmarks.planned:run"
SIMULATED = "tests.benchmarks.stand_in:simulated"
SHORT_S = 0.3


def item(name: str, do: str, *, right: tuple[str, ...] = ("right",), **job: Any) -> Item:
    deadline = SHORT_S if do == "hang" else 300.0
    return Item(name, {"do": do, **job}, deadline, right, PLANNED)


def part(name: str, *items: Item, until_s: float = 500.0) -> Part:
    return Part(name, "what it shows", until_s, items)


def session(root: Path, **more: Any) -> tuple[Session, list[str]]:
    said: list[str] = []
    return Session(DEVICE, root, say=said.append, **more), said


def read(root: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((root / FOLDER / f"{name}.json").read_text())
    return found


def states(root: Path, name: str) -> dict[str, str]:
    return {key: entry["state"] for key, entry in read(root, name)["items"].items()}


def test_what_crashes_or_hangs_loses_only_itself(tmp_path: Path) -> None:
    going, said = session(tmp_path)
    first = part(
        "solutions",
        item("a", "right"),
        item("b", "crash"),
        item("c", "right"),
        item("d", "hang"),
        item("e", "wrong", said="out[3] is 5"),
        item("f", "raise"),
        item("g", "give up"),
        item("h", "right"),
    )
    assert going.run((first, part("kernels", item("k", "right")))) == gpu.SOME_ARE_NOT
    assert states(tmp_path, "solutions") == {
        "a": "right", "b": "crash", "c": "right", "d": "hang", "e": "wrong", "f": "error",
        "g": "gave-up", "h": "right",
    }  # fmt: skip
    assert states(tmp_path, "kernels") == {"k": "right"}
    kept = read(tmp_path, "solutions")
    assert kept["finished"] is True
    assert (kept["device"], kept["date"]) == (DEVICE, records.today())
    assert kept["versions"]["numpy"] and "python" in kept["versions"]
    assert kept["items"]["b"]["said"] == "the process ended with status 7"
    assert said[:5] == [
        "  b: crash: the process ended with status 7",
        "  d: hang: no end after 0.3 s",
        "  e: wrong: out[3] is 5",
        "  f: error: ValueError: the reference cannot be made",
        "  g: gave-up: the GPU gave up on kernel.py: an illegal address",
    ]
    assert said[5].startswith("solutions: 3 right, 1 crash, 1 hang, 1 wrong, 1 error, 1 gave-up (")
    assert said[7].endswith(
        "Not as it should be: 5, solutions: b, solutions: d, solutions: e, solutions: f, "
        "solutions: g."
    )


def test_what_a_fault_does_is_a_finding(tmp_path: Path) -> None:
    going, said = session(tmp_path)
    faults = (item(name, do, right=()) for name, do in [("x", "ran"), ("y", "crash"), ("z", "ran")])
    assert going.run((part("faults", *faults),)) == gpu.RIGHT
    assert states(tmp_path, "faults") == {"x": "ran", "y": "crash", "z": "ran"}
    assert len(said) == 2


def test_each_item_is_kept_before_the_next_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[tuple[bool, list[str]]] = []
    write = records.write

    def watch(found: records.Record, root: Path) -> Path:
        kept.append((found.finished, list(found.items)))
        return write(found, root)

    monkeypatch.setattr(records, "write", watch)
    session(tmp_path)[0].run((part("solutions", *(item(name, "right") for name in "abc")),))
    assert kept == [(False, ["a"]), (False, ["a", "b"]), (True, ["a", "b", "c"])]


def test_a_part_that_cannot_be_written_takes_no_other_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = records.write

    def fail(found: records.Record, root: Path) -> Path:
        if found.part == "solutions":
            raise OSError("no room")
        return write(found, root)

    monkeypatch.setattr(records, "write", fail)
    going, said = session(tmp_path)
    chosen = (part("solutions", item("a", "right")), part("kernels", item("b", "right")))
    assert going.run(chosen) == gpu.SOME_ARE_NOT
    assert said[0] == "solutions: ended by OSError: no room"
    assert states(tmp_path, "kernels") == {"b": "right"}
    assert said[-1].endswith("Not finished: solutions.")


def test_an_item_that_ends_with_the_run_is_not_reached(tmp_path: Path) -> None:
    """It was cut short of its own deadline: nobody knows whether it hangs."""
    going, said = session(tmp_path, most_s=1.2)
    cut = replace(item("late", "hang"), deadline_s=300.0)
    assert going.run((part("timings", item("a", "right"), cut),)) == gpu.SOME_ARE_NOT
    assert states(tmp_path, "timings") == {"a": "right"}
    assert said[0].startswith("timings: 1 right; 1 not reached, because no time was left")
    assert said[-1].endswith("Not finished: timings.")


def test_a_part_out_of_time_leaves_the_rest_to_the_next(tmp_path: Path) -> None:
    ticks = itertools.count(0, 10)
    going, said = session(tmp_path, clock=lambda: float(next(ticks)))
    many = (item(f"item {k}", "right") for k in range(50))
    last = part("timings", item("last", "right"))
    assert going.run((part("kernels", *many, until_s=60), last)) == gpu.SOME_ARE_NOT
    kept = read(tmp_path, "kernels")
    assert not kept["finished"] and 0 < len(kept["items"]) < 6
    assert "not reached, because no time was left" in said[0]
    assert states(tmp_path, "timings") == {"last": "right"}
    assert said[-1].endswith("Not finished: kernels.")


def test_the_whole_run_has_a_limit(tmp_path: Path) -> None:
    ticks = itertools.count(0, 10)
    going, _ = session(tmp_path, clock=lambda: float(next(ticks)), most_s=5.0)
    assert going.run((part("kernels", item("a", "right")),)) == gpu.SOME_ARE_NOT
    assert not (tmp_path / FOLDER).exists()


def test_a_card_that_answers_no_more_is_left_alone(tmp_path: Path) -> None:
    going, said = session(tmp_path)
    dead = part("solutions", *(item(f"{k}", "crash") for k in range(gpu.LOST + 3)))
    assert going.run((dead, part("kernels", item("b", "right")))) == gpu.SOME_ARE_NOT
    assert len(states(tmp_path, "solutions")) == gpu.LOST
    assert "3 not reached, because the GPU answers no more" in said[gpu.LOST]
    assert not (tmp_path / FOLDER / "kernels.json").exists()


def test_faults_that_hang_do_not_end_the_run(tmp_path: Path) -> None:
    going, _ = session(tmp_path)
    hangs = (item(f"{k}", "hang", right=()) for k in range(gpu.LOST + 1))
    assert going.run((part("hangs", *hangs),)) == gpu.RIGHT
    assert set(states(tmp_path, "hangs").values()) == {"hang"}


def test_one_item_may_bring_several_entries(tmp_path: Path) -> None:
    going, _ = session(tmp_path)
    going.run((part("counters", item("ncu", "several", right=("counted",))),))
    assert states(tmp_path, "counters") == {"copy": "counted", "ncu": "counted"}


def test_the_parts_come_in_order_of_worth_within_ten_minutes() -> None:
    found = parts()
    names = [each.name for each in found]
    assert names == ["solutions", "faults", "kernels", "counters", "timings", "hangs"]
    ends = [each.until_s for each in found]
    assert ends == sorted(ends) and ends[-1] < gpu.MAX_SECONDS < 600
    for each in found:
        assert len({inner.name for inner in each.items}) == len(each.items)
    kernels = [p.name for p in index.puzzles() if isinstance(p, KernelPuzzle)]
    assert [inner.name for inner in found[0].items] == kernels
    assert {*kernels, "copy"} <= {inner.name for inner in found[4].items}


def test_what_may_wait_for_ever_comes_last_and_alone() -> None:
    from tests.gpu.kernels import FAULTS

    by_name = {each.name: {inner.name for inner in each.items} for each in parts()}
    for name, fault in FAULTS.items():
        assert (name in by_name["hangs"]) == fault.may_hang
        assert (name in by_name["faults"]) == (not fault.may_hang)
    assert "fault: while True" in by_name["hangs"]
    assert "fault: no guard" in by_name["faults"]
    assert not by_name["kernels"] & by_name["hangs"]


def chosen(part_name: str, *names: str) -> Part:
    """A part of the real run, cut down to some items, on the card that is none."""
    (found,) = (each for each in parts() if each.name == part_name)
    items = [replace(each, target=SIMULATED) for each in found.items if each.name in names]
    assert len(items) == len(names)
    return replace(found, items=tuple(items))


def test_the_real_items_on_a_card_that_is_none(tmp_path: Path) -> None:
    going, said = session(tmp_path)
    guard, blocks, pooling = "01_threads/guard", "01_threads/blocks", "04_shared_memory/pooling"
    status = going.run((
        chosen("solutions", guard, pooling, WRONG_BY_ONE),
        chosen("faults", "twin: guard", "fault: no guard", "fault: all threads write one cell",
               "fault: more shared memory than there is"),
        chosen("kernels", "waiting: tickets", "warp: sum by shuffles", "random kernels 0",
               "random kernels with an order 0 to 39"),
        chosen("timings", "copy", guard, blocks),
        chosen("hangs", "fault: while True"),
    ))  # fmt: skip
    assert status == gpu.SOME_ARE_NOT
    found = {name: read(tmp_path, name)["items"] for name in
             ("solutions", "faults", "kernels", "timings", "hangs")}  # fmt: skip
    assert found["solutions"][guard]["state"] == "right"
    assert found["solutions"][pooling]["state"] == "right"
    wrong = found["solutions"][WRONG_BY_ONE]
    assert wrong["state"] == "wrong"
    assert wrong["said"].startswith("visible example: out[99] is ")
    assert wrong["said"].endswith(" in the reference; 1 of 100 cells differ")
    faults = found["faults"]
    assert faults["twin: guard"]["state"] == "agrees"
    assert faults["fault: no guard"]["state"] == "wrote-outside"
    assert faults["fault: no guard"]["kinds"] == ["out-of-bounds"]
    race = faults["fault: all threads write one cell"]
    assert (race["state"], race["same_each_time"], race["as_simulated"]) == ("ran", True, True)
    assert faults["fault: more shared memory than there is"]["state"] == "gave-up"
    assert {entry["state"] for entry in found["kernels"].values()} == {"agrees"}
    assert found["kernels"]["random kernels 0"]["kernels"] > 0
    assert found["kernels"]["random kernels with an order 0 to 39"]["kernels"] > 0
    timed = found["timings"][blocks]
    assert timed["state"] == "timed" and timed["furthest_off"] == 0
    assert timed["seconds"] == pytest.approx(0.003)
    assert timed["least_bytes"] >= 4000
    assert found["timings"][guard]["state"] == "one-size"
    assert found["hangs"]["fault: while True"]["state"] == "ran"
    assert [line for line in said if line.startswith("  ")] == [
        f"  {WRONG_BY_ONE}: wrong: {wrong['said']}"
    ]
    timing = records.timing(blocks, root=tmp_path)
    assert timing is not None and timing.device == DEVICE["name"]
    assert timing.copy_bytes_per_s == pytest.approx(4000 / 0.002)


def test_without_ncu_the_counters_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks.card import nsight

    monkeypatch.setattr(nsight, "find_ncu", lambda: None)
    assert run({"kind": "counters"}) == {"state": "left-out", "said": nsight.NO_NCU}
    monkeypatch.setattr(nsight, "find_ncu", lambda: "/bin/ncu")

    def fail(*_: Any) -> None:
        raise nsight.NoCounters("ERR_NVGPUCTRPERM")

    monkeypatch.setattr(nsight, "both", fail)
    found = run({"kind": "counters"})
    assert found["said"] == "Nsight Compute gave no counters: ERR_NVGPUCTRPERM"


def test_both_columns_of_counters_become_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.card import nsight

    both = {"copy": {"simulator": {"branches": 1}, "gpu": {"branches": 2}}}
    monkeypatch.setattr(nsight, "find_ncu", lambda: "/bin/ncu")
    monkeypatch.setattr(nsight, "ncu_version", lambda ncu: "2025.3")
    monkeypatch.setattr(nsight, "both", lambda ncu, seconds: both)
    found = run({"kind": "counters"})
    assert (found["state"], found["ncu"]) == ("counted", "2025.3")
    assert found["items"] == {"copy": {"state": "counted", **both["copy"]}}


def test_without_greenlet_waiting_kernels_are_held_against_what_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from benchmarks.card import gpu_parts
    from tests.simt.waiting_kernels import RIGHT

    expected = {"out": RIGHT["tickets"].expected}

    def native(*_: Any) -> dict[str, Any]:
        import numpy as np

        return {"out": np.array([*expected["out"], *[0] * 9])}

    monkeypatch.setattr(gpu_parts, "run_natively", native)
    monkeypatch.setitem(sys.modules, "greenlet", None)
    found = run({"kind": "kernel", "name": "waiting: tickets"})
    assert found["state"] == "agrees" and "greenlet" in found["note"]
    expected["out"] = [5]
    found = run({"kind": "kernel", "name": "waiting: tickets"})
    assert found["state"] == "differs"
    found = run({"kind": "ordered", "first": 0, "count": 2})
    assert found["state"] == "not-compared" and "greenlet" in found["said"]


def test_without_a_gpu_it_says_so_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPU_COURSE_GPU", "off")
    assert gpu.main(["--records", str(tmp_path)]) == gpu.NO_GPU == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == (
        "There is no GPU to measure on (switched off by GPU_COURSE_GPU); nothing was written.\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_gpu_that_does_not_answer_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu, "why_no_gpu", lambda: "")
    monkeypatch.setattr(gpu, "device", lambda: "the GPU does not answer: no end after 60 s")
    assert gpu.main(["--records", str(tmp_path)]) == gpu.NO_GPU
    assert "the GPU does not answer: no end after 60 s" in capsys.readouterr().err


def test_with_a_gpu_the_parts_asked_for_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu, "why_no_gpu", lambda: "")
    monkeypatch.setattr(gpu.bench, "TARGET", SIMULATED)
    cards = (InstalledGpu("Card of the tests", 1 << 30),)
    monkeypatch.setattr(gpu.nvml, "driver", lambda: Driver("580.1", "13.0", cards))
    monkeypatch.setattr(
        gpu, "parts", lambda: (part("solutions", item("a", "right")), part("timings"))
    )
    assert gpu.main(["--only", "solutions", "--records", str(tmp_path)]) == gpu.RIGHT
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "Card of the tests, driver 580.1"
    kept = read(tmp_path, "solutions")["device"]
    assert (kept["driver"], kept["memory_bytes"], kept["l2_bytes"]) == ("580.1", 1 << 30, 1 << 20)
    assert not (tmp_path / FOLDER / "timings.json").exists()


BLOCKED = """
import sys
for name in ("greenlet IPython ipykernel ipywidgets jupyterlab jupytext nbformat nbclient "
             "matplotlib PIL psutil torch cupy").split():
    sys.modules[name] = None
import benchmarks.gpu
from benchmarks.card.gpu_parts import parts, run
from tests.benchmarks.stand_in import simulated
print(len(parts()))
print(simulated({"kind": "solution", "puzzle": "01_threads/guard"})["state"])
print(simulated({"kind": "random", "seed": 0})["state"])
print(simulated({"kind": "library", "name": "copy"}))
"""


def test_it_needs_nothing_of_jupyterlab() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "6",
        "right",
        "agrees",
        "{'state': 'left-out', 'said': 'torch is not installed'}",
    ]


def test_the_run_ends_with_what_was_reached_of_each_target(tmp_path: Path) -> None:
    timed = {"state": "timed", "sizes": {"size": 9}, "low_s": 0.2, "high_s": 0.2, "seconds": 0.2}
    items = {
        "copy": {"state": "timed", "seconds": 0.1, "least_bytes": 1000},
        "01_threads/blocks": {**timed, "least_bytes": 1900},
        "06_matmul/matmul_naive": {
            **timed,
            "least_bytes": 10,
            "library": {"state": "timed", "call": "torch.mm(a, b)", "seconds": 0.01},
        },
        "06_matmul/matmul_tiled": {**timed, "least_bytes": 10},
    }
    made = records.Record(FOLDER, "timings", DEVICE, {}, records.today(), items=items)
    records.write(made, tmp_path)
    lines = gpu.target_lines(DEVICE["name"], tmp_path)
    assert "target 90% of a copy's (streaming), blocks: 95% reached" in lines
    naive = "target 10% of a library's (matmul, a thread for each result), matmul_naive: 5% short"
    assert naive in lines
    tiled = "target 15% of a library's (matmul, through tiles), matmul_tiled: no library timed"
    assert tiled in lines
    assert "target 90% of a copy's (streaming), clip: never run" in lines
