"""What threads do together: barriers, shuffles and votes."""

from __future__ import annotations

import numpy as np

from simt.compiled.facts.analysis import NotCompiled
from simt.compiled.writing.arithmetic import Number, memory_type
from simt.compiled.writing.context import Context
from simt.compiled.writing.masks import Masks
from simt.compiled.writing.text import Register
from simt.compiled.writing.values import Value, Values
from simt.kernel import ir
from simt.kernel.types import INT32, INT64

BARRIERS = {f"cuda.syncthreads{how}" for how in ("", "_count", "_and", "_or")}
SHUFFLES = {f"cuda.shfl{way}_sync" for way in ("", "_up", "_down", "_xor")}
VOTES = {f"cuda.{how}_sync" for how in ("all", "any", "eq", "ballot")}

_WAYS = {"up": "sub", "down": "add", "xor": "xor"}
_UINT32 = np.dtype(np.uint32)
_MAX_MET_OF_A_WARP = 1 << 20
"""Barriers of a warp that a word of the races' has room for."""


class Together:
    """Threads that wait for one another.

    Their arguments have been worked out already, and the mask of a warp's last.
    """

    def __init__(self, context: Context, masks: Masks, values: Values) -> None:
        self.context, self.w, self.masks = context, context.w, masks
        self.values, self.arithmetic = values, values.arithmetic

    def barrier(self, node: ir.Call, brought: Value | None) -> Value | None:
        """Writes a barrier of the block; returns what it tells of the numbers that are brought."""
        w, context, here = self.w, self.context, self.masks.here
        if here.count.startswith("%"):
            missing = w.make(f"icmp ne i64 {w.load(here.count, 'i64')}, {context.threads}")
            context.suspect_if(missing)
        w.add(str(context.warps), context.count(node.line, "barriers"))
        w.add("1", context.epoch)
        w.add("1", context.met)
        if context.clocks:
            with w.loop(str(context.warps)) as warp:
                w.add("1", context.clocks, warp)
        if brought is None:
            return None
        true = w.memory("i64")
        w.store("0", true, "i64")
        with w.loop(str(context.threads)) as lane:
            w.add(w.make(f"zext i1 {self.values.truth_of(brought, lane)} to i64"), true)
        found = w.load(true, "i64")
        if node.path.endswith("_count"):
            return Value(INT32, w.make(f"trunc i64 {found} to i32"))
        all_or_any = f"eq i64 {found}, {context.threads}"
        if not node.path.endswith("_and"):
            all_or_any = f"ne i64 {found}, 0"
        return Value(INT32, w.make(f"zext i1 {w.make(f'icmp {all_or_any}')} to i32"))

    def _whole_warps(self, named: Value) -> None:
        """Gives up unless a mask names all lanes, and of each warp all that there are are here."""
        w, here, context = self.w, self.masks.here, self.context
        if named.lanes:
            raise NotCompiled("a mask that lanes do not share")
        low = self.arithmetic.converted(named.text, named.type, _UINT32)
        context.suspect_if(w.make(f"icmp ne i32 {low}, -1"))
        if not here.count.startswith("%"):
            return
        bad = w.memory("i8")
        w.store("0", bad, "i8")
        with w.loop(str(context.warps)) as warp:
            bits = w.load(here.bits, "i32", warp)
            whole = w.load(self.masks.everybody.bits, "i32", warp)
            some = w.make(f"icmp ne i32 {bits}, 0")
            part = w.make(f"icmp ne i32 {bits}, {whole}")
            wrong = w.make(f"zext i1 {w.make(f'and i1 {some}, {part}')} to i8")
            w.store(w.make(f"or i8 {w.load(bad, 'i8')}, {wrong}"), bad, "i8")
        context.suspect_if(w.make(f"icmp ne i8 {w.load(bad, 'i8')}, 0"))

    def syncwarp(self, mask: Value) -> None:
        """Writes a barrier of each warp."""
        w, context = self.w, self.context
        self._whole_warps(mask)
        with w.loop(str(context.warps)) as warp:
            here = w.make(f"icmp ne i32 {w.load(self.masks.here.bits, 'i32', warp)}, 0")
            one = w.make(f"zext i1 {here} to i64")
            w.add(one, context.synced, warp)
            if context.clocks:
                w.add(one, context.clocks, warp)
            met = w.load(context.synced, "i64", warp)
            context.suspect_if(w.make(f"icmp uge i64 {met}, {_MAX_MET_OF_A_WARP}"))

    def shuffle(self, node: ir.Call, dtype: Number, moved: Value, by: Value, mask: Value) -> Value:
        """Returns what each lane has from another.

        Args:
            node: the call.
            dtype: of what is moved.
            moved: what lanes bring.
            by: the lane, or how far off it is.
            mask: of all lanes of a warp.
        """
        w, context = self.w, self.context
        self._whole_warps(mask)
        type_ = memory_type(dtype)
        sent, got = w.memory(type_, context.lanes), w.memory(type_, context.lanes)
        self.values.put(moved, dtype, sent)
        silent = w.memory("i8")
        w.store("0", silent, "i8")
        with w.loop(str(context.lanes)) as lane:
            source = self._source(node.path, by, lane)
            w.store(w.load(sent, type_, source), got, type_, lane)
            if context.threads != context.lanes:
                part = self.masks.takes_part(self.masks.here, lane)
                there = self.masks.takes_part(self.masks.here, source)
                away = w.make(f"xor i1 {there}, true")
                wrong = w.make(f"select i1 {part}, i1 {away}, i1 false")
                old = w.load(silent, "i8")
                w.store(w.make(f"or i8 {old}, {w.make(f'zext i1 {wrong} to i8')}"), silent, "i8")
        context.suspect_if(w.make(f"icmp ne i8 {w.load(silent, 'i8')}, 0"))
        w.add(self.masks.warps_here(self.masks.here), context.count(node.line, "shuffles"))
        return Value(dtype, lanes=got)

    def _source(self, path: str, by: Value, lane: Register) -> Register:
        """The lane that a lane's number comes from; its own where there is none in the warp."""
        w = self.w
        own = w.make(f"and i64 {lane}, 31")
        asked = self.values.converted(by, lane, INT64)
        if path == "cuda.shfl_sync":
            # Python's %: from 0 on.
            wanted = w.make(f"and i64 {asked}, 31")
        else:
            way = path.removeprefix("cuda.shfl_").removesuffix("_sync")
            wanted = w.make(f"{_WAYS[way]} i64 {own}, {asked}")
        inside = w.make(f"icmp ult i64 {wanted}, 32")
        wanted = w.make(f"select i1 {inside}, i64 {wanted}, i64 {own}")
        first = w.make(f"sub i64 {lane}, {own}")
        return w.make(f"add i64 {first}, {wanted}")

    def active(self, dtype: Number) -> Value:
        """Returns the lanes of each warp that are here, as bits."""
        return self._told("cuda.activemask", dtype, self._copied(self.masks.here.bits))

    def vote(self, node: ir.Call, dtype: Number, brought: Value, mask: Value) -> Value:
        """Returns what a warp finds of the truths that its lanes bring."""
        self._whole_warps(mask)
        true = self.masks.where(self.masks.here, lambda lane: self.values.truth_of(brought, lane))
        return self._told(node.path, dtype, self._copied(true.bits))

    def _copied(self, bits: Register) -> Register:
        w, warps = self.w, self.context.warps
        votes = w.memory("i32", max(warps, 2))
        with w.loop(str(warps)) as warp:
            w.store(w.load(bits, "i32", warp), votes, "i32", warp)
        return votes

    def _told(self, path: str, dtype: Number, votes: Register) -> Value:
        """What all lanes of a warp are told of its votes."""
        w, here = self.w, self.masks.here
        type_ = memory_type(dtype)
        cells = w.memory(type_, self.context.lanes)
        with w.loop(str(self.context.lanes)) as lane:
            warp = w.make(f"lshr i64 {lane}, 5")
            bits, all_ = w.load(votes, "i32", warp), w.load(here.bits, "i32", warp)
            every = w.make(f"icmp eq i32 {bits}, {all_}")
            none = w.make(f"icmp eq i32 {bits}, 0")
            found = {
                "cuda.all_sync": every,
                "cuda.any_sync": w.make(f"xor i1 {none}, true"),
                "cuda.eq_sync": w.make(f"or i1 {every}, {none}"),
            }.get(path, bits)
            w.store(self.arithmetic.in_memory(found, dtype), cells, type_, lane)
        return Value(dtype, lanes=cells)
