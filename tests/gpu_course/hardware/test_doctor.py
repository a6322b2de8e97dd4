"""The doctor: what it says of good machines, bad machines, and machines that fight back."""

from __future__ import annotations

import json
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from gpu_course.hardware import doctor, nvml, probes
from gpu_course.hardware.doctor import Probe
from gpu_course.hardware.nvml import Driver, InstalledGpu
from gpu_course.units import GIB, MIB

PROJECT = Path(__file__).parents[3] / "pyproject.toml"
ENGINE = PROJECT.parent / "simt" / "pyproject.toml"


def a_driver(
    monkeypatch: pytest.MonkeyPatch,
    *gpus: InstalledGpu,
    version: str = "580.65.06",
    cuda: str = "13.0",
) -> None:
    """Puts a driver in place that drives these GPUs."""
    monkeypatch.delenv("GPU_COURSE_GPU", raising=False)
    monkeypatch.setattr(nvml, "driver", lambda: Driver(version, cuda, gpus))


def without_package(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    """Makes one package look as if it were not installed."""
    real = metadata.version

    def version(name: str) -> str:
        if name == missing:
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(metadata, "version", version)


def states(findings: tuple[Probe, ...]) -> dict[str, str]:
    return {finding.name: finding.state for finding in findings}


def test_this_machine_is_examined_without_surprises() -> None:
    findings = doctor.examine()
    names = [finding.name for finding in findings]
    assert {"Python", "numpy", "processor cores", "memory", "disk", "GPU", "git"} <= set(names)
    assert {finding.state for finding in findings} <= {"ok", "note", "missing"}
    assert not [finding for finding in findings if "could not be examined" in finding.found]
    assert all(finding.mend for finding in findings if finding.state == "missing")


def test_an_exploding_probe_becomes_a_finding_and_hides_nothing() -> None:
    def explode() -> tuple[Probe, ...]:
        raise RuntimeError("the sensor\nis on fire")

    findings = doctor.examine([("memory", explode), ("Python", probes.probe_python)])
    assert findings[0] == Probe(
        "memory",
        "note",
        "could not be examined (RuntimeError: the sensor is on fire)",
        "the rest of this report still holds",
    )
    assert findings[1].name == "Python"
    assert findings[1].state == "ok"


@pytest.mark.parametrize(
    ("version", "state"),
    [((3, 10), "missing"), ((3, 11), "ok"), ((3, 14), "ok"), ((3, 15), "missing")],
)
def test_python_versions(
    monkeypatch: pytest.MonkeyPatch, version: tuple[int, int], state: str
) -> None:
    monkeypatch.setattr(sys, "version_info", (*version, 0, "final", 0))
    (finding,) = probes.probe_python()
    assert finding.state == state
    assert ("install Python 3.11 to 3.14" in finding.mend) == (state == "missing")


def test_a_missing_package_says_what_it_is_for_and_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without_package(monkeypatch, "jupyterlab")
    finding = next(f for f in probes.probe_packages() if f.name == "jupyterlab")
    assert finding == Probe(
        "jupyterlab", "missing", "not installed; it is for the notebooks", probes.INSTALL
    )


@pytest.mark.parametrize(
    ("version", "state"), [("2.13.0+cpu", "ok"), ("2.9", "ok"), ("2.8.1", "missing")]
)
def test_versions_are_compared_as_numbers(
    monkeypatch: pytest.MonkeyPatch, version: str, state: str
) -> None:
    monkeypatch.setattr(metadata, "version", lambda name: version)
    finding = probes._package("torch", "2.9", "training")
    assert finding.state == state


def test_the_bounds_are_those_of_pyproject() -> None:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    wanted = sorted(f"{name}>={version}" for name, version, _ in probes.PACKAGES)
    engine = tomllib.loads(ENGINE.read_text(encoding="utf-8"))["project"]
    named = {*project["dependencies"], *engine["dependencies"]} - {engine["name"]}
    assert wanted == sorted(named)
    low, high = probes.PYTHON_FROM, probes.PYTHON_BELOW
    assert project["requires-python"] == f">={low[0]}.{low[1]},<{high[0]}.{high[1]}"


def test_the_pins_keep_the_bounds() -> None:
    lines = (PROJECT.parent / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if "==" in line)
    for name, version, _ in probes.PACKAGES:
        assert probes._numbers(pins[name]) >= probes._numbers(version)
    assert lines[-1] == "-e ."
    assert "+" not in pins["torch"]


def test_little_memory_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "_total_memory_bytes", lambda: 3 * GIB)
    (finding,) = probes.probe_memory()
    assert (finding.state, finding.found) == ("note", "3 GiB")
    monkeypatch.setattr(probes, "_total_memory_bytes", lambda: None)
    (finding,) = probes.probe_memory()
    assert finding.state == "note"


def test_a_good_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    a_driver(monkeypatch, InstalledGpu("NVIDIA H200", 143771 * MIB, "9.0"), version="580.105.08")
    without_package(monkeypatch, "numba-cuda")
    findings = probes.probe_gpu()
    assert findings[0] == Probe("GPU", "ok", "NVIDIA H200, 140.4 GiB, compute capability 9.0")
    assert findings[1] == Probe("NVIDIA driver", "ok", "580.105.08, runs CUDA up to 13.0")
    assert findings[2].state == "note"
    assert findings[2].mend == 'python -m pip install -e ".[gpu]"'


def test_the_successor_of_numba_cuda_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    a_driver(monkeypatch, InstalledGpu("NVIDIA H200", 143771 * MIB, "9.0"), version="580.105.08")

    def version(package: str) -> str:
        if package == "numba-cuda-mlir":
            return "0.6.0"
        raise probes.metadata.PackageNotFoundError(package)

    monkeypatch.setattr(probes.metadata, "version", version)
    assert probes.probe_gpu()[-1] == Probe("numba-cuda-mlir", "ok", "0.6.0")


