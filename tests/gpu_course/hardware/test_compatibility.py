"""CUDA's compatibility rules."""

from __future__ import annotations

import pytest

from gpu_course.errors import UnknownName
from gpu_course.hardware.datasheet import driver_suffices, minimum_driver, runs_on, toolkit_rule


@pytest.mark.parametrize(
    ("cuda", "os", "driver"),
    [
        ("11.8", "linux", "450.80.02"),
        ("11.0", "windows", "452.39"),
        ("12.9", "linux", "525.60.13"),
        ("13.0", "linux", "580"),
        ("13.4", "windows", "580"),
    ],
)
def test_minimum_driver(cuda: str, os: str, driver: str) -> None:
    assert minimum_driver(cuda=cuda, os=os) == driver


@pytest.mark.parametrize(
    ("driver", "cuda", "enough"),
    [
        ("580.65.06", "13.0", True),
        ("580.65.06", "12.0", True),
        ("579.99", "13.0", False),
        ("525.60.13", "12.8", True),
        ("525.60.11", "12.8", False),
        ("1000.1", "13.2", True),
    ],
)
def test_drivers_are_compared_as_numbers(driver: str, cuda: str, enough: bool) -> None:
    assert driver_suffices(driver, cuda=cuda) is enough


def test_unknown_versions_and_systems_are_refused() -> None:
    with pytest.raises(UnknownName, match=r"no driver rule for CUDA 10\.2"):
        minimum_driver(cuda="10.2")
    with pytest.raises(UnknownName, match="no driver rule for the system 'macos'"):
        minimum_driver(cuda="13.0", os="macos")


def test_every_rule_has_a_source() -> None:
    assert all(toolkit_rule(str(major)).sources for major in (11, 12, 13))


@pytest.mark.parametrize(
    ("built_for", "gpu", "cubin", "ptx"),
    [
        ("8.0", "8.0", True, True),
        ("8.0", "8.6", True, True),
        ("8.6", "8.0", False, False),
        ("8.9", "9.0", False, True),
        ("9.0", "8.9", False, False),
        ("9.0", "10.0", False, True),
        ("12.0", "10.0", False, False),
    ],
)
def test_what_runs_where(built_for: str, gpu: str, cubin: bool, ptx: bool) -> None:
    assert runs_on(built_for=built_for, device=gpu) is cubin
    assert runs_on(built_for=built_for, device=gpu, ptx=True) is ptx
