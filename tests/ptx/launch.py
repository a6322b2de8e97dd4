"""A launch of a program: its threads take turns, and where they meet, they meet here.

One thread runs until it meets others: at a barrier, in an operation of its warp, or after an atomic
(so that a loop that asks memory again and again lets others change it). Blocks run one after the
other; where all of one block only wait for others, the next one has its turn.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.ptx.instructions import SPACES
from tests.ptx.memory import NEAR_SHIFT, Fault, Global, Memory, Shared, Watch
from tests.ptx.translate import Program

Dim = int | tuple[int, ...]
PATIENCE = 50
"""Rounds of atomics alone after which a block lets the others go on."""
ROUNDS = 20_000
"""Turns of all blocks without an end after which they are taken to wait for ever."""


def launch(
    program: Program,
    grid: Dim,
    block: Dim,
    arguments: Sequence[Any],
    *,
    shared_bytes: int = 0,
    watch: Watch | None = None,
) -> None:
    """Runs a kernel on NumPy arrays and numbers; arrays change in place.

    Args:
        program: a kernel as Numba compiles it; of a watched one, `watch` is told all it touches.
        grid, block: as Numba takes them.
        arguments: as Numba takes them.
        shared_bytes: dynamic shared memory.

    Raises:
        Fault: a thread did what PTX gives no meaning to, or threads wait for ever.
        ValueError: the arguments do not fit the parameters.
    """
    memory = Global()
    parameters = flattened(arguments, memory)
    declared = program.kernel.parameters
    if len(parameters) != len(declared):
        raise ValueError(f"{len(parameters)} words for {len(declared)} parameters")
    sizes = _three(grid), _three(block)
    blocks = [
        _Block(program, number, place, sizes, parameters, memory, shared_bytes, watch).run()
        for number, place in enumerate(_places(sizes[0]))
    ]
    for _ in range(ROUNDS):
        # A generator that has come to its end leaves the list.
        blocks = [each for each in blocks if next(each, _END) is not _END]
        if not blocks:
            memory.copy_back()
            return
    raise Fault("endless-loop", f"{len(blocks)} blocks wait for each other")


_END = object()


def flattened(arguments: Sequence[Any], memory: Global) -> list[Any]:
    """Returns the words that Numba passes for arguments.

    An array is six or more words: two pointers to what only the host knows, the number of cells,
    the bytes of one, its address, and then its shape and its strides.
    """
    words: list[Any] = []
    for each in arguments:
        if isinstance(each, np.ndarray):
            words += [0, 0, each.size, each.itemsize, memory.array(each)]
            words += [*each.shape, *(stride & (2**64 - 1) for stride in each.strides)]
        elif isinstance(each, bool | np.bool_):
            words.append(int(each))
        elif isinstance(each, float | np.floating):
            words.append(float(each))
        else:
            bits = each.dtype.itemsize * 8 if isinstance(each, np.integer) else 64
            words.append(int(each) & ((1 << bits) - 1))
    return words


def _three(dim: Dim) -> tuple[int, int, int]:
    x, y, z = (*((dim,) if isinstance(dim, int) else dim), 1, 1)[:3]
    return int(x), int(y), int(z)


def _places(size: tuple[int, int, int]) -> Iterator[tuple[int, int, int]]:
    for z, y, x in itertools.product(*map(range, reversed(size))):
        yield x, y, z


class _Block:
    """The threads of one block, and what each is waiting for."""

    def __init__(
        self,
        program: Program,
        number: int,
        place: tuple[int, int, int],
        sizes: tuple[tuple[int, int, int], tuple[int, int, int]],
        parameters: list[Any],
        memory: Global,
        shared_bytes: int,
        watch: Watch | None,
    ) -> None:
        grid, block = sizes
        kernel = program.kernel
        arrays = {
            space: [each for each in kernel.arrays if each.space == space] for space in SPACES
        }
        shared = Shared([each.size or shared_bytes for each in arrays["shared"]])
        self.program = program
        self.threads: list[Iterator[Any]] = []
        for thread, own in enumerate(_places(block)):
            local = Memory(NEAR_SHIFT)
            for each in arrays["local"]:
                local.region(each.size)
            cells = {"global": memory.cells, "shared": shared.cells, "local": local.cells}
            where = (*own, *place, *block, *grid)
            touch = watch.touch if watch is not None else None
            self.threads.append(program.thread(parameters, cells, touch, number, thread, where))
        self.asks: dict[int, tuple[Any, ...]] = {}
        self.ended: set[int] = set()

    def run(self) -> Iterator[None]:
        """Comes to an end when all threads have; yields where they only wait for other blocks."""
        told: dict[int, Any] = dict.fromkeys(range(len(self.threads)))
        waited = 0
        while told:
            self._go_on(told)
            told = {thread: None for thread, asked in self.asks.items() if asked[0] == "turn"}
            for thread in told:
                del self.asks[thread]
            met = {**self._warps_that_met(), **self._barrier_that_was_met()}
            waited = 0 if met else waited + 1
            told |= met
            if waited > PATIENCE:
                yield
        if self.asks:
            self._say_who_is_missing()

    def _go_on(self, told: dict[int, Any]) -> None:
        """Lets threads run to where they next meet others, each with what it was told."""
        for thread in sorted(told):
            try:
                self.asks[thread] = self.threads[thread].send(told[thread])  # type: ignore[attr-defined]
            except StopIteration:
                self.ended.add(thread)
            except Exception as error:
                raise self.program.fault_of(error) from error

    def _barrier_that_was_met(self) -> dict[int, Any]:
        """Returns what threads are told at a barrier of the block, once all stand there."""
        there = {thread: ask for thread, ask in self.asks.items() if ask[0] == "barrier"}
        if not there or len(there) < len(self.threads) - len(self.ended):
            return {}
        if self.ended:
            raise Fault("barrier-divergence", f"{len(self.ended)} threads miss a barrier")
        hows = {ask[1] for ask in there.values()}
        if len(hows) > 1:
            raise Fault("barrier-divergence", f"threads stand at several barriers: {hows}")
        said = [ask[2] for ask in there.values()]
        answer = {"sync": None, "popc": sum(said), "and": all(said), "or": any(said)}[hows.pop()]
        self.asks = {}
        return dict.fromkeys(there, answer)

    def _warps_that_met(self) -> dict[int, Any]:
        """Returns what threads are told in operations of a warp that all named have come to."""
        told: dict[int, Any] = {}
        groups: dict[tuple[int, str, int], dict[int, tuple[Any, ...]]] = {}
        for thread, ask in self.asks.items():
            if ask[0] == "warp":
                groups.setdefault((thread // 32, ask[1], ask[2]), {})[thread % 32] = ask[3:]
        for (warp, how, mask), lanes in groups.items():
            if unnamed := [lane for lane in lanes if not mask >> lane & 1]:
                raise Fault("inactive-lane", f"lane {unnamed[0]} is not in its mask {mask:#x}")
            named = [lane for lane in range(32) if mask >> lane & 1]
            gone = [n for n in named if self._is_gone(32 * warp + n)]
            if gone:
                raise Fault("inactive-lane", f"lane {gone[0]} is named and has ended ({how})")
            if len(lanes) == len(named):
                for lane, answer in met(how, lanes).items():
                    told[32 * warp + lane] = answer
                    del self.asks[32 * warp + lane]
        return told

    def _is_gone(self, thread: int) -> bool:
        return thread in self.ended or thread >= len(self.threads)

    def _say_who_is_missing(self) -> None:
        kinds = {ask[0] for ask in self.asks.values()}
        at_barrier = sum(ask[0] == "barrier" for ask in self.asks.values())
        if kinds == {"barrier"}:
            raise Fault("barrier-divergence", f"{len(self.ended)} threads miss a barrier")
        raise Fault(
            "inactive-lane",
            f"{len(self.asks) - at_barrier} threads wait for their warp, {at_barrier} at a barrier",
        )


def met(how: str, lanes: dict[int, tuple[Any, ...]]) -> dict[int, Any]:
    """Returns what an operation of a warp tells each lane.

    Args:
        how: "sync", "shfl.up" and its like, "vote.all" and its like, "match.any" or "match.all".
        lanes: lane -> what it gave: for a shuffle (value, by, limit), else one value.

    >>> met("shfl.down", {lane: (10 * lane, 1, 31) for lane in range(32)})[30]
    (310, True)
    >>> met("vote.ballot", {0: (True,), 1: (False,), 5: (True,)})[1]
    33
    """
    if how == "sync":
        return dict.fromkeys(lanes)
    if how.startswith("shfl"):
        return {lane: _shuffled(how, lane, lanes) for lane in lanes}
    given = {lane: asked[0] for lane, asked in lanes.items()}
    if how == "match.any":
        return {lane: sum(1 << n for n in given if given[n] == given[lane]) for lane in lanes}
    if how == "match.all":
        alike = len(set(given.values())) == 1
        return dict.fromkeys(lanes, (sum(1 << n for n in given) if alike else 0, alike))
    answer = {
        "vote.all": all(given.values()),
        "vote.any": any(given.values()),
        "vote.uni": len(set(given.values())) == 1,
        "vote.ballot": sum(1 << lane for lane, said in given.items() if said),
    }[how]
    return dict.fromkeys(lanes, answer)


def _shuffled(how: str, lane: int, lanes: dict[int, tuple[Any, ...]]) -> tuple[int, bool]:
    """Returns (value, whether it came from the lane that was asked for).

    Source: PTX ISA 9.0, 9.7.9.6, whose names these are.
    """
    _, b, c = lanes[lane]
    bval, cval, mask = b & 31, c & 31, c >> 8 & 31
    max_lane = (lane & mask) | (cval & ~mask)
    if how == "shfl.up":
        j, inside = lane - bval, lane - bval >= max_lane
    elif how == "shfl.down":
        j, inside = lane + bval, lane + bval <= max_lane
    elif how == "shfl.bfly":
        j, inside = lane ^ bval, lane ^ bval <= max_lane
    else:
        j = (lane & mask) | (bval & ~mask)
        inside = j <= max_lane
    source = j if inside else lane
    if source not in lanes:
        raise Fault("inactive-lane", f"lane {lane} reads from lane {source}, which is not there")
    return lanes[source][0], inside
