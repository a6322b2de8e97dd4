"""The NVIDIA GPUs of this machine, read from what `nvidia-smi` prints."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gpu_course.units import MIB

Run = Callable[[list[str]], str]
"""Runs a command and returns what it printed; raises OSError or SubprocessError if it failed."""

_FIELDS = ("name", "driver_version", "memory.total", "compute_cap")
# Outside PATH: Windows keeps it in System32, WSL in its own folder.
_ELSEWHERE = ("/usr/lib/wsl/lib/nvidia-smi", r"C:\Windows\System32\nvidia-smi.exe")
_CUDA = re.compile(r"CUDA (?:\w+ )?Version:\s*(\d+\.\d+)")


@dataclass(frozen=True)
class InstalledGpu:
    """One GPU of this machine. What the driver did not say is None.

    Attributes:
        name: as the driver calls it.
        driver: the driver's version.
        memory_bytes: device memory.
        compute_capability: such as "8.9".
    """

    name: str
    driver: str | None = None
    memory_bytes: int | None = None
    compute_capability: str | None = None


def gpu_switched_off() -> bool:
    """True when GPU_COURSE_GPU=off asks the course to leave the GPU alone."""
    return os.environ.get("GPU_COURSE_GPU", "").strip().lower() in ("off", "0", "no", "false")


def find_nvidia_smi() -> str | None:
    """Returns the path of nvidia-smi, or None."""
    return shutil.which("nvidia-smi") or next(
        (path for path in _ELSEWHERE if Path(path).is_file()), None
    )


def run_command(command: list[str]) -> str:
    """Returns what a command printed.

    Raises:
        OSError, subprocess.SubprocessError: it could not run, failed, or took over 20 seconds.
    """
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", timeout=20, check=True
    )
    return done.stdout


def query_gpus(smi: str, run: Run = run_command) -> tuple[InstalledGpu, ...]:
    """Returns the GPUs that nvidia-smi lists.

    Args:
        smi: the path of nvidia-smi.
        run: runs a command; tests hand in their own.

    Raises:
        OSError, subprocess.SubprocessError: nvidia-smi is there and does not work.
    """
    try:
        return parse_query(run(_query(smi, _FIELDS)))
    except subprocess.CalledProcessError:
        # Drivers before 510 do not know compute_cap and refuse the whole query.
        return parse_query(run(_query(smi, _FIELDS[:3])))


def query_cuda(smi: str, run: Run = run_command) -> str | None:
    """Returns the newest CUDA version the driver runs, such as "13.0", or None."""
    return parse_cuda_version(run([smi]))


def parse_query(text: str) -> tuple[InstalledGpu, ...]:
    """Returns the GPUs of a `--query-gpu=... --format=csv,noheader,nounits` answer.

    Examples:
        >>> parse_query("Tesla T4, 580.105.08, 15360, 7.5")[0].compute_capability
        '7.5'
        >>> parse_query("Tesla K80, 470.82.01, [N/A]")[0].memory_bytes is None
        True
        >>> parse_query("No devices were found")
        ()
    """
    gpus = []
    for row in csv.reader(text.splitlines(), skipinitialspace=True):
        if len(row) < 3:
            continue
        name, driver, memory = (_known(cell) for cell in row[:3])
        gpus.append(
            InstalledGpu(
                name=name or "NVIDIA GPU",
                driver=driver,
                memory_bytes=_mebibytes(memory),
                compute_capability=_version(row[3]) if len(row) > 3 else None,
            )
        )
    return tuple(gpus)


def parse_cuda_version(banner: str) -> str | None:
    """Returns the CUDA version in the head of nvidia-smi's table, or None.

    Examples:
        >>> parse_cuda_version("| Driver Version: 580.105.08     CUDA Version: 13.0     |")
        '13.0'
        >>> parse_cuda_version("| CUDA Version: N/A |") is None
        True
    """
    match = _CUDA.search(banner)
    return match.group(1) if match else None


def _query(smi: str, fields: tuple[str, ...]) -> list[str]:
    return [smi, f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"]


def _known(cell: str) -> str | None:
    text = cell.strip()
    return None if not text or text.startswith("[") or text.upper() == "N/A" else text


def _mebibytes(text: str | None) -> int | None:
    match = re.match(r"\d+", text or "")
    return int(match.group()) * MIB if match else None


def _version(cell: str) -> str | None:
    text = _known(cell)
    return text if text and re.fullmatch(r"\d+\.\d+", text) else None
