"""Races: a word for each cell of an array says who touched it last, and when.

Barriers are its clock: of two accesses between the same two barriers, none comes before the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from simt.compiled.arrays import Memory
from simt.compiled.context import Context
from simt.compiled.masks import Masks
from simt.compiled.text import Register

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
        has_atomics: whether anything updates memory by atomics.
    """

    def __init__(self, context: Context, masks: Masks, *, has_atomics: bool) -> None:
        self.context, self.w, self.masks = context, context.w, masks
        self._has_atomics = has_atomics

    def check(self, kind: str, memory: Memory, elements: Register) -> None:
        """Gives up where an access is not ordered beside another.

        Args:
            kind: "load", "store" or "atomic".
            memory: the array.
            elements: memory with the element of each lane, i64.
        """
        if not memory.stored:
            return
        if memory.space == "shared":
            self._shared_race(kind, memory, elements)
        elif memory.space == "global":
            self._global_race(kind, memory, elements)

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
            with w.loop(str(self.context.lanes)) as lane, w.when(self.masks.takes_part(here, lane)):
                wrote = w.load(writers, "i64", w.load(elements, "i64", lane))
                never = w.make(f"zext i1 {w.make(f'icmp ult i64 {wrote}, {start}')} to i8")
                w.store(w.make(f"or i8 {w.load(bad, 'i8')}, {never}"), bad, "i8")
            self.context.suspect_if(w.make(f"icmp ne i8 {w.load(bad, 'i8')}, 0"))

    def _shared_race(self, kind: str, memory: Memory, elements: Register) -> None:
        """A word for each cell: when it was touched last, and by whom.

        Its upper half is the block's barrier, then come 20 bits for the warp's, and 12 for the
        thread, from 1 on; SEVERAL of one warp are WARPS and its number.
        """
        w, here = self.w, self.masks.here
        shadows = self._shadows(memory)
        now = w.make(f"shl i64 {w.load(self.context.epoch, 'i64')}, 32")
        start = w.make(f"shl i64 {self.context.first_epoch}, 32")
        bad = w.memory("i8")
        w.store("0", bad, "i8")
        with w.loop(str(self.context.lanes)) as lane, w.when(self.masks.takes_part(here, lane)):
            at = w.load(elements, "i64", lane)
            mine = w.make(f"or i64 {now}, {w.make(f'add i64 {lane}, 1')}")
            warp, synced = w.make(f"lshr i64 {lane}, 5"), "0"
            if self.context.synced:
                synced = w.make(f"shl i64 {w.load(self.context.synced, 'i64', warp)}, 12")
                mine = w.make(f"or i64 {mine}, {synced}")
            kept = {what: w.load(shadow, "i64", at) for what, shadow in shadows.items()}

            def clashes(word: str, mine: str = mine, warp: str = warp, synced: str = synced) -> str:
                late = w.make(f"icmp uge i64 {word}, {now}")
                who, me = (w.make(f"and i64 {each}, 4095") for each in (word, mine))
                open_ = w.make(f"and i1 {late}, {w.make(f'icmp ne i64 {who}, {me}')}")
                if not self.context.synced:
                    return open_
                before = w.make(f"and i64 {word}, {((1 << 20) - 1) << 12}")
                earlier = w.make(f"icmp ult i64 {before}, {synced}")
                ordered = w.make(f"and i1 {earlier}, {self._of_warp(who, warp)}")
                return w.make(f"and i1 {open_}, {w.make(f'xor i1 {ordered}, true')}")

            wrong = self._any([clashes(kept[what]) for what in _AGAINST[kind] if what in shadows])
            never = w.make(f"icmp ult i64 {kept['writers']}, {start}")
            own = _OWN_SHADOW[kind]
            word = mine
            if kind != "store":
                wrong = w.make(f"or i1 {wrong}, {never}")
                several = w.make(f"or i64 {now}, {SEVERAL}")
                if self.context.synced:
                    who = w.make(f"and i64 {kept[own]}, 4095")
                    few = w.make(f"add i64 {warp}, {WARPS}")
                    few = w.make(f"or i64 {w.make(f'or i64 {now}, {synced}')}, {few}")
                    near = self._of_warp(who, warp)
                    several = w.make(f"select i1 {near}, i64 {few}, i64 {several}")
                word = w.make(f"select i1 {clashes(kept[own])}, i64 {several}, i64 {mine}")
            else:
                fresh = w.make(f"sext i1 {never} to i64")
                w.add(fresh, self.context.slot(f"left {memory.name}"))
            w.store(word, shadows[own], "i64", at)
            wrong = w.make(f"zext i1 {wrong} to i8")
            w.store(w.make(f"or i8 {w.load(bad, 'i8')}, {wrong}"), bad, "i8")
        self.context.suspect_if(w.make(f"icmp ne i8 {w.load(bad, 'i8')}, 0"))

    def _of_warp(self, who: str, warp: str) -> str:
        """Whether a thread, or all of several, are of a warp."""
        w = self.w
        one = w.make(f"lshr i64 {w.make(f'sub i64 {who}, 1')}, 5")
        same = w.make(f"icmp eq i64 {one}, {warp}")
        group = w.make(f"icmp eq i64 {w.make(f'sub i64 {who}, {WARPS}')}, {warp}")
        return w.make(f"or i1 {same}, {group}")

    def _any(self, conditions: Sequence[str]) -> str:
        found = conditions[0]
        for each in conditions[1:]:
            found = self.w.make(f"or i1 {found}, {each}")
        return found

    def _shadows(self, memory: Memory) -> dict[str, Register]:
        """Who wrote, read and updated the cells of an array, as far as anybody does."""
        names = ["writers", "readers"]
        if self._has_atomics:
            names.append("updaters")
        return {what: self.context.slot(f"shadow {what} {memory.name}") for what in names}

    def _global_race(self, kind: str, memory: Memory, elements: Register) -> None:
        """A word for each cell: the block, how often it had met, the thread; 4095 for several."""
        w, here = self.w, self.masks.here
        shadows = self._shadows(memory)
        number = w.make(f"add i64 {self.context.slot('block')}, 1")
        block = w.make(f"shl i64 {number}, 38")
        met = w.make(f"shl i64 {w.load(self.context.met, 'i64')}, 12")
        now = w.make(f"or i64 {block}, {met}")
        bad = w.memory("i8")
        w.store("0", bad, "i8")
        with w.loop(str(self.context.lanes)) as lane, w.when(self.masks.takes_part(here, lane)):
            at = w.load(elements, "i64", lane)
            mine = w.make(f"or i64 {now}, {w.make(f'add i64 {lane}, 1')}")
            kept = {what: w.load(shadow, "i64", at) for what, shadow in shadows.items()}
            wrong = self._any(
                [
                    self._unordered(kept[what], block, now, mine)
                    for what in _AGAINST[kind]
                    if what in shadows
                ]
            )
            own = _OWN_SHADOW[kind]
            word = mine if kind == "store" else self._read_by(kept[own], block, now, mine)
            w.store(word, shadows[own], "i64", at)
            wrong = w.make(f"zext i1 {wrong} to i8")
            w.store(w.make(f"or i8 {w.load(bad, 'i8')}, {wrong}"), bad, "i8")
        self.context.suspect_if(w.make(f"icmp ne i8 {w.load(bad, 'i8')}, 0"))

    def _unordered(self, word: str, block: str, now: str, mine: str) -> str:
        """Whether what a word tells of is ordered before nothing of this thread's."""
        w = self.w
        some = w.make(f"icmp ne i64 {word}, 0")
        of_block = w.make(f"lshr i64 {word}, 38")
        elsewhere = w.make(f"icmp ne i64 {of_block}, {w.make(f'lshr i64 {block}, 38')}")
        late = w.make(f"icmp uge i64 {word}, {now}")
        other = w.make(f"icmp ne i64 {word}, {mine}")
        inside = w.make(f"and i1 {late}, {other}")
        return w.make(f"and i1 {some}, {w.make(f'or i1 {elsewhere}, {inside}')}")

    def _read_by(self, word: str, block: str, now: str, mine: str) -> str:
        """What is kept of who read a cell; block 2^26 - 1 stands for several blocks."""
        w = self.w
        none = w.make(f"icmp eq i64 {word}, 0")
        same = w.make(
            f"icmp eq i64 {w.make(f'lshr i64 {word}, 38')}, {w.make(f'lshr i64 {block}, 38')}"
        )
        fresh = w.make(f"or i1 {none}, {same}")
        late = w.make(f"icmp uge i64 {word}, {now}")
        other = w.make(f"icmp ne i64 {word}, {mine}")
        several = w.make(f"or i64 {now}, 4095")
        inside = w.make(f"and i1 {late}, {other}")
        own = w.make(f"select i1 {inside}, i64 {several}, i64 {mine}")
        own = w.make(f"select i1 {none}, i64 {mine}, i64 {own}")
        return w.make(f"select i1 {fresh}, i64 {own}, i64 -1")
