"""Device cards: what the datasheet of a GPU says, each number with the document it stands in.

The numbers and their sources are in cards.toml.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from gpu_course.errors import CatalogueError, UnknownName
from gpu_course.hardware.compute_capability import ComputeCapability, capability
from gpu_course.hardware.sources import Source
from gpu_course.units import (
    GB,
    GIB,
    MEGA,
    MIB,
    TB,
    TERA,
    format_bandwidth,
    format_bytes,
    format_flops,
)


@dataclass(frozen=True)
class DeviceCard:
    """One GPU, as its datasheet describes it. A number no document confirms is None.

    Attributes:
        name: as people say it, such as "A100".
        product: the exact variant.
        compute_capability: such as "8.0".
        sm_count: streaming multiprocessors switched on.
        memory_bytes: device memory. A datasheet prints "80 GB" and means 80 GiB: drivers report
            more than 80e9 bytes.
        bandwidth_bytes_per_s: of device memory.
        boost_clock_hz: the clock the printed FP32 rate belongs to.
        printed_fp32_flop_per_s: without tensor cores, as printed.
        fp16_flop_per_s, bf16_flop_per_s: tensor cores, FP32 accumulation, no sparsity.
        l2_bytes: level-two cache.
        nvlink_bytes_per_s: to other GPUs, both directions added.
        pcie_bytes_per_s: to the host, both directions added.
        power_watts: the most the board may draw.
        sources: for each number above the document it was read in.
    """

    name: str
    product: str
    compute_capability: str
    sm_count: int | None = None
    memory_bytes: int | None = None
    bandwidth_bytes_per_s: int | None = None
    boost_clock_hz: int | None = None
    printed_fp32_flop_per_s: float | None = None
    fp16_flop_per_s: float | None = None
    bf16_flop_per_s: float | None = None
    l2_bytes: int | None = None
    nvlink_bytes_per_s: float | None = None
    pcie_bytes_per_s: float | None = None
    power_watts: int | None = None
    sources: Mapping[str, Source] = field(default_factory=dict, repr=False)

    @property
    def limits(self) -> ComputeCapability:
        """The limits of this card's compute capability."""
        return capability(self.compute_capability)

    @property
    def computed_fp32_flop_per_s(self) -> float | None:
        """SMs x FP32 cores x clock x 2, since a fused multiply-add is two operations."""
        cores = self.limits.fp32_cores_per_sm
        if self.sm_count is None or cores is None or self.boost_clock_hz is None:
            return None
        return 2.0 * self.sm_count * cores * self.boost_clock_hz

    @property
    def fp32_flop_per_s(self) -> float | None:
        """The computed rate where it can be computed, else the printed one."""
        computed = self.computed_fp32_flop_per_s
        return self.printed_fp32_flop_per_s if computed is None else computed

    @property
    def tensor_flop_per_s(self) -> float | None:
        """The bf16 rate of the tensor cores, or fp16 where the card has no bf16."""
        return self.fp16_flop_per_s if self.bf16_flop_per_s is None else self.bf16_flop_per_s

    @property
    def max_resident_threads(self) -> int | None:
        """Threads the whole GPU can hold at the same time."""
        return None if self.sm_count is None else self.sm_count * self.limits.max_threads_per_sm

    @property
    def ridge_flop_per_byte(self) -> float | None:
        """Tensor-core operations per byte of device memory at which both are busy."""
        return _ratio(self.tensor_flop_per_s, self.bandwidth_bytes_per_s)

    @property
    def fp32_ridge_flop_per_byte(self) -> float | None:
        """FP32 operations per byte of device memory at which both are busy."""
        return _ratio(self.fp32_flop_per_s, self.bandwidth_bytes_per_s)

    def rows(self) -> tuple[tuple[str, str, str], ...]:
        """Returns (what, value, source) for each number that is known, ready for a table."""
        return tuple(
            (label, show(getattr(self, name)), str(self.sources[name]))
            for name, (label, show) in _LABELS.items()
            if getattr(self, name) is not None
        )


def _ratio(rate: float | None, bandwidth: float | None) -> float | None:
    return None if rate is None or bandwidth is None else rate / bandwidth


def _flop_rate(value: float) -> str:
    return f"{format_flops(value)}/s"


