"""The documents that the hardware tables cite, each under one short name."""

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
    "NVIDIA, CUDA Toolkit 13",
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
BINARY = Source(
    "NVIDIA, Blackwell Compatibility Guide",
    "section 1.2, Application Compatibility",
    f"{_DOCS}/cuda/blackwell-compatibility-guide/",
)

VOLTA = Source("NVIDIA, Tesla V100 GPU Architecture whitepaper (WP-08608-001)", "Table 1")
VOLTA_NVLINK = Source(
    "NVIDIA, Tesla V100 GPU Architecture whitepaper (WP-08608-001)", "section on NVLink"
)
VOLTA_DATASHEET = Source("NVIDIA, V100 datasheet", "specifications, V100 SXM2")
TURING = Source("NVIDIA, Turing GPU Architecture whitepaper (WP-09183-001)", "Tesla T4 table")
T4_DATASHEET = Source("NVIDIA, T4 datasheet", "specifications")
AMPERE = Source("NVIDIA, A100 Tensor Core GPU Architecture whitepaper", "Table 4")
AMPERE_NVLINK = Source(
    "NVIDIA, A100 Tensor Core GPU Architecture whitepaper", "section on third-generation NVLink"
)
AMPERE_IN_DEPTH = Source(
    "NVIDIA, Ampere Architecture In-Depth",
    "table comparing P100, V100 and A100, row TDP",
    "https://developer.nvidia.com/blog/nvidia-ampere-architecture-in-depth/",
)
A100_DATASHEET = Source("NVIDIA, A100 datasheet", "specifications, A100 80GB SXM")
GA102 = Source("NVIDIA, Ampere GA102 GPU Architecture whitepaper", "table for GeForce RTX 3090")
GA102_NVLINK = Source(
    "NVIDIA, Ampere GA102 GPU Architecture whitepaper", "section on third-generation NVLink"
)
ADA = Source("NVIDIA, Ada GPU Architecture whitepaper 2.1", "Appendix A, Table 2")
L4_DATASHEET = Source(
    "NVIDIA, L4 datasheet", "specifications", "https://www.nvidia.com/en-us/data-center/l4/"
)
HOPPER = Source("NVIDIA, H100 Tensor Core GPU Architecture whitepaper", "table for H100 SXM5")
HOPPER_TUNING = Source(
    "NVIDIA, Hopper Tuning Guide", "section 1.4.2.2", f"{_DOCS}/cuda/hopper-tuning-guide/"
)
H100_DATASHEET = Source(
    "NVIDIA, H100 datasheet",
    "specifications, H100 SXM",
    "https://www.nvidia.com/en-us/data-center/h100/",
)
H200_DATASHEET = Source(
    "NVIDIA, H200 datasheet",
    "specifications, H200 SXM",
    "https://www.nvidia.com/en-us/data-center/h200/",
)
H200_QUERY = Source("CUDA runtime on an H200 SXM", "multiProcessorCount")
DGX_B200 = Source(
    "NVIDIA, DGX B200 datasheet",
    "specifications, an eighth of the eight-GPU system",
    "https://www.nvidia.com/en-us/data-center/dgx-b200/",
)
HGX_B200 = Source(
    "NVIDIA, Blackwell Architecture Technical Brief",
    "table for HGX B200, per GPU, without sparsity",
)
HGX_B200_DATASHEET = Source(
    "NVIDIA, Blackwell datasheet, GB200 NVL72 and HGX B200",
    "individual GPU, HGX B200; the earlier Technical Brief rounded to 80. Read as copied there",
    "https://zdszero.github.io/Computer/Artificial_Intelligence/Hardware.html",
)
BLACKWELL_TUNING = Source(
    "NVIDIA, Blackwell Tuning Guide",
    "sections 1.4.2.1 and 1.4.2.2",
    f"{_DOCS}/cuda/blackwell-tuning-guide/",
)
B200_QUERY = Source(
    "CUDA runtime on a B200",
    "multiProcessorCount, as reported in pytorch/ao pull request 4002",
    "https://github.com/pytorch/ao/pull/4002",
)
RTX_BLACKWELL = Source(
    "NVIDIA, RTX Blackwell GPU Architecture whitepaper",
    "Table 1 and Appendix A",
    "https://images.nvidia.com/aem-dam/Solutions/geforce/blackwell/"
    "nvidia-rtx-blackwell-gpu-architecture.pdf",
)
