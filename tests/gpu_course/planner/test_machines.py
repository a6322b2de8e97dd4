"""Machines: ten numbers each, all of them physical."""

from dataclasses import asdict

import pytest

from gpu_course.errors import UnknownName
from gpu_course.hardware.cards import device
from gpu_course.planner.machines import CONSTANTS, MACHINES, TEN, machine

SHEETS = {"A100": "A100", "V100": "V100", "H100": "H100"}
"""A machine -> its data sheet in hardware/cards.toml."""


def test_a_machine_has_ten_constants():
    assert len(CONSTANTS) <= TEN
    for each in MACHINES.values():
        numbers = {name: value for name, value in asdict(each).items() if name != "name"}
        assert sorted(numbers) == sorted(CONSTANTS)
        assert all(value > 0 for value in numbers.values()), each.name


@pytest.mark.parametrize(("name", "sheet"), SHEETS.items())
def test_no_rate_is_more_than_the_data_sheet_promises(name, sheet):
    described, printed = machine(name), device(sheet)
    assert 0.5 * printed.fp16_flop_per_s < described.gemm_flop_per_s < printed.fp16_flop_per_s
    bandwidth = printed.bandwidth_bytes_per_s
    assert 0.7 * bandwidth < described.hbm_bytes_per_s < bandwidth
    assert described.memory_bytes == printed.memory_bytes
    assert described.processors == printed.sm_count
    # The sheet adds both directions.
    assert described.nvlink_bytes_per_s < printed.nvlink_bytes_per_s / 2
    assert described.watts == printed.power_watts


def test_an_unknown_machine_is_refused_by_name():
    with pytest.raises(UnknownName, match="H1000"):
        machine("H1000")


def test_the_machines_there_are_can_be_told_apart():
    """Names hold commas."""
    with pytest.raises(UnknownName) as error:
        machine("H1000")
    assert error.value.hint.removeprefix("there are ").split("; ") == list(MACHINES)


def test_a_changed_machine_keeps_the_rest():
    changed = machine("A100").but("half", watts=200)
    assert (changed.name, changed.watts) == ("half", 200)
    assert changed.gemm_flop_per_s == machine("A100").gemm_flop_per_s