_LABELS: dict[str, tuple[str, Any]] = {
    "sm_count": ("streaming multiprocessors", str),
    "memory_bytes": ("device memory", format_bytes),
    "bandwidth_bytes_per_s": ("memory bandwidth", format_bandwidth),
    "boost_clock_hz": ("boost clock", lambda value: f"{value / MEGA:.0f} MHz"),
    "printed_fp32_flop_per_s": ("FP32, printed", _flop_rate),
    "fp16_flop_per_s": ("FP16 tensor cores", _flop_rate),
    "bf16_flop_per_s": ("BF16 tensor cores", _flop_rate),
    "l2_bytes": ("L2 cache", format_bytes),
    "nvlink_bytes_per_s": ("NVLink", format_bandwidth),
    "pcie_bytes_per_s": ("PCIe", format_bandwidth),
    "power_watts": ("power", lambda value: f"{value} W"),
}


_UNITS = {
    "": 1, "W": 1, "MHz": MEGA, "MiB": MIB, "GiB": GIB, "GB/s": GB, "TB/s": TB, "TFLOP/s": TERA,
}  # fmt: skip


_Number = tuple[int | float, str, str]
_Card = msgspec.defstruct(
    "_Card",
    [
        *((text, str) for text in ("name", "product", "compute_capability")),
        *((number, _Number | None, None) for number in _LABELS),
    ],
    forbid_unknown_fields=True,
)
"""A card as the file has it: each number is (value, unit, source)."""


class _Head(msgspec.Struct, forbid_unknown_fields=True):
    card: list[dict[str, Any]]
    sources: dict[str, Source]


def read_cards(text: str, file: str = "cards.toml") -> tuple[DeviceCard, ...]:
    """Returns the cards of a TOML text: tables `card`, and the `sources` their numbers name.

    Args:
        text: of the file.
        file: its name, for messages.

    Raises:
        CatalogueError: a card has a number this module does not know, or one without its unit or
            source; or a source is named by no number. The message names the card.
    """
    form = "see the other cards for the form"
    try:
        data = msgspec.toml.decode(text, type=_Head)
    except msgspec.DecodeError as error:
        raise CatalogueError(f"{file}: {error}", form) from None
    found, named = [], set()
    for given in data.card:
        where = f"{file}, {given.get('name', 'a card without a name')}"
        try:
            card: Any = msgspec.convert(given, _Card)
        except msgspec.ValidationError as error:
            raise CatalogueError(f"{where}: {error}", form) from None
        values, cited = {}, {}
        for number in _LABELS:
            if (told := getattr(card, number)) is None:
                continue
            value, unit, source = told
            if unit not in _UNITS or source not in data.sources:
                raise CatalogueError(
                    f"{where}: {number} has the unit {unit!r} and the source {source!r}",
                    f"units are {', '.join(filter(None, _UNITS))}; sources stand below the cards",
                )
            values[number] = value * _UNITS[unit]
            cited[number] = data.sources[source]
            named.add(source)
        found.append(
            DeviceCard(card.name, card.product, card.compute_capability, sources=cited, **values)
        )
    if unused := data.sources.keys() - named:
        raise CatalogueError(
            f"{file}: no number names the sources {', '.join(sorted(unused))}", "leave them out"
        )
    return tuple(found)


@lru_cache(maxsize=1)
def devices() -> tuple[DeviceCard, ...]:
    """Returns every device card, oldest architecture first."""
    return read_cards(Path(__file__).with_name("cards.toml").read_text(encoding="utf-8"))


def device(name: str) -> DeviceCard:
    """Returns the card of one GPU.

    Args:
        name: such as "A100" or "rtx 4090"; capitals and spaces do not matter.

    Raises:
        UnknownName: no card carries that name; the known ones are listed.

    Examples:
        >>> device("a100").sm_count
        108
        >>> round(device("H100").ridge_flop_per_byte)
        295
    """
    wanted = _plain(name)
    for card in devices():
        if wanted in (_plain(card.name), _plain(card.product)):
            return card
    raise UnknownName(
        f"no device card is called {name!r}",
        f"known ones: {', '.join(card.name for card in devices())}",
    )


def _plain(name: str) -> str:
    return "".join(str(name).lower().split())
