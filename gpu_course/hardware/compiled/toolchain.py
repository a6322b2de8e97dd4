"""NVIDIA's compiler on this machine: numba-cuda for PTX, ptxas for SASS, nvdisasm to read it.

All of it comes in wheels, with the extra `compile`, and none of it needs a GPU.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path

from gpu_course.errors import CourseError

WHEELS = ("numba-cuda", "nvidia-cuda-nvcc", "nvidia-cuda-nvdisasm", "nvidia-cuda-nvrtc")
"""What the extra brings: NVVM and PTX, ptxas, nvdisasm, and what numba-cuda links against."""
TO_INSTALL = "python -m pip install -e '.[compile]'"
DEADLINE_S = 60.0
MEMORY_BYTES = 4 * 2**30


class NoCompiler(CourseError):
    """The wheels that compile are not installed here, or not for this machine."""


class ToolFailed(CourseError):
    """ptxas or nvdisasm did not do what it was asked to."""


@dataclass(frozen=True)
class Toolchain:
    """The tools, and which versions they are.

    Attributes:
        ptxas: from PTX to SASS.
        nvdisasm: from SASS to text.
        versions: distribution -> version, of WHEELS.
    """

    ptxas: Path
    nvdisasm: Path
    versions: dict[str, str]

    @property
    def named(self) -> str:
        """The versions that decide what comes out, in a few words."""
        return (
            f"numba-cuda {self.versions['numba-cuda']}, ptxas {self.versions['nvidia-cuda-nvcc']}"
        )


@lru_cache(maxsize=1)
def toolchain() -> Toolchain:
    """Returns the compiler of this machine.

    Raises:
        NoCompiler: a wheel is missing; the message names it and the command that installs it.
    """
    versions, missing = {}, []
    for name in WHEELS:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            missing.append(name)
    if missing:
        raise NoCompiler(
            f"no compiler for GPUs is installed here: {', '.join(missing)} not found", _remedy()
        )
    return Toolchain(_tool("ptxas"), _tool("nvdisasm"), versions)


def has_compiler() -> bool:
    """True where kernels can be compiled on this machine."""
    try:
        toolchain()
    except NoCompiler:
        return False
    return True


def _remedy() -> str:
    if sys.platform == "darwin":
        return "NVIDIA makes no wheels for macOS; on Linux and Windows " + TO_INSTALL
    return TO_INSTALL


def _tool(name: str) -> Path:
    suffix = ".exe" if sys.platform == "win32" else ""
    for folder in map(Path, sys.path):
        # CUDA 13 has one folder for all its tools, as `nvidia/cu13/bin`.
        for found in sorted(folder.glob(f"nvidia/*/bin/{name}{suffix}")):
            return found
    raise NoCompiler(f"{name} is not where its wheel puts it: nvidia/*/bin", _remedy())


def run_tool(command: Sequence[str | Path]) -> tuple[str, str]:
    """Returns what a tool printed, and what it said on its error stream.

    Raises:
        ToolFailed: it ended with another status than 0, or took more than DEADLINE_S or
            MEMORY_BYTES. The message is one line: the first that the tool calls an error.
    """
    name = Path(command[0]).stem
    try:
        done = subprocess.run(
            [str(part) for part in command],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=DEADLINE_S,
            preexec_fn=_hold_memory if sys.platform == "linux" else None,
        )
    except subprocess.TimeoutExpired:
        raise ToolFailed(
            f"{name} was not done after {DEADLINE_S:.0f} s, and was ended",
            "a kernel with fewer unrolled loops compiles faster",
        ) from None
    except OSError as error:
        raise ToolFailed(f"{name} cannot be started: {error.strerror}", _remedy()) from error
    if done.returncode:
        raise ToolFailed(f"{name} failed: {_reason(done.stderr, done.returncode)}", "")
    return done.stdout, done.stderr


def _hold_memory() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def _reason(said: str, status: int) -> str:
    """Returns the line in which a tool says what is wrong."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    for line in lines:
        if re.search(r"\b(error|fatal)\b", line):
            return line
    return lines[-1] if lines else f"exit status {status}, and not a word"
