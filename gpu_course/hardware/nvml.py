"""The NVIDIA GPUs of this machine, and their driver, as NVML tells them.

NVML is the driver's own library, which `nvidia-smi` asks as well; NVIDIA's package `nvidia-ml-py`
calls it. Nothing is loaded before somebody asks.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from gpu_course.units import MEGA

Told = TypeVar("Told")


@dataclass(frozen=True)
class InstalledGpu:
    """One GPU of this machine. What the driver did not say is None.

    Attributes:
        name: as the driver calls it.
        memory_bytes: device memory.
        compute_capability: such as "8.9".
    """

    name: str
    memory_bytes: int | None = None
    compute_capability: str | None = None


@dataclass(frozen=True)
class Driver:
    """The NVIDIA driver of this machine. What it did not say is None.

    Attributes:
        version: its own, such as "580.105.08".
        newest_cuda: the newest CUDA version it runs, such as "13.0".
        gpus: those it drives.
    """

    version: str | None
    newest_cuda: str | None
    gpus: tuple[InstalledGpu, ...]


def gpu_switched_off() -> bool:
    """True when GPU_COURSE_GPU=off asks the course to leave the GPU alone."""
    return os.environ.get("GPU_COURSE_GPU", "").strip().lower() in ("off", "0", "no", "false")


def driver() -> Driver | None:
    """Returns the driver and its GPUs, or None on a machine that has no NVIDIA driver.

    Raises:
        ImportError: nvidia-ml-py is not installed.
        OSError: there is a driver, and it does not work.
    """
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError_LibraryNotFound:
        return None
    except pynvml.NVMLError as error:
        raise OSError(f"the NVIDIA driver does not answer: {error}") from None
    try:
        return Driver(
            _told(pynvml.nvmlSystemGetDriverVersion),
            _cuda(_told(pynvml.nvmlSystemGetCudaDriverVersion_v2)),
            tuple(map(_gpu, range(pynvml.nvmlDeviceGetCount()))),
        )
    except pynvml.NVMLError as error:
        raise OSError(f"the NVIDIA driver does not answer: {error}") from None
    finally:
        pynvml.nvmlShutdown()


def facts_of(name: str) -> dict[str, Any]:
    """Returns what NVML says of a card beside what CUDA does: None for what it does not say.

    Keys: driver, memory_bytes, and clocks with sm_hz and memory_hz as they are at this moment and
    max_sm_hz and max_memory_hz as they can be.

    Args:
        name: of the card, as CUDA and NVML call it.
    """
    nothing = {"driver": None, "memory_bytes": None, "clocks": None}
    try:
        found = driver()
        if found is None:
            return nothing
        number = next((k for k, gpu in enumerate(found.gpus) if gpu.name == name), None)
        if number is None:
            return nothing
        return {
            "driver": found.version,
            "memory_bytes": found.gpus[number].memory_bytes,
            "clocks": clocks(number),
        }
    except (ImportError, OSError):
        return nothing


def clocks(number: int) -> dict[str, int | None] | None:
    """Returns a card's clocks in Hz, those of this moment and the highest; None where NVML fails.

    Args:
        number: of the card, as NVML counts them.
    """
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    try:
        gpu = pynvml.nvmlDeviceGetHandleByIndex(number)
        asked = {
            f"{most}{name}_hz": (ask, kind)
            for most, ask in (
                ("", pynvml.nvmlDeviceGetClockInfo),
                ("max_", pynvml.nvmlDeviceGetMaxClockInfo),
            )
            for name, kind in (("sm", pynvml.NVML_CLOCK_SM), ("memory", pynvml.NVML_CLOCK_MEM))
        }
        told = {key: _told(partial(ask, gpu, kind)) for key, (ask, kind) in asked.items()}
        return {key: None if mhz is None else mhz * MEGA for key, mhz in told.items()}
    except pynvml.NVMLError:
        return None
    finally:
        pynvml.nvmlShutdown()


def _gpu(number: int) -> InstalledGpu:
    import pynvml

    gpu = pynvml.nvmlDeviceGetHandleByIndex(number)
    memory = _told(lambda: pynvml.nvmlDeviceGetMemoryInfo(gpu).total)
    capability = _told(lambda: pynvml.nvmlDeviceGetCudaComputeCapability(gpu))
    return InstalledGpu(
        _told(lambda: pynvml.nvmlDeviceGetName(gpu)) or "NVIDIA GPU",
        memory,
        ".".join(map(str, capability)) if capability else None,
    )


def _told(ask: Callable[[], Told]) -> Told | None:
    """Returns what NVML says; None where this GPU or driver does not say it."""
    import pynvml

    try:
        return ask()
    except (pynvml.NVMLError_NotSupported, pynvml.NVMLError_FunctionNotFound):
        return None


def _cuda(number: int | None) -> str | None:
    """Returns a version as people write it.

    >>> _cuda(13000), _cuda(12040)
    ('13.0', '12.4')
    """
    return f"{number // 1000}.{number % 1000 // 10}" if number else None
