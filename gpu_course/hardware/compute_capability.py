"""The limits of each compute capability: what a launch and an SM can hold."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_course.errors import UnknownName
from gpu_course.hardware import sources as src
from gpu_course.hardware.sources import Source
from gpu_course.units import KIB


@dataclass(frozen=True)
class ComputeCapability:
    """What every GPU of one compute capability can hold.

    Attributes:
        version: such as "8.0".
        architecture: NVIDIA's name for the family.
        max_threads_per_sm, max_blocks_per_sm: resident at the same time on one SM.
        shared_bytes_per_sm: the most shared memory an SM can be set to.
        max_shared_bytes_per_block_optin: the most a block can have when it asks for it by name.
        reserved_shared_bytes_per_block: what the system keeps of each block's share.
        shared_allocation_bytes: shared memory of a block is rounded up to a multiple of this.
        fp32_cores_per_sm: FP32 results per clock and SM; None where no document says.
        sources: the documents the numbers were read in.
    """

    version: str
    architecture: str
    max_threads_per_sm: int
    max_blocks_per_sm: int
    shared_bytes_per_sm: int
    max_shared_bytes_per_block_optin: int
    reserved_shared_bytes_per_block: int
    shared_allocation_bytes: int
    fp32_cores_per_sm: int | None
    sources: tuple[Source, ...]

    # The same for every capability in the table, so they are stated once.
    warp_size: int = 32
    max_threads_per_block: int = 1024
    max_block: tuple[int, int, int] = (1024, 1024, 64)
    max_grid: tuple[int, int, int] = (2**31 - 1, 65535, 65535)
    registers_per_sm: int = 64 * KIB
    registers_per_block: int = 64 * KIB
    max_registers_per_thread: int = 255
    register_allocation_unit: int = 256
    shared_bytes_per_block: int = 48 * KIB
    shared_banks: int = 32
    schedulers_per_sm: int = 4

    @property
    def max_warps_per_sm(self) -> int:
        """Warps resident on one SM at the same time."""
        return self.max_threads_per_sm // self.warp_size

    @property
    def number(self) -> tuple[int, int]:
        """(major, minor), which compare as numbers do: (12, 0) is more than (9, 0)."""
        return parse_version(self.version)


def parse_version(text: str) -> tuple[int, int]:
    """Returns (major, minor) of a version text.

    Examples:
        >>> parse_version("8.6")
        (8, 6)
        >>> parse_version("13")
        (13, 0)
    """
    major, _, rest = str(text).strip().partition(".")
    return int(major), int(rest.partition(".")[0] or 0)


_CURRENT = (src.GUIDE_SM, src.GUIDE_MEMORY, src.ARCH_TRAITS, src.OCCUPANCY_HEADER)
_VOLTA = (src.ARCH_TRAITS, src.OCCUPANCY_HEADER, src.GUIDE_CORES)
_XAVIER = (src.XAVIER_QUERY, src.OCCUPANCY_HEADER, src.GUIDE_CORES)
_NOT_IN_THE_GUIDE = (src.ARCH_TRAITS, src.OCCUPANCY_HEADER)

# version, family, threads and blocks per SM, shared KiB per SM, FP32 cores per SM, documents
_ROWS: tuple[tuple[str, str, int, int, int, int | None, tuple[Source, ...]], ...] = (
    ("7.0", "Volta", 2048, 32, 96, 64, _VOLTA),
    ("7.2", "Volta", 2048, 32, 96, 64, _XAVIER),
    ("7.5", "Turing", 1024, 16, 64, 64, _CURRENT),
    ("8.0", "Ampere", 2048, 32, 164, 64, _CURRENT),
    ("8.6", "Ampere", 1536, 16, 100, 128, _CURRENT),
    ("8.7", "Ampere", 1536, 16, 164, 128, _CURRENT),
    ("8.8", "Ampere", 1536, 16, 100, None, _NOT_IN_THE_GUIDE),
    ("8.9", "Ada", 1536, 24, 100, 128, _CURRENT),
    ("9.0", "Hopper", 2048, 32, 228, 128, _CURRENT),
    ("10.0", "Blackwell", 2048, 32, 228, 128, _CURRENT),
    ("10.3", "Blackwell", 2048, 32, 228, None, _CURRENT),
    # Shared memory as the toolkit's calculator has it; the CCCL of its day repeats the 228 of 10.0.
    ("10.7", "Rubin", 1024, 16, 328, None, _NOT_IN_THE_GUIDE),
    ("11.0", "Blackwell", 1536, 24, 228, None, _CURRENT),
    ("12.0", "Blackwell", 1536, 24, 100, 128, _CURRENT),
    ("12.1", "Blackwell", 1536, 24, 100, None, _CURRENT),
)


def _build(
    version: str,
    architecture: str,
    threads: int,
    blocks: int,
    shared_kib: int,
    cores: int | None,
    documents: tuple[Source, ...],
) -> ComputeCapability:
    since_ampere = parse_version(version) >= (8, 0)
    reserved = KIB if since_ampere else 0
    return ComputeCapability(
        version=version,
        architecture=architecture,
        max_threads_per_sm=threads,
        max_blocks_per_sm=blocks,
        shared_bytes_per_sm=shared_kib * KIB,
        max_shared_bytes_per_block_optin=shared_kib * KIB - reserved,
        reserved_shared_bytes_per_block=reserved,
        shared_allocation_bytes=128 if since_ampere else 256,
        fp32_cores_per_sm=cores,
        sources=documents if cores is None else tuple(dict.fromkeys((*documents, src.GUIDE_CORES))),
    )


_TABLE = {row[0]: _build(*row) for row in _ROWS}


def capabilities() -> tuple[ComputeCapability, ...]:
    """Returns every compute capability the course knows, oldest first."""
    return tuple(_TABLE.values())


def capability(version: str) -> ComputeCapability:
    """Returns the limits of one compute capability.

    Args:
        version: such as "8.0".

    Raises:
        UnknownName: the table has no such capability; the known ones are listed.

    Source: the `sources` of each row.

    Examples:
        >>> capability("8.6").max_warps_per_sm
        48
        >>> capability("9.0").max_shared_bytes_per_block_optin // 1024
        227
    """
    try:
        return _TABLE[str(version).strip()]
    except KeyError:
        raise UnknownName(
            f"no compute capability {version!r} in the table",
            f"known ones: {', '.join(_TABLE)}",
        ) from None
