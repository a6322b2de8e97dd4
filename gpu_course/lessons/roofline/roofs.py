"""The roof over a kernel: what arithmetic and bandwidth of a card allow it, before it runs.

A roof is made of two rates of a data sheet. It says how fast a kernel can be at most, if its bytes
are those that memory moves: a cache answers some of what it asks for, and so it may be faster than
its requests allow. A kernel stays below the roof for reasons of its own, such as loads that wait,
launches, or a chip that lowers its clock.

Source: Williams, Waterman and Patterson, "Roofline: An Insightful Visual Performance Model for
Multicore Architectures", CACM 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpu_course.errors import CourseError
from gpu_course.hardware import records
from gpu_course.hardware.cards import DeviceCard, device

FLOAT32, TENSOR = "float32", "tensor cores"
ARITHMETIC = (FLOAT32, TENSOR)
"""What a card computes with: its float32 lanes, or its tensor cores on 16-bit numbers."""


@dataclass(frozen=True)
class Roof:
    """The two limits of a machine.

    Attributes:
        name: such as "H100, float32".
        flop_per_s: operations per second at most.
        bytes_per_s: bytes of device memory per second at most.
    """

    name: str
    flop_per_s: float
    bytes_per_s: float

    @property
    def ridge(self) -> float:
        """FLOP for each byte at which arithmetic and memory take equally long."""
        return self.flop_per_s / self.bytes_per_s

    def attainable(self, intensity: float) -> float:
        """Returns the FLOP/s that a kernel of some intensity can reach at most.

        Args:
            intensity: FLOP for each byte that it moves.
        """
        return min(self.flop_per_s, intensity * self.bytes_per_s)

    def floor_s(self, flop: float, moved_bytes: float) -> float:
        """Returns the seconds that a kernel takes at least."""
        return max(flop / self.flop_per_s, moved_bytes / self.bytes_per_s)

    def bound(self, intensity: float) -> str:
        """Returns "bandwidth" below the ridge, else "compute"."""
        return "bandwidth" if intensity < self.ridge else "compute"


def recorded_bytes_per_s(puzzle: str, card: str, root: Path | None = None) -> float | None:
    """Returns the rate at which a puzzle's solution moved its arrays on a card, by a record.

    Args:
        puzzle: its full name.
        card: the name of a card; the record's folder has it in its own.
        root: where records lie; default those of the checkout.

    Returns:
        bytes/s, each input read once and each output written once; None where no record says so.
    """
    wanted = records.gpu_key(card)
    for each in records.records(root=root):
        if f"-{wanted}-" in f"-{each.gpu}-" and (found := records.timing(puzzle, each.gpu, root)):
            return found.bytes_per_s
    return None


def roof(card: DeviceCard | str, arithmetic: str = FLOAT32) -> Roof:
    """Returns the roof of a card, by its data sheet.

    Args:
        card: or its name, such as "H100".
        arithmetic: one of ARITHMETIC.

    Raises:
        UnknownName: no card is called that.
        CourseError: no such arithmetic, or the data sheet does not say.

    >>> round(roof("H100").ridge), round(roof("H100", TENSOR).ridge)
    (20, 295)
    >>> roof("H100", TENSOR).bound(100)
    'bandwidth'
    """
    found = device(card) if isinstance(card, str) else card
    if arithmetic not in ARITHMETIC:
        raise CourseError(
            f"no card computes with {arithmetic!r}", f"choose {' or '.join(ARITHMETIC)}"
        )
    rate = found.fp32_flop_per_s if arithmetic == FLOAT32 else found.tensor_flop_per_s
    if rate is None or found.bandwidth_bytes_per_s is None:
        raise CourseError(f"no data sheet says how fast {found.name} is", "choose another card")
    return Roof(f"{found.name}, {arithmetic}", rate, found.bandwidth_bytes_per_s)
