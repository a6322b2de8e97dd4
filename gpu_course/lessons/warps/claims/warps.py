"""Warps on an SM: the models beside the numbers of Volkov, NVIDIA's guide, the GPU Glossary."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.hardware.compute_capability import ComputeCapability, capabilities
from gpu_course.hardware.occupancy import occupancy

WARP = 32
FERMI_REGISTERS, FERMI_WARPS, FERMI_BLOCKS = 32 * 1024, 48, 8
"""Of an SM of compute capability 2.0."""

_CAPABILITIES = {each.version: each for each in capabilities()}


@model("rate")
def threads_in_flight(latency: float, per_clock: float, chains: float) -> float:
    """Returns the threads that keep an SM busy by Little's law, each with so many chains."""
    return latency * per_clock / chains


@model()
def fermi_occupancy_percent(registers: float, threads: float) -> float:
    """Returns the occupancy of an SM of compute capability 2.0, in percent."""
    blocks = min(
        FERMI_REGISTERS // (registers * threads),
        FERMI_WARPS * WARP // threads,
        FERMI_BLOCKS,
    )
    return 100 * blocks * threads / (FERMI_WARPS * WARP)


@model()
def as_occupancy(speed: float, before: float, after: float) -> float:
    """Returns a speed that follows the occupancy from one value to another."""
    return speed * after / before


@model()
def bandwidth_percent(
    warps: float, bytes_of_thread: float, sms: float, needed_bytes: float
) -> float:
    """Returns what part of the bandwidth the bytes in flight can fill, at most all, in percent."""
    return 100 * min(1.0, warps * WARP * bytes_of_thread * sms / needed_bytes)


@model(version=_CAPABILITIES)
def sm_occupancy_percent(version: ComputeCapability, registers: int, threads: int) -> float:
    """Returns the occupancy of an SM as NVIDIA's calculator counts it, in percent."""
    return 100 * occupancy(version, registers, 0, threads).fraction


@model(version=_CAPABILITIES)
def sm_blocks(version: ComputeCapability, registers: int, shared_bytes: int, threads: int) -> float:
    """Returns the blocks on an SM as NVIDIA's calculator counts them."""
    return occupancy(version, registers, shared_bytes, threads).blocks


@model()
def busy_ms(step_ms: float, busy: float) -> float:
    """Returns the part of a step in which the GPU is busy."""
    return step_ms * busy
