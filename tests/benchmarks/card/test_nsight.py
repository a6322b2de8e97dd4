"""Counters of Nsight Compute: read from what ncu prints, and laid beside the simulator's."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.card import nsight
from benchmarks.card.nsight_cases import METRICS, cases, simulated

HEAD = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",'
    '"Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"\n'
)


def row(number: int, metric: str, value: str) -> str:
    cells = [str(number), "71", "python", "host", "copy[abi:v1](Array<float, 1, C>, int)", "1", "7"]
    cells += ["(256, 1, 1)", "(64, 1, 1)", "0", "9.0", "Command line profiler metrics", metric]
    return ",".join(f'"{cell}"' for cell in [*cells, "", value]) + "\n"


SAMPLE = (
    "==PROF== Connected to process 71\n"
    '==PROF== Profiling "copy": 0%....100% - 4 passes\n'
    "a line the program prints, with, commas\n"
    "==PROF== Disconnected from process 71\n"
    + HEAD
    + row(0, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "512")
    + row(0, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "2,048")
    + row(0, "smsp__sass_branch_targets.sum", "n/a")
    + row(10, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "15872.00")
    + row(2, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "0")
    + "==WARNING== Some warning at the end\n"
)


def test_the_rows_become_counters_launch_by_launch() -> None:
    first, second, third = nsight.parse(SAMPLE)
    assert set(first) == set(METRICS)
    assert first["global_load.requests"] == 512
    assert first["global_load.sectors"] == 2048
    assert first["branches"] is None
    assert first["shared_load.conflicts"] is None
    assert second["shared_load.conflicts"] == 0
    assert third["shared_load.conflicts"] == 15872


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "ncu printed no counters"),
        (HEAD, "ncu printed no counters"),
        (
            "==PROF== Connected\n==ERROR== ERR_NVGPUCTRPERM - no permission to read counters\n",
            "==ERROR== ERR_NVGPUCTRPERM - no permission to read counters",
        ),
    ],
)
def test_no_counters_is_an_error_in_ncus_words(text: str, said: str) -> None:
    with pytest.raises(nsight.NoCounters) as caught:
        nsight.parse(text)
    assert str(caught.value) == said


def test_each_metric_stands_for_one_counter() -> None:
    assert len(set(METRICS.values())) == len(METRICS)
    assert METRICS["shared_store.conflicts"] == (
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"
    )


@pytest.mark.parametrize(
    ("name", "counter", "value"),
    [
        ("copy", "global_load.sectors", 512 * 4),
        ("stride 2", "global_load.sectors", 512 * 8),
        ("stride 8", "global_load.sectors", 512 * 32),
        ("stride 40", "global_load.sectors", 512 * 32),
        ("misaligned by one", "global_load.sectors", 512 * 5),
        ("transpose, naive", "global_store.sectors", 512 * 32),
        ("transpose, tiled", "shared_load.conflicts", 512 * 31),
        ("transpose, padded", "shared_load.conflicts", 0),
        ("histogram", "red.requests", 512),
        ("matmul, tiled", "shared_load.requests", 512 * 2 * 128),
        ("reduction", "divergent_branches", 64 * 6),
        ("divergent if", "divergent_branches", 512),
        ("two-way bank conflicts", "shared_load.conflicts", 512),
    ],
)
def test_the_simulators_column_is_what_one_counts_by_hand(
    name: str, counter: str, value: int
) -> None:
    assert simulated(cases()[name])[counter] == value


def test_every_case_is_counted_by_hand_above() -> None:
    (mark,) = test_the_simulators_column_is_what_one_counts_by_hand.pytestmark  # type: ignore[attr-defined]
    assert [case[0] for case in mark.args[1]] == list(cases())


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """A machine with ncu and a GPU that counts 3 sectors more than the simulator everywhere."""
    asked: list[list[str]] = []

    def run(command: list[str], **_: Any) -> SimpleNamespace:
        asked.append(command)
        if "--version" in command:
            return SimpleNamespace(returncode=0, stdout="NVIDIA (R)\nVersion 2025.3.1.0 (build)\n")
        rows = [
            row(number, METRICS[counter], f"{count + 3 * counter.endswith('load.sectors'):,}")
            for number, case in enumerate(cases().values())
            for counter, count in simulated(case).items()
        ]
        return SimpleNamespace(returncode=0, stdout=HEAD + "".join(rows), stderr="")

    monkeypatch.setattr(nsight.subprocess, "run", run)
    monkeypatch.setattr(nsight.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(nsight, "why_no_gpu", lambda: "")
    monkeypatch.setattr("sys.argv", ["nsight"])
    monkeypatch.setenv("COLUMNS", "120")
    return asked


def test_both_columns_are_printed(
    measured: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert nsight.main() == 0
    assert measured[0][0] == "/bin/ncu"
    printed = capsys.readouterr().out
    assert "2,051" in printed and "-3" in printed


def test_both_columns_come_as_data(measured: list[list[str]]) -> None:
    copy = nsight.both("/bin/ncu")["copy"]
    assert copy["gpu"]["global_load.sectors"] == copy["simulator"]["global_load.sectors"] + 3
    assert nsight.ncu_version("/bin/ncu") == "2025.3.1.0"


def test_the_clocks_are_left_alone(measured: list[list[str]]) -> None:
    nsight.measure("/bin/ncu")
    command = measured[0]
    assert command[command.index("--clock-control") + 1] == "none"


def test_an_ncu_that_takes_too_long_gives_no_counters(
    measured: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: list[str], timeout: float, **_: Any) -> None:
        raise nsight.subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(nsight.subprocess, "run", run)
    with pytest.raises(nsight.NoCounters, match="ncu took longer than 5 s"):
        nsight.measure("/bin/ncu", 5)


def test_a_launch_too_few_is_an_error(
    measured: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nsight, "cases", lambda: {**cases(), "one more": cases()["copy"]})
    with pytest.raises(nsight.NoCounters, match="ncu saw 13 launches of 14"):
        nsight.measure("/bin/ncu")


def test_without_ncu_the_simulators_column_stands_alone(
    measured: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(nsight, "find_ncu", lambda: None)
    assert nsight.main() == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "The simulator's column alone: no ncu found" in printed
    assert "2,048" in printed and "GPU │" not in printed
