"""Races: a word for each cell of an array says who touched it last, and when.

Barriers are its clock: of two accesses between the same two barriers, none comes before the other.
"""

from __future__ import annotations

from simt.compiled.facts.uses import Uses
from simt.compiled.writing.arrays import Memory
from simt.compiled.writing.context import Context
from simt.compiled.writing.masks import Masks
from simt.compiled.writing.text import Register
from simt.compiled.writing.touching import Each

SEVERAL, WARPS = 4095, 2048
"""In the place of a thread: several of a block, and the first of those of one warp."""
_AGAINST = {
    "load": ("writers", "updaters"),
    "store": ("writers", "readers", "updaters"),
    "atomic": ("writers", "readers"),
}
"""What an access may clash with; nothing but a store replaces what is known of stores."""
_OWN_SHADOW = {"load": "readers", "store": "writers", "atomic": "updaters"}


class Races:
    """Checks accesses for races.

    Args:
        context, masks: of the function.
        uses: what the kernel does to its arrays.
    """

    def __init__(self, context: Context, masks: Masks, uses: Uses) -> None:
        self.context, self.w, self.masks = context, context.w, masks
        self._uses = uses

    def may_clash(self, kind: str, memory: Memory) -> bool:
        """Whether there is anything that an access could clash with."""
        if memory.space == "shared":
            return True  # and if not, it may touch what nobody has written
        shadows = self._shadow_names(memory)
        return memory.stored and any(what in shadows for what in _AGAINST[kind])

    def check(self, kind: str, memory: Memory, lanes: Each) -> None:
        """Gives up where an access is not ordered beside another.

        Args:
            kind: "load", "store" or "atomic".
            memory: the array.
            lanes: those that take part, and their elements.
        """
        if not self.may_clash(kind, memory):
            return
        if memory.space == "shared":
            self._shared_race(kind, memory, lanes)
        elif memory.space == "global":
            self._global_race(kind, memory, lanes)

    def all_written(self, memory: Memory, elements: Register) -> None:
        """Gives up where a cell of shared memory is loaded that nobody has written.

        Once all of an array is written, nobody asks any more.
        """
        w, here = self.w, self.masks.here
        left = self.context.slot(f"left {memory.name}")
        with w.when(w.make(f"icmp ne i64 {w.load(left, 'i64')}, 0")):
            writers = self._shadows(memory)["writers"]
            start = w.make(f"shl i64 {self.context.first_epoch}, 32")
            bad = w.memory("i8")
            w.store("0", bad, "i8")
            with (
                w.loop(self.masks.lanes_up_to(here)) as lane,
                w.when(self.masks.takes_part(here, lane)),
            ):
                wrote = w.load(writers, "i64", w.load(elements, "i64", lane))
                never = w.make(f"zext i1 {w.make(f'icmp ult i64 {wrote}, {start}')} to i8")
                w.store(w.make(f"or i8 {w.load(bad, 'i8')}, {never}"), bad, "i8")
            self.context.suspect_if(w.make(f"icmp ne i8 {w.load(bad, 'i8')}, 0"))

    def _shared_race(self, kind: str, memory: Memory, lanes: Each) -> None:
        """A word for each cell: when it was touched last, and by whom.

        Its upper half is the block's barrier, then come 20 bits for the warp's, and 12 for the
        thread, from 1 on; SEVERAL of one warp are WARPS and its number.
        """
        w, o = self.w, lanes
        shadows = self._shadows(memory)
        now_one = w.make(f"shl i64 {w.load(self.context.epoch, 'i64')}, 32")
        now = o.all(now_one)
        start = o.all(w.make(f"shl i64 {self.context.first_epoch}, 32"))
        with lanes.each() as (lane, at):
            mine = o.op("or", now, o.op("add", o.numbers(lane), o.constant(1)))
            warp, synced = w.make(f"lshr i64 {lane}, 5"), o.constant(0)
            if self.context.synced:
                told = w.make(f"shl i64 {w.load(self.context.synced, 'i64', warp)}, 12")
                synced = o.all(told)
                mine = o.op("or", mine, synced)
            warp = o.all(warp)
            kept = {what: o.load(shadow, at) for what, shadow in shadows.items()}

            def clashes(word: str, mine: str = mine, warp: str = warp, synced: str = synced) -> str:
                late = o.compare("uge", word, now)
                who, me = (o.op("and", each, o.constant(4095)) for each in (word, mine))
                open_ = o.both(late, o.compare("ne", who, me))
                if not self.context.synced:
                    return open_
                before = o.op("and", word, o.constant(((1 << 20) - 1) << 12))
                earlier = o.compare("ult", before, synced)
                ordered = o.both(earlier, self._of_warp(o, who, warp))
                return o.both(open_, o.negated(ordered))

            against = [clashes(kept[what]) for what in _AGAINST[kind] if what in shadows]
            never = o.compare("ult", kept["writers"], start)
            own, word = _OWN_SHADOW[kind], mine
            if kind != "store":
                against.append(never)
                several = o.op("or", now, o.constant(SEVERAL))
                if self.context.synced:
                    who = o.op("and", kept[own], o.constant(4095))
                    few = o.op("add", warp, o.constant(WARPS))
                    few = o.op("or", o.op("or", now, synced), few)
                    several = o.choose(self._of_warp(o, who, warp), few, several)
                word = o.choose(clashes(kept[own]), several, mine)
            else:
                left = self.context.slot(f"left {memory.name}")
                fewer = w.make(f"sub i64 {w.load(left, 'i64')}, {o.number_of(never)}")
                w.store(fewer, left, "i64")
            o.store(word, shadows[own], at)
            lanes.note(o.any(against))
        self.context.suspect_if(lanes.noted())

    def _of_warp(self, o: Each, who: str, warp: str) -> str:
        """Whether a thread, or all of several, are of a warp."""
        one = o.op("lshr", o.op("sub", who, o.constant(1)), o.constant(5))
        group = o.op("sub", who, o.constant(WARPS))
        return o.any([o.compare("eq", one, warp), o.compare("eq", group, warp)])

    def _shadows(self, memory: Memory) -> dict[str, Register]:
        """Who wrote, read and updated the cells of an array, as far as anybody does."""
        names = self._shadow_names(memory)
        return {what: self.context.slot(f"shadow {what} {memory.name}") for what in names}

    def _shadow_names(self, memory: Memory) -> list[str]:
        uses = self._uses.of(memory.name)
        names = [what for kind, what in _OWN_SHADOW.items() if kind in uses]
        # In shared memory a word of who wrote a cell says that somebody has.
        return names if memory.space != "shared" or "writers" in names else ["writers", *names]

    def _global_race(self, kind: str, memory: Memory, lanes: Each) -> None:
        """A word for each cell: the block, how often it had met, the thread; 4095 for several."""
        w, o = self.w, lanes
        shadows = self._shadows(memory)
        number = w.make(f"add i64 {self.context.slot('block')}, 1")
        met = w.make(f"shl i64 {w.load(self.context.met, 'i64')}, 12")
        now_one = w.make(f"or i64 {w.make(f'shl i64 {number}, 38')}, {met}")
        block, now = o.all(number), o.all(now_one)
        with lanes.each() as (lane, at):
            mine = o.op("or", now, o.op("add", o.numbers(lane), o.constant(1)))
            kept = {what: o.load(shadow, at) for what, shadow in shadows.items()}
            wrong = o.any(
                [
                    self._unordered(o, kept[what], block, now, mine)
                    for what in _AGAINST[kind]
                    if what in shadows
                ]
            )
            own = _OWN_SHADOW[kind]
            word = mine if kind == "store" else self._read_by(o, kept[own], block, now, mine)
            o.store(word, shadows[own], at)
            lanes.note(wrong)
        self.context.suspect_if(lanes.noted())

    def _unordered(self, o: Each, word: str, block: str, now: str, mine: str) -> str:
        """Whether what a word tells of is ordered before nothing of this thread's."""
        some = o.compare("ne", word, o.constant(0))
        elsewhere = o.compare("ne", o.op("lshr", word, o.constant(38)), block)
        inside = o.both(o.compare("uge", word, now), o.compare("ne", word, mine))
        return o.both(some, o.any([elsewhere, inside]))

    def _read_by(self, o: Each, word: str, block: str, now: str, mine: str) -> str:
        """What is kept of who read a cell; block 2^26 - 1 stands for several blocks."""
        none = o.compare("eq", word, o.constant(0))
        same = o.compare("eq", o.op("lshr", word, o.constant(38)), block)
        inside = o.both(o.compare("uge", word, now), o.compare("ne", word, mine))
        several = o.op("or", now, o.constant(SEVERAL))
        own = o.choose(none, mine, o.choose(inside, several, mine))
        return o.choose(o.any([none, same]), own, o.constant(-1))
