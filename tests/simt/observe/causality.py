"""Which accesses happened before which, by the axioms of the PTX memory model, event by event.

Nothing here is a clock, and nothing is shared with the detector. An execution is a graph of events;
each knows the set of all that come before it in *base causality order*, as the bits of a number.
That order is made of program order, of barriers, and of fences that synchronize:

* Two full fences whose scopes each take in the other's thread stand in Fence-SC order, one way or
  the other, and the earlier one synchronizes with the later. Which is which, an execution does not
  show; but a way round that contradicts what an atomic has found is ruled out. Let fence F come
  before the atomic write X, let Y be an atomic that observes X, and let fence G come after Y. With
  G before F, Y would come before X, which it observes: the axiom of causality forbids it. So F
  comes before G. (A fence and an atomic of one thread, found by an atomic and a fence of another,
  are the release and acquire patterns: a special case.)
* *Causality order* adds what an event has observed: X comes before all that follows an atomic Y
  which observes X, fences or not. That is held to count only where the program asks for it, where
  the later access is *decided* by what an atomic found.

A compare-and-swap that fails writes nothing, so nothing observes it; what it has observed itself is
left out of account by the detector, and here.

Source: NVIDIA, PTX ISA, Memory Consistency Model: base causality, causality, observation and
Fence-SC order, axioms of causality; `membar` is `fence.sc` from compute capability 7.0 on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Cell = tuple[str, int, int]
"""An array's name, the block whose memory it is (-1: everybody's), and the place in it."""


@dataclass
class Event:
    """One event of an execution.

    Attributes:
        number: counts them in the order in which they happened.
        thread: who.
        before: the events before it in base causality order, as bits.
        cell: of an access, what it touches.
        reads, writes, strong: of an access, what it does; atomics are strong.
        whole_device: of a fence, its scope: the device, or the block.
    """

    number: int
    thread: int
    before: int
    cell: Cell | None = None
    reads: bool = False
    writes: bool = False
    strong: bool = False
    whole_device: bool = False


class Causality:
    """An execution as it happens; finds the accesses that race.

    Args:
        threads: how many there are.
        per_block: threads of a block.

    Attributes:
        racing: the cells with a race.
        loose: the cells where one more fence, right before the later access, would order it.
    """

    def __init__(self, threads: int, per_block: int) -> None:
        self.per_block = per_block
        self.events: list[Event] = []
        # All that comes before what each thread does next.
        self.past = [0] * threads
        # The accesses of each cell, in the order in which they happened.
        self.touched: defaultdict[Cell, list[Event]] = defaultdict(list)
        self.fences = 0
        self.atomics = 0
        self.racing: set[Cell] = set()
        self.loose: set[Cell] = set()

    def meet(self, threads: Sequence[int]) -> None:
        """All that comes before the barrier in any of its threads comes before what follows."""
        everything = 0
        for t in threads:
            everything |= self.past[t]
        for t in threads:
            self.past[t] = everything

    def fence(self, t: int, within_block: bool) -> None:
        """A fence: those that must stand before it in Fence-SC order synchronize with it."""
        before = self._behind_a_fence(t, self.past[t], not within_block)
        event = self._add(Event(len(self.events), t, before, whole_device=not within_block))
        self.fences |= 1 << event.number

    def touch(
        self, t: int, cell: Cell, *, reads: bool, writes: bool, strong: bool, decided: bool
    ) -> None:
        """An access; compared with those of other threads that conflict with it."""
        past = self.past[t]
        with_a_fence: int | None = None
        for other in self.touched[cell]:
            conflict = (writes or other.writes) and not (strong and other.strong)
            if other.thread == t or not conflict or self._ordered(other, past, decided):
                continue
            if with_a_fence is None:
                with_a_fence = self._behind_a_fence(t, past, True)
            ordered = self._ordered(other, with_a_fence, decided)
            (self.loose if ordered else self.racing).add(cell)
        event = Event(len(self.events), t, past, cell, reads, writes, strong)
        self._add(event)
        self.touched[cell].append(event)
        if strong:
            self.atomics |= 1 << event.number

    def _add(self, event: Event) -> Event:
        self.events.append(event)
        self.past[event.thread] = event.before | 1 << event.number
        return event

    def _ordered(self, other: Event, past: int, decided: bool) -> bool:
        """Whether an event comes before what has a past, in causality order."""
        if past >> other.number & 1:
            return True
        if not (decided and other.writes and other.strong):
            return False
        assert other.cell is not None
        return any(
            past >> seer.number & 1 and seer.strong and seer.writes and seer.number > other.number
            for seer in self.touched[other.cell]
        )

    def _behind_a_fence(self, t: int, past: int, whole_device: bool) -> int:
        """What comes before a fence of a thread that has a past."""
        looked_at = 0
        while new := past & self.atomics & ~looked_at:
            looked_at |= new
            for y in self._among(new):
                assert y.cell is not None
                for x in self.touched[y.cell]:
                    if x.number >= y.number:
                        break
                    if x.strong and x.writes:
                        fences = self._among(x.before & self.fences & ~past)
                        for f in [f for f in fences if self._strong((f, x, y), t, whole_device)]:
                            past |= f.before | 1 << f.number
        return past

    def _strong(self, way: tuple[Event, Event, Event], t: int, whole_device: bool) -> bool:
        """Whether the scopes of a fence, and of thread `t`'s, take each other in.

        Of the block alone they do where all of the way between them lies in that block: news that
        went round by way of another block is left out, where the model would let it count.

        Args:
            way: the fence, the atomic that tells, and the one that observes it.
            t, whole_device: whose the second fence is, and its scope.
        """
        if way[0].whole_device and whole_device:
            return True
        return {event.thread // self.per_block for event in way} == {t // self.per_block}

    def _among(self, bits: int) -> Iterator[Event]:
        while bits:
            last = bits & -bits
            yield self.events[last.bit_length() - 1]
            bits ^= last
