"""What the driver is asked through NVML, by a stand-in for it: no GPU is needed."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest

from gpu_course.hardware import nvml
from gpu_course.hardware.nvml import Driver, InstalledGpu
from gpu_course.units import MIB


class StandIn:
    """NVML of a machine with some cards, with the real package's errors."""

    def __init__(self, cards: list[dict[str, Any]], **more: Any) -> None:
        self.cards, self.open, self.more = cards, 0, more

    def __getattr__(self, name: str) -> Any:
        return getattr(pynvml, name)

    def _say(self, found: Any) -> Any:
        if isinstance(found, type) and issubclass(found, pynvml.NVMLError):
            raise found()
        return found

    def nvmlInit(self) -> None:  # noqa: N802 - NVML's own names
        self._say(self.more.get("init"))
        self.open += 1

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.open -= 1

    def nvmlSystemGetDriverVersion(self) -> str:  # noqa: N802
        return self._say(self.more.get("driver", "580.105.08"))

    def nvmlSystemGetCudaDriverVersion_v2(self) -> int:  # noqa: N802
        return self._say(self.more.get("cuda", 13000))

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return self._say(self.more.get("count", len(self.cards)))

    def nvmlDeviceGetHandleByIndex(self, number: int) -> dict[str, Any]:  # noqa: N802
        return self.cards[number]

    def nvmlDeviceGetName(self, card: dict[str, Any]) -> str:  # noqa: N802
        return self._say(card["name"])

    def nvmlDeviceGetMemoryInfo(self, card: dict[str, Any]) -> SimpleNamespace:  # noqa: N802
        return SimpleNamespace(total=self._say(card["memory"]))

    def nvmlDeviceGetCudaComputeCapability(self, card: dict[str, Any]) -> Any:  # noqa: N802
        return self._say(card["capability"])


UNSAID = pynvml.NVMLError_NotSupported
L4 = {"name": "NVIDIA L4", "memory": 23034 * MIB, "capability": (8, 9)}
MUTE = {"name": UNSAID, "memory": UNSAID, "capability": UNSAID}


def stand_in(monkeypatch: pytest.MonkeyPatch, *cards: dict[str, Any], **more: Any) -> StandIn:
    found = StandIn(list(cards), **more)
    monkeypatch.setitem(sys.modules, "pynvml", found)
    return found


def test_the_functions_that_are_asked_are_there() -> None:
    """The stand-in has no function that the real package lacks."""
    own = [name for name in vars(StandIn) if name.startswith("nvml")]
    assert own
    assert [name for name in own if not callable(getattr(pynvml, name, None))] == []


def test_a_driver_with_two_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    library = stand_in(monkeypatch, L4, MUTE)
    assert nvml.driver() == Driver(
        "580.105.08",
        "13.0",
        (InstalledGpu("NVIDIA L4", 23034 * MIB, "8.9"), InstalledGpu("NVIDIA GPU")),
    )
    assert library.open == 0


def test_a_driver_that_keeps_its_versions_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, driver=UNSAID, cuda=pynvml.NVMLError_FunctionNotFound)
    assert nvml.driver() == Driver(None, None, ())


def test_no_library_is_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, init=pynvml.NVMLError_LibraryNotFound)
    assert nvml.driver() is None


@pytest.mark.parametrize(
    "more", [{"init": pynvml.NVMLError_DriverNotLoaded}, {"count": pynvml.NVMLError_Unknown}]
)
def test_a_driver_that_does_not_work_is_told(
    monkeypatch: pytest.MonkeyPatch, more: dict[str, Any]
) -> None:
    library = stand_in(monkeypatch, **more)
    with pytest.raises(OSError, match="the NVIDIA driver does not answer: "):
        nvml.driver()
    assert library.open == 0


def test_without_the_package_nothing_is_said_of_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(ImportError):
        nvml.driver()


def test_what_a_record_holds_of_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = {pynvml.NVML_CLOCK_SM: 1980, pynvml.NVML_CLOCK_MEM: UNSAID}
    found = stand_in(monkeypatch, MUTE, L4)
    found.nvmlDeviceGetClockInfo = lambda card, kind: found._say(ask[kind])
    found.nvmlDeviceGetMaxClockInfo = lambda card, kind: 2000
    assert nvml.facts_of("NVIDIA L4") == {
        "driver": "580.105.08",
        "memory_bytes": 23034 * MIB,
        "clocks": {
            "sm_hz": 1980_000_000,
            "memory_hz": None,
            "max_sm_hz": 2_000_000_000,
            "max_memory_hz": 2_000_000_000,
        },
    }
    assert found.open == 0


@pytest.mark.parametrize("more", [{"init": pynvml.NVMLError_LibraryNotFound}, {}])
def test_of_a_card_that_is_not_listed_nothing_is_known(
    more: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(monkeypatch, L4, **more)
    nothing = {"driver": None, "memory_bytes": None, "clocks": None}
    assert nvml.facts_of("NVIDIA H200") == nothing
