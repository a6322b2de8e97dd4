"""The documents that the hardware tables cite, each under one short name; those of cards.toml are
named there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """A document a number was read in.

    Args:
        title: the document and its publisher.
        place: the table, section or line in it.
        url: where it is published, or "".
    """

    title: str
    place: str
    url: str = ""

    def __str__(self) -> str:
        return f"{self.title}, {self.place}"


_DOCS = "https://docs.nvidia.com"
_GUIDE = f"{_DOCS}/cuda/cuda-programming-guide/05-appendices/compute-capabilities.html"
_COMPATIBILITY = f"{_DOCS}/deploy/cuda-compatibility/minor-version-compatibility.html"
_RELEASE_NOTES = f"{_DOCS}/cuda/cuda-toolkit-release-notes/index.html"

GUIDE_SM = Source("NVIDIA, CUDA Programming Guide 13.1", "section 5.1, Table 30", _GUIDE)
GUIDE_MEMORY = Source("NVIDIA, CUDA Programming Guide 13.1", "section 5.1, Table 31", _GUIDE)
GUIDE_CORES = Source(
    "NVIDIA, CUDA C++ Programming Guide 13.0",
    "sections 20.6 to 20.10, 'An SM consists of'",
    f"{_DOCS}/cuda/archive/13.0.0/cuda-c-programming-guide/index.html",
)
ARCH_TRAITS = Source(
    "NVIDIA, CUDA Core Compute Libraries",
    "libcudacxx/include/cuda/__device/arch_traits.h",
    "https://github.com/NVIDIA/cccl",
)
OCCUPANCY_HEADER = Source(
    "NVIDIA, CUDA Toolkit 13.5",
    "include/cuda_occupancy.h (ships in the wheel nvidia-cuda-runtime)",
    "https://pypi.org/project/nvidia-cuda-runtime/",
)
XAVIER_QUERY = Source(
    "NVIDIA, deviceQuery sample run on a Jetson Xavier",
    "lines on threads, registers and shared memory",
)

MINOR_VERSION = Source(
    "NVIDIA, CUDA Compatibility", "Minor Version Compatibility, Table 1", _COMPATIBILITY
)
RELEASE_NOTES = Source(
    "NVIDIA, CUDA Toolkit Release Notes",
    "table of minimum drivers for minor version compatibility",
    _RELEASE_NOTES,
)
LOWEST_IN_12 = Source(
    "LLVM, clang/lib/Basic/Cuda.cpp",
    "MinVersionForOffloadArch and MaxVersionForOffloadArch: 3.5 and 3.7 end with CUDA 11.8",
    "https://github.com/llvm/llvm-project/blob/main/clang/lib/Basic/Cuda.cpp",
)
DROPPED_IN_13 = Source(
    "NVIDIA, CUDA Toolkit 13.0 Release Notes",
    "Maxwell, Pascal and Volta are no longer compiled for",
    f"{_DOCS}/cuda/archive/13.0.0/cuda-toolkit-release-notes/index.html",
)
