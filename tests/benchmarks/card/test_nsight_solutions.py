"""Solutions under Nsight Compute: what equal, merged and different counts come to, without a GPU.

`ncu_solutions.csv` is no measurement: it was written by hand, in the form that NVIDIA's
documentation of the command line gives for `ncu --csv`, with the counts that one works out for the
visible examples of `guard`, `blocks` and `clip`. `blocks` reads the same cell twice, and there the
file has what a compiler makes of it: one load.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.card import nsight, nsight_solutions
from benchmarks.card.nsight import Counts, parse
from benchmarks.card.nsight_cases import METRICS
from benchmarks.card.nsight_solutions import (
    DIFFERS,
    EQUAL,
    OTHERWISE,
    UNKNOWN,
    chosen,
    compared,
    main,
)
from tests.gpu_course.hardware.card import plant

SAMPLE = Path(__file__).with_name("ncu_solutions.csv")
NAMES = ("guard", "blocks", "clip")
LOADS = METRICS["global_load.sectors"]


@pytest.fixture
def counts() -> list[Counts]:
    return parse(SAMPLE.read_text(encoding="utf-8"))


def states(gpu: list[Counts]) -> list[str]:
    return [each.state for each in compared(gpu, NAMES)]


def test_the_simulator_counts_what_one_counts_by_hand(counts: list[Counts]) -> None:
    found = compared(counts, NAMES)
    assert [each.launch for each in found] == ["guard: guard", "blocks: blocks", "clip: clip"]
    assert [each.state for each in found] == [EQUAL, OTHERWISE, EQUAL]
    assert found[1].different() == [
        "global_load.requests 6 here, 3 on the GPU",
        "global_load.sectors 6 here, 3 on the GPU",
    ]


def test_other_sectors_for_as_many_requests_differ(counts: list[Counts]) -> None:
    counts[2]["global_load.sectors"] = 4
    found = compared(counts, NAMES)
    assert [each.state for each in found] == [EQUAL, OTHERWISE, DIFFERS]
    assert found[2].different() == ["global_load.sectors 3 here, 4 on the GPU"]


def test_a_merged_load_hides_no_other_difference(counts: list[Counts]) -> None:
    counts[1]["global_store.sectors"] = 9
    assert states(counts) == [EQUAL, DIFFERS, EQUAL]


def test_a_counter_that_ncu_lacks_is_missed_where_it_counts(counts: list[Counts]) -> None:
    counts[0]["atom.sectors"] = None
    counts[2]["global_load.sectors"] = None
    assert states(counts) == [EQUAL, OTHERWISE, UNKNOWN]


def test_another_number_of_launches_is_an_error(counts: list[Counts]) -> None:
    with pytest.raises(nsight.NoCounters, match="ncu saw 3 launches of 1"):
        compared(counts, ["guard"])


def test_several_launches_of_one_puzzle_have_their_places() -> None:
    (puzzle,) = chosen(["grid_sum"])
    names = [launch for launch, _ in nsight_solutions.simulated(puzzle)]
    assert len(names) > 1
    assert names[0].endswith(f"(1 of {len(names)})")
    assert len(set(names)) == len(names)


def test_a_file_from_elsewhere_is_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*NAMES, "--csv", str(SAMPLE)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "3 launches: 2 equal, 1 other requests."
    other = tmp_path / "other.csv"
    text = SAMPLE.read_text(encoding="utf-8")
    old = f'"{LOADS}","sector","1"'
    assert old in text
    other.write_text(text.replace(old, old.replace('"1"', '"1,004"')))
    assert main([*NAMES, "--csv", str(other)]) == 1
    told = capsys.readouterr().out
    assert "global_load.sectors 1 here, 1,004 on the GPU" in told
    assert "3 launches: 1 equal, 1 other requests, 1 differs." in told


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["guard", "--csv", "nowhere.csv"], "nowhere.csv"),
        (["ledger"], "only kernels have sectors"),
        (["no_such"], "no_such"),
        (["guard", "--csv", str(SAMPLE)], "ncu saw 3 launches of 1"),
        (["guard", "--csv", __file__], "ncu printed no counters"),
    ],
)
def test_what_cannot_be_compared_is_one_line(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    told = capsys.readouterr()
    assert told.out == "" and words in told.err and told.err.startswith("There is nothing to")


def test_without_a_gpu_there_is_nothing_to_compare(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPU_COURSE_GPU", "off")
    assert main(["guard"]) == 2
    assert "no GPU to measure on (switched off by GPU_COURSE_GPU)" in capsys.readouterr().err


def test_ncu_is_asked_for_these_launches(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], **_: Any) -> Any:
        asked.append(command)
        text = SAMPLE.read_text(encoding="utf-8")
        return type("Done", (), {"returncode": 0, "stdout": text, "stderr": ""})

    monkeypatch.setattr(nsight.subprocess, "run", run)
    monkeypatch.setattr(nsight_solutions, "why_no_gpu", lambda: "")
    monkeypatch.setattr(nsight_solutions, "find_ncu", lambda: "/bin/ncu")
    assert main(NAMES) == 0
    assert asked[0][-5:] == ["benchmarks.nsight_solutions", "--only-launch", *NAMES]
    assert ",".join(METRICS.values()) in asked[0]
    assert "3 launches: 2 equal, 1 other requests." in capsys.readouterr().out


def test_what_ncu_looks_at_is_launched_once_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a card that is none, behind a package that stands for Numba's successor."""
    monkeypatch.syspath_prepend(plant(tmp_path, "numba_cuda_mlir"))
    monkeypatch.setenv("GPU_COURSE_CUDA", "numba_cuda_mlir")
    names = ["guard", "grid_sum"]
    try:
        nsight_solutions.launch_all(names)
        launched = sys.modules["numba_cuda_mlir.cuda"].launches
    finally:
        for name in [name for name in sys.modules if name.startswith("numba_cuda_mlir")]:
            del sys.modules[name]
    expected = [each for puzzle in chosen(names) for each in nsight_solutions.simulated(puzzle)]
    assert launched == len(expected) > 2
