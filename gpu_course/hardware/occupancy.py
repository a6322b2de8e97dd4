"""Occupancy: how many blocks of a kernel an SM holds at the same time, and what stops more.

Source: NVIDIA, CUDA Toolkit, cuda_occupancy.h; CUDA Programming Guide 13.1, section 5.1, Tables 30
and 31 for the limits.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpu_course.hardware.compute_capability import ComputeCapability


@dataclass(frozen=True)
class Occupancy:
    """What fits on one SM.

    Attributes:
        blocks: how many blocks are resident together.
        warps: how many warps that makes.
        fraction: those warps as a part of what the SM could hold.
        limits: resource -> how many blocks it alone would let in; None where it sets no limit.
    """

    blocks: int
    warps: int
    fraction: float
    limits: dict[str, int | None]

    @property
    def limited_by(self) -> tuple[str, ...]:
        """The resources that let in no more than these blocks."""
        return tuple(name for name, most in self.limits.items() if most == self.blocks)


def occupancy(
    capability: ComputeCapability, registers_per_thread: int, shared_bytes: int, threads: int
) -> Occupancy:
    """Returns how many blocks of a kernel one SM holds, and what stops more.

    Warps are whole: a block of 40 threads takes the place of two warps. Registers are given to a
    warp in units, in the quarter of the SM that the warp runs in. Shared memory is given to a
    block in units, on top of what the system keeps of each block's share.

    Args:
        capability: the limits of the GPU.
        registers_per_thread: as the compiler reports them.
        shared_bytes: of one block, static and dynamic together.
        threads: in one block.

    Returns:
        An Occupancy of 0 blocks where one block is more than the SM can hold.

    Examples:
        >>> from gpu_course.hardware.compute_capability import capability
        >>> found = occupancy(capability("8.0"), 64, 0, 256)
        >>> found.blocks, found.fraction, found.limited_by
        (4, 0.5, ('registers',))
    """
    warps = -(-threads // capability.warp_size)
    limits = {
        "warps": _by_warps(capability, threads, warps),
        "blocks": capability.max_blocks_per_sm,
        "registers": _by_registers(capability, registers_per_thread, warps),
        "shared memory": _by_shared(capability, shared_bytes),
    }
    blocks = min(most for most in limits.values() if most is not None)
    resident = blocks * warps
    return Occupancy(blocks, resident, resident / capability.max_warps_per_sm, limits)


def sm_limits(capability: ComputeCapability) -> dict[str, int]:
    """Returns what one SM can hold as the puzzles on occupancy give it, name by name.

    Examples:
        >>> from gpu_course.hardware.compute_capability import capability
        >>> sm_limits(capability("7.5"))["shared_unit"]
        256
    """
    return {
        "warp_size": capability.warp_size,
        "warps": capability.max_warps_per_sm,
        "blocks": capability.max_blocks_per_sm,
        "quarters": capability.schedulers_per_sm,
        "registers": capability.registers_per_sm,
        "register_unit": capability.register_allocation_unit,
        "shared_bytes": capability.shared_bytes_per_sm,
        "shared_unit": capability.shared_allocation_bytes,
        "shared_reserved": capability.reserved_shared_bytes_per_block,
    }


def _by_warps(capability: ComputeCapability, threads: int, warps: int) -> int:
    if not 0 < threads <= capability.max_threads_per_block:
        return 0
    return capability.max_warps_per_sm // warps


def _by_registers(capability: ComputeCapability, per_thread: int, warps: int) -> int | None:
    if per_thread > capability.max_registers_per_thread:
        return 0
    per_warp = _round_up(per_thread * capability.warp_size, capability.register_allocation_unit)
    if not per_warp:
        return None
    quarter = capability.registers_per_sm // capability.schedulers_per_sm
    resident = quarter // per_warp * capability.schedulers_per_sm
    return resident // max(warps, 1)


def _by_shared(capability: ComputeCapability, shared_bytes: int) -> int | None:
    if shared_bytes > capability.max_shared_bytes_per_block_optin:
        return 0
    taken = _round_up(
        shared_bytes + capability.reserved_shared_bytes_per_block,
        capability.shared_allocation_bytes,
    )
    return capability.shared_bytes_per_sm // taken if taken else None


def _round_up(number: int, unit: int) -> int:
    return -(-number // unit) * unit