def test_an_old_driver_is_named_with_the_one_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    a100 = InstalledGpu("NVIDIA A100-SXM4-80GB", 81920 * MIB, "8.0")
    a_driver(monkeypatch, a100, version="550.54.15", cuda="12.4")
    driver = next(f for f in probes.probe_gpu() if f.name == "NVIDIA driver")
    assert driver.state == "note"
    assert driver.found == "550.54.15, runs CUDA up to 12.4"
    assert driver.mend.startswith("install driver 580 or newer")


def test_a_gpu_older_than_the_toolkit_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    a_driver(monkeypatch, InstalledGpu("Tesla V100-SXM2-32GB", 32768 * MIB, "7.0"))
    gpu = probes.probe_gpu()[0]
    assert gpu.state == "note"
    assert "CUDA 13.0 compiles for 7.5 and newer" in gpu.mend


def test_several_gpus_are_all_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    a_driver(monkeypatch, InstalledGpu("NVIDIA L4", 23034 * MIB, "8.9"), InstalledGpu("Tesla T4"))
    found = [finding for finding in probes.probe_gpu() if finding.name == "GPU"]
    assert [finding.state for finding in found] == ["ok", "note"]
    assert found[1].found == "Tesla T4; its compute capability is unknown"


def test_a_driver_that_does_not_answer_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Driver:
        raise OSError("the NVIDIA driver does not answer: Unknown Error")

    monkeypatch.delenv("GPU_COURSE_GPU", raising=False)
    monkeypatch.setattr(nvml, "driver", fail)
    (finding,) = doctor.examine([("GPU", probes.probe_gpu)])
    assert finding.state == "note"
    assert "does not answer" in finding.found


def test_a_driver_without_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    a_driver(monkeypatch)
    (finding,) = probes.probe_gpu()
    assert finding.found == "the NVIDIA driver lists no GPU"


def test_a_gpu_that_is_switched_off_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def never() -> Driver:
        raise AssertionError("the driver was asked")

    monkeypatch.setenv("GPU_COURSE_GPU", "off")
    monkeypatch.setattr(nvml, "driver", never)
    (finding,) = probes.probe_gpu()
    assert finding.found == "switched off by GPU_COURSE_GPU"


@pytest.mark.parametrize(
    ("system", "machine", "tool", "found"),
    [
        ("Darwin", "arm64", None, "an Apple GPU, which runs no CUDA"),
        ("Darwin", "x86_64", None, "no NVIDIA GPU, which runs no CUDA"),
        ("Linux", "x86_64", "rocm-smi", "an AMD GPU, which runs no CUDA"),
        ("Linux", "x86_64", None, "no NVIDIA GPU found"),
        ("Windows", "AMD64", None, "no NVIDIA GPU found"),
    ],
)
def test_machines_without_nvidia(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str, tool: str | None, found: str
) -> None:
    monkeypatch.delenv("GPU_COURSE_GPU", raising=False)
    monkeypatch.setattr(nvml, "driver", lambda: None)
    monkeypatch.setattr(probes.platform, "system", lambda: system)
    monkeypatch.setattr(probes.platform, "machine", lambda: machine)
    monkeypatch.setattr(probes.shutil, "which", lambda name: name if name == tool else None)
    monkeypatch.setattr(probes, "_has_amd_card", lambda: False)
    (finding,) = probes.probe_gpu()
    assert (finding.state, finding.found) == ("note", found)
    assert "simulator" in finding.mend


GOOD = Probe("Python", "ok", "3.13.1")
BAD = Probe("numpy", "missing", "not installed; it is for arrays", "pip install numpy")
NOTE = Probe("GPU", "note", "no NVIDIA GPU found")


def test_the_report_reads_line_by_line() -> None:
    assert doctor.as_text((GOOD, BAD, NOTE)).splitlines() == [
        "ok      Python  3.13.1",
        "MISSING numpy   not installed; it is for arrays",
        "                -> pip install numpy",
        "note    GPU     no NVIDIA GPU found",
        "",
        "1 missing. Mend what is marked MISSING, then run this again.",
    ]
    assert doctor.as_text((GOOD, NOTE)).endswith("This machine is ready for the course.")


def test_json_holds_every_finding() -> None:
    assert doctor.to_json((GOOD, BAD)) == {
        "ready": False,
        "findings": [
            {"name": "Python", "state": "ok", "found": "3.13.1", "mend": ""},
            {
                "name": "numpy",
                "state": "missing",
                "found": "not installed; it is for arrays",
                "mend": "pip install numpy",
            },
        ],
    }


@pytest.mark.parametrize(("finding", "status"), [(GOOD, 0), (NOTE, 0), (BAD, 1)])
def test_exit_status(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    finding: Probe,
    status: int,
) -> None:
    def examine(*_: Any) -> tuple[Probe, ...]:
        return (finding,)

    monkeypatch.setattr(doctor, "examine", examine)
    assert doctor.main(["--format", "json"]) == status
    assert json.loads(capsys.readouterr().out)["ready"] is (status == 0)
    assert doctor.main([]) == status


def test_a_bad_call_is_status_two(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.main(["--format", "xml"]) == 2
    assert "usage:" in capsys.readouterr().err


def test_a_browser_can_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    browser = tmp_path / "my-browser"
    monkeypatch.setenv("GPU_COURSE_CHROMIUM", str(browser))
    assert probes.find_browser() is None
    browser.touch()
    assert probes.find_browser() == str(browser)
