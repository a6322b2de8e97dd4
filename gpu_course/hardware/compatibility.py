"""CUDA's compatibility rules: which driver a toolkit needs, and which binary runs on which GPU."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_course.errors import UnknownName
from gpu_course.hardware import sources as src
from gpu_course.hardware.compute_capability import parse_version
from gpu_course.hardware.sources import Source


@dataclass(frozen=True)
class ToolkitRule:
    """What one major version of CUDA asks of a machine.

    Attributes:
        major: the major version of CUDA.
        driver: for "linux" and "windows" the oldest driver that runs any toolkit of that major
            version (minor version compatibility).
        capability: the lowest compute capability its compiler still serves; None where no
            document was at hand.
        sources: where the rule is written.
    """

    major: int
    driver: dict[str, str]
    capability: str | None
    sources: tuple[Source, ...]


_RULES = {
    11: ToolkitRule(
        11,
        {"linux": "450.80.02", "windows": "452.39"},
        None,
        (src.MINOR_VERSION, src.RELEASE_NOTES),
    ),
    12: ToolkitRule(
        12,
        {"linux": "525.60.13", "windows": "528.33"},
        "5.0",
        (src.MINOR_VERSION, src.RELEASE_NOTES, src.LOWEST_IN_12),
    ),
    13: ToolkitRule(
        13, {"linux": "580", "windows": "580"}, "7.5", (src.MINOR_VERSION, src.DROPPED_IN_13)
    ),
}


def toolkit_rule(cuda: str) -> ToolkitRule:
    """Returns what a CUDA version asks of driver and GPU.

    Args:
        cuda: such as "13.0"; only the major version counts.

    Raises:
        UnknownName: the table does not hold that major version.
    """
    major = parse_version(cuda)[0]
    if major not in _RULES:
        raise UnknownName(
            f"no driver rule for CUDA {cuda}",
            f"known major versions: {', '.join(str(known) for known in _RULES)}",
        )
    return _RULES[major]


def minimum_driver(cuda: str, os: str = "linux") -> str:
    """Returns the oldest driver that runs programs built with that CUDA version.

    Within one major version a program runs on any driver at least this new, with the features
    that driver has; a newer driver runs older programs.

    Args:
        cuda: such as "13.0".
        os: "linux" or "windows".

    Raises:
        UnknownName: an unknown CUDA version or system.

    Source: NVIDIA, CUDA Compatibility, Minor Version Compatibility, Table 1.

    Examples:
        >>> minimum_driver(cuda="12.4")
        '525.60.13'
        >>> minimum_driver(cuda="13.0", os="windows")
        '580'
    """
    drivers = toolkit_rule(cuda).driver
    if os not in drivers:
        raise UnknownName(f"no driver rule for the system {os!r}", f"known: {', '.join(drivers)}")
    return drivers[os]


def driver_suffices(driver: str, cuda: str, os: str = "linux") -> bool:
    """True when the driver is new enough for that CUDA version.

    Examples:
        >>> driver_suffices("580.65.06", cuda="13.0")
        True
        >>> driver_suffices("575.57.08", cuda="13.0")
        False
    """
    return _parts(driver) >= _parts(minimum_driver(cuda, os))


def runs_on(built_for: str, device: str, *, ptx: bool = False) -> bool:
    """True when code built for one compute capability runs on a GPU of another.

    Machine code (a cubin) runs within its major version, on the same or a higher minor version.
    PTX is compiled when it is loaded, for any capability from its own upwards.

    Args:
        built_for: the capability the code was compiled for.
        device: the capability of the GPU.
        ptx: True when the file holds PTX for `built_for`, not only machine code.

    Source: NVIDIA, Blackwell Compatibility Guide, section 1.2.

    Examples:
        >>> runs_on(built_for="8.0", device="8.6")
        True
        >>> runs_on(built_for="8.6", device="8.0")
        False
        >>> runs_on(built_for="8.0", device="9.0")
        False
        >>> runs_on(built_for="8.0", device="9.0", ptx=True)
        True
    """
    code, gpu = parse_version(built_for), parse_version(device)
    if ptx:
        return gpu >= code
    return gpu[0] == code[0] and gpu[1] >= code[1]


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
