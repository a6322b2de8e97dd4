"""Faults planted in what compiles kernels: all have been found, and a few are looked for again."""

from __future__ import annotations

import json

import pytest

from simt.compiled import jit
from tests.sampling import drawn, share
from tests.simt.compiled.both_ways import Launch
from tests.simt.compiled.planted import FAULTS, RECORD, Planted, found_by, launches

pytestmark = [
    pytest.mark.skipif(not jit.available(), reason="no LLVM to compile with"),
    pytest.mark.long(30),
]
FEW = 5
LIVE = [fault for fault in FAULTS if drawn(fault.name, share(FEW, of=len(FAULTS)))]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_has_one_place(fault: Planted) -> None:
    assert fault.file.is_file() and fault.new != fault.old


def test_there_are_fifty_and_each_has_been_found() -> None:
    """What found them: `python -m benchmarks.planted_filter` says it anew."""
    found = json.loads(RECORD.read_text(encoding="utf-8"))
    assert list(found) == [fault.name for fault in FAULTS]
    assert all(found.values()) and len(found) >= 50


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> list[Launch]:
    return launches(tmp_path_factory.mktemp("planted"))


def test_without_a_fault_nothing_differs(known: list[Launch]) -> None:
    assert found_by(None, known) == ""


@pytest.mark.parametrize("fault", LIVE, ids=lambda fault: fault.name)
def test_a_planted_fault_is_found(fault: Planted, known: list[Launch]) -> None:
    assert found_by(fault, known)
