"""A small caching allocator that writes snapshots as `torch.cuda.memory._snapshot()` does.

So the format can be read, drawn and opened at pytorch.org/memory_viz without a GPU. The rules are
those of PyTorch's allocator with its defaults: blocks are multiples of 512 bytes; those up to 1 MiB
come from segments of 2 MiB, those below 10 MiB from segments of 20 MiB, larger ones from a segment
of their own, rounded up to 2 MiB; the smallest free block that fits is taken, and split where
enough remains; neighbours that are free become one; no segment is given back.

Source: PyTorch, c10/cuda/CUDACachingAllocator.cpp; "Understanding GPU Memory 1", 2023.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gpu_course.errors import CourseError
from gpu_course.lessons.profiling.pictures import Piece
from gpu_course.units import MIB

ROUND = 512
SMALL, SMALL_SEGMENT = MIB, 2 * MIB
LARGE, LARGE_SEGMENT = 10 * MIB, 20 * MIB
ROUND_LARGE = 2 * MIB
_FIRST_ADDRESS = 0x7F00_0000_0000


@dataclass
class _Block:
    address: int
    size: int
    requested: int = 0
    live: bool = False


@dataclass
class _Segment:
    address: int
    size: int
    small: bool
    blocks: list[_Block] = field(default_factory=list)


class Allocator:
    """Takes and gives back blocks, and keeps a history of both."""

    def __init__(self) -> None:
        self._segments: list[_Segment] = []
        self._history: list[dict[str, Any]] = []
        self._named: dict[str, _Block] = {}

    def take(self, name: str, size_bytes: int) -> None:
        """Takes a block for a tensor.

        Raises:
            CourseError: the name has one, or the size is no positive number of bytes.
        """
        if name in self._named:
            raise CourseError(f"{name} has a block already", "give it back first, or rename it")
        if size_bytes <= 0:
            raise CourseError(f"{name} is to have {size_bytes} bytes", "one or more are needed")
        size = -(-size_bytes // ROUND) * ROUND
        small = size <= SMALL
        segment, block = self._fitting(size, small) or self._new_segment(size, small)
        rest = block.size - size
        if rest >= ROUND if small else rest > SMALL:
            place = segment.blocks.index(block)
            segment.blocks.insert(place + 1, _Block(block.address + size, rest))
            block.size = size
        block.live, block.requested = True, size_bytes
        self._named[name] = block
        self._note("alloc", block.address, block.size)

    def give_back(self, name: str) -> None:
        """Gives the block of a tensor back to the allocator, which keeps it."""
        block = self._named.pop(name, None)
        if block is None:
            raise CourseError(f"{name} has no block", "take one first")
        for action in ("free_requested", "free_completed"):
            self._note(action, block.address, block.size)
        block.live, block.requested = False, 0
        (segment,) = (each for each in self._segments if block in each.blocks)
        joined: list[_Block] = []
        for each in segment.blocks:
            if joined and not joined[-1].live and not each.live:
                joined[-1].size += each.size
            else:
                joined.append(each)
        segment.blocks = joined

    def _fitting(self, size: int, small: bool) -> tuple[_Segment, _Block] | None:
        free = [
            (block.size, block.address, segment, block)
            for segment in self._segments
            if segment.small == small
            for block in segment.blocks
            if not block.live and block.size >= size
        ]
        return min(free, key=lambda each: each[:2])[2:] if free else None

    def _new_segment(self, size: int, small: bool) -> tuple[_Segment, _Block]:
        if small:
            total = SMALL_SEGMENT
        elif size < LARGE:
            total = LARGE_SEGMENT
        else:
            total = -(-size // ROUND_LARGE) * ROUND_LARGE
        last = self._segments[-1] if self._segments else None
        address = last.address + last.size if last else _FIRST_ADDRESS
        segment = _Segment(address, total, small, [_Block(address, total)])
        self._segments.append(segment)
        self._note("segment_alloc", address, total)
        return segment, segment.blocks[0]

    def _note(self, action: str, address: int, size: int) -> None:
        entry = {"action": action, "addr": address, "size": size, "stream": 0, "frames": []}
        self._history.append(entry)

    def snapshot(self) -> dict[str, Any]:
        """Returns what there is now, and all that happened, in the form of PyTorch's snapshots."""
        segments: list[dict[str, Any]] = []
        for segment in self._segments:
            live = sum(block.size for block in segment.blocks if block.live)
            segments.append(
                {
                    "device": 0,
                    "address": segment.address,
                    "total_size": segment.size,
                    "allocated_size": live,
                    "active_size": live,
                    "requested_size": sum(block.requested for block in segment.blocks),
                    "stream": 0,
                    "segment_type": "small" if segment.small else "large",
                    "segment_pool_id": (0, 0),
                    "is_expandable": False,
                    "frames": [],
                    "blocks": [
                        {
                            "address": block.address,
                            "size": block.size,
                            "requested_size": block.requested,
                            "state": "active_allocated" if block.live else "inactive",
                            "frames": [],
                        }
                        for block in segment.blocks
                    ],
                }
            )
        return {"segments": segments, "device_traces": [list(self._history)]}


def pieces_of(snapshot: Mapping[str, Any]) -> tuple[tuple[Piece, ...], ...]:
    """Returns the blocks of each segment of a snapshot, PyTorch's or ours."""
    return tuple(
        tuple(
            Piece(int(block["size"]), block["state"] == "active_allocated")
            for block in segment["blocks"]
        )
        for segment in snapshot["segments"]
    )


def live_bytes_of(history: Sequence[Mapping[str, Any]]) -> list[int]:
    """Returns the bytes in live blocks after each block that was taken or given back.

    Args:
        history: one of a snapshot's "device_traces".
    """
    live, found = 0, []
    for entry in history:
        sign = {"alloc": 1, "free_completed": -1}.get(entry["action"])
        if sign:
            live += sign * int(entry["size"])
            found.append(live)
    return found
