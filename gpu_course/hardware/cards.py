"""Device cards: what the datasheet of a GPU says, each number with the document it stands in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gpu_course.errors import UnknownName
from gpu_course.hardware import sources as src
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


def _card(name: str, product: str, version: str, **cited: tuple[Any, Source]) -> DeviceCard:
    values = {key: value for key, (value, _) in cited.items()}
    return DeviceCard(
        name,
        product,
        version,
        sources={key: source for key, (_, source) in cited.items()},
        **values,
    )


_CARDS = (
    _card(
        "V100", "V100 SXM2 32 GB", "7.0",
        sm_count=(80, src.VOLTA),
        memory_bytes=(32 * GIB, src.VOLTA_DATASHEET),
        bandwidth_bytes_per_s=(900 * GB, src.VOLTA),
        boost_clock_hz=(1530 * MEGA, src.VOLTA),
        printed_fp32_flop_per_s=(15.7 * TERA, src.VOLTA),
        fp16_flop_per_s=(125 * TERA, src.VOLTA),
        l2_bytes=(6 * MIB, src.VOLTA),
        nvlink_bytes_per_s=(300 * GB, src.VOLTA_NVLINK),
        power_watts=(300, src.AMPERE_IN_DEPTH),
    ),
    _card(
        "T4", "Tesla T4", "7.5",
        sm_count=(40, src.TURING),
        memory_bytes=(16 * GIB, src.T4_DATASHEET),
        bandwidth_bytes_per_s=(320 * GB, src.TURING),
        boost_clock_hz=(1590 * MEGA, src.TURING),
        printed_fp32_flop_per_s=(8.1 * TERA, src.T4_DATASHEET),
        fp16_flop_per_s=(65 * TERA, src.T4_DATASHEET),
        l2_bytes=(4 * MIB, src.TURING),
        power_watts=(70, src.T4_DATASHEET),
    ),
    _card(
        "A100", "A100 SXM4 80 GB", "8.0",
        sm_count=(108, src.AMPERE),
        memory_bytes=(80 * GIB, src.A100_DATASHEET),
        bandwidth_bytes_per_s=(2039 * GB, src.A100_DATASHEET),
        boost_clock_hz=(1410 * MEGA, src.AMPERE),
        printed_fp32_flop_per_s=(19.5 * TERA, src.AMPERE),
        fp16_flop_per_s=(312 * TERA, src.AMPERE),
        bf16_flop_per_s=(312 * TERA, src.AMPERE),
        l2_bytes=(40 * MIB, src.AMPERE),
        nvlink_bytes_per_s=(600 * GB, src.AMPERE_NVLINK),
        power_watts=(400, src.AMPERE_IN_DEPTH),
    ),
    _card(
        "RTX 3090", "GeForce RTX 3090", "8.6",
        sm_count=(82, src.GA102),
        memory_bytes=(24 * GIB, src.GA102),
        bandwidth_bytes_per_s=(936 * GB, src.GA102),
        boost_clock_hz=(1695 * MEGA, src.GA102),
        printed_fp32_flop_per_s=(35.6 * TERA, src.GA102),
        fp16_flop_per_s=(71 * TERA, src.GA102),
        bf16_flop_per_s=(71 * TERA, src.GA102),
        l2_bytes=(6 * MIB, src.GA102),
        nvlink_bytes_per_s=(112.5 * GB, src.GA102_NVLINK),
    ),
    _card(
        "RTX 4090", "GeForce RTX 4090", "8.9",
        sm_count=(128, src.ADA),
        memory_bytes=(24 * GIB, src.ADA),
        bandwidth_bytes_per_s=(1008 * GB, src.ADA),
        boost_clock_hz=(2520 * MEGA, src.ADA),
        printed_fp32_flop_per_s=(82.6 * TERA, src.ADA),
        fp16_flop_per_s=(165.2 * TERA, src.ADA),
        bf16_flop_per_s=(165.2 * TERA, src.ADA),
        l2_bytes=(72 * MIB, src.ADA),
        power_watts=(450, src.ADA),
    ),
    _card(
        "L4", "L4 24 GB", "8.9",
        memory_bytes=(24 * GIB, src.L4_DATASHEET),
        bandwidth_bytes_per_s=(300 * GB, src.L4_DATASHEET),
        printed_fp32_flop_per_s=(30.3 * TERA, src.L4_DATASHEET),
        fp16_flop_per_s=(121 * TERA, src.L4_DATASHEET),
        bf16_flop_per_s=(121 * TERA, src.L4_DATASHEET),
        power_watts=(72, src.L4_DATASHEET),
    ),
    _card(
        "H100", "H100 SXM5 80 GB", "9.0",
        sm_count=(132, src.HOPPER),
        memory_bytes=(80 * GIB, src.H100_DATASHEET),
        bandwidth_bytes_per_s=(3350 * GB, src.H100_DATASHEET),
        boost_clock_hz=(1980 * MEGA, src.HOPPER),
        printed_fp32_flop_per_s=(66.9 * TERA, src.HOPPER),
        # The datasheet prints 1,979 with sparsity, which is twice the dense rate.
        fp16_flop_per_s=(989.5 * TERA, src.H100_DATASHEET),
        bf16_flop_per_s=(989.5 * TERA, src.H100_DATASHEET),
        l2_bytes=(50 * MIB, src.HOPPER_TUNING),
        nvlink_bytes_per_s=(900 * GB, src.H100_DATASHEET),
        pcie_bytes_per_s=(128 * GB, src.H100_DATASHEET),
        power_watts=(700, src.H100_DATASHEET),
    ),
    _card(
        "H200", "H200 SXM 141 GB", "9.0",
        sm_count=(132, src.H200_QUERY),
        memory_bytes=(141 * GIB, src.H200_DATASHEET),
        bandwidth_bytes_per_s=(4800 * GB, src.H200_DATASHEET),
        printed_fp32_flop_per_s=(67 * TERA, src.H200_DATASHEET),
        fp16_flop_per_s=(989.5 * TERA, src.H200_DATASHEET),
        bf16_flop_per_s=(989.5 * TERA, src.H200_DATASHEET),
        nvlink_bytes_per_s=(900 * GB, src.H200_DATASHEET),
        power_watts=(700, src.H200_DATASHEET),
    ),
    _card(
        "B200", "B200 180 GB", "10.0",
        sm_count=(148, src.B200_QUERY),
        memory_bytes=(180 * GIB, src.BLACKWELL_TUNING),
        # The memory clock and bus width a B200 reports to the CUDA runtime give 7.67 TB/s.
        bandwidth_bytes_per_s=(8 * TB, src.DGX_B200),
        # 148 SMs of 128 lanes do 75 TFLOP/s at 1.98 GHz; the sheet of GB200, which may draw 1,200
        # watts, prints 80.
        printed_fp32_flop_per_s=(75 * TERA, src.HGX_B200_DATASHEET),
        fp16_flop_per_s=(2250 * TERA, src.HGX_B200),
        bf16_flop_per_s=(2250 * TERA, src.HGX_B200),
        l2_bytes=(126 * MIB, src.BLACKWELL_TUNING),
        nvlink_bytes_per_s=(1800 * GB, src.DGX_B200),
        power_watts=(1000, src.HGX_B200),
    ),
    _card(
        "RTX 5090", "GeForce RTX 5090", "12.0",
        sm_count=(170, src.RTX_BLACKWELL),
        memory_bytes=(32 * GIB, src.RTX_BLACKWELL),
        bandwidth_bytes_per_s=(1792 * GB, src.RTX_BLACKWELL),
        boost_clock_hz=(2407 * MEGA, src.RTX_BLACKWELL),
        printed_fp32_flop_per_s=(104.8 * TERA, src.RTX_BLACKWELL),
        fp16_flop_per_s=(209.5 * TERA, src.RTX_BLACKWELL),
        bf16_flop_per_s=(209.5 * TERA, src.RTX_BLACKWELL),
        l2_bytes=(96 * MIB, src.RTX_BLACKWELL),
        power_watts=(575, src.RTX_BLACKWELL),
    ),
)  # fmt: skip


def devices() -> tuple[DeviceCard, ...]:
    """Returns every device card, oldest architecture first."""
    return _CARDS


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
    for card in _CARDS:
        if wanted in (_plain(card.name), _plain(card.product)):
            return card
    raise UnknownName(
        f"no device card is called {name!r}",
        f"known ones: {', '.join(card.name for card in _CARDS)}",
    )


def _plain(name: str) -> str:
    return "".join(str(name).lower().split())
