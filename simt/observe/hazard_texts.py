"""What to say of each kind of fault: the fact, why it is so, and what to try."""

from __future__ import annotations

import ast
import bisect
import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from simt.kernel.source import Kernel
from simt.machine.faults import Fault
from simt.observe.places import Places, runs, triple
from simt.text import count

Words = tuple[str, str, str]
"""Fact, why, and what to try."""


@dataclass(frozen=True)
class _Statements:
    """What the words of a hazard quote of a kernel: gone through once for all of its hazards.

    Attributes:
        assigned: name -> the statements that assign it, first line first.
        loops: the variables of `for` loops, as they are written.
        below: an expression, as it is written -> the names that a comparison keeps it below.
        made: an array the kernel makes -> its shape, as the call has it.
    """

    assigned: Mapping[str, list[ast.stmt]]
    loops: frozenset[str]
    below: Mapping[str, set[str]]
    made: Mapping[str, ast.expr]


_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


@functools.lru_cache(maxsize=8)
def _statements(tree: ast.FunctionDef) -> _Statements:
    assigned: dict[str, list[ast.stmt]] = {}
    loops: set[str] = set()
    made: dict[str, ast.expr] = {}
    below: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = pairwise((node.left, *node.comparators))
            for (left, right), sign in zip(sides, node.ops, strict=True):
                # `if i >= size: return` keeps i below size as well.
                if isinstance(sign, ast.Gt | ast.LtE):
                    left, right = right, left
                if isinstance(right, ast.Name) and isinstance(sign, _ORDERED):
                    below.setdefault(ast.unparse(left), set()).add(right.id)
        if isinstance(node, ast.Assign):
            targets: Sequence[ast.expr] = node.targets
            if isinstance(node.value, ast.Call) and node.value.args:
                made.setdefault(ast.unparse(node.targets[0]), node.value.args[0])
        elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For):
            targets = [node.target]
            if isinstance(node, ast.For):
                loops.add(ast.unparse(node.target))
        else:
            continue
        stored = {
            n.id
            for target in targets
            for n in ast.walk(target)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        for name in stored:
            assigned.setdefault(name, []).append(node)
    for statements in assigned.values():
        statements.sort(key=lambda statement: statement.lineno)
    return _Statements(assigned, frozenset(loops), below, made)


def _definition(kernel: Kernel, name: str, line: int) -> str:
    """The last statement above a line that assigns a name, as "i = cuda.grid(1), line 10"."""
    assigned = _statements(kernel.tree).assigned.get(name, [])
    above = bisect.bisect_right(assigned, line, key=lambda statement: statement.lineno)
    if not above:
        return ""
    best = assigned[above - 1]
    text = kernel.text(best.lineno).partition("#")[0].strip().rstrip(":")
    return f"{text}, line {best.lineno}"


def _span(low: Any, high: Any) -> str:
    return f"{low}" if low == high else f"{low}..{high}"


def _names_text(
    kernel: Kernel, names: Mapping[str, tuple[Any, Any]], line: int, *, there: bool = False
) -> list[str]:
    texts = []
    for name in sorted(names):
        origin = _definition(kernel, name, line)
        text = f"{name} is {_span(*names[name])}" + (" there" if there else "")
        texts.append(text + (f" ({origin})" if origin else ""))
    return texts


def _out_of_bounds(fault: Fault, kernel: Kernel, places: Places) -> Words:
    facts = fault.facts
    index = ", ".join(map(str, facts["index"]))
    axis, size = facts["axis"], facts["shape"][facts["axis"]]
    low, high = facts["axis_values"]
    expression = fault.expression
    parts = _names_text(kernel, facts["names"], fault.line, there=True)
    if expression not in (*facts["names"], str(low)):
        parts.insert(0, f"{expression} is {_span(low, high)} there")
    if facts.get("from_end"):
        return _from_end(facts, index, parts)
    fact = f"{facts['array']}[{index}] is outside an array of shape {facts['shape']}"
    of_axis = f"axis {axis} of the array" if len(facts["shape"]) > 1 else "the array"
    if high < 0:
        end = f"{of_axis} starts at 0"
        if low >= -size:
            end += ", and Numba would count a negative index from the end, which hides mistakes"
    elif low < 0:
        end = f"{of_axis} has {'the index 0' if size == 1 else f'indices 0 to {size - 1}'}"
    else:
        end = f"{of_axis} ends at {size - 1}" if size else f"{of_axis} is empty"
    return fact, "; ".join([*parts, end]), _step_inside(fault, kernel, places, expression)


def _step_inside(fault: Fault, kernel: Kernel, places: Places, expression: str) -> str:
    """What to try against an access out of bounds, in the kernel's own names, without a number.

    A guard is advised where it is what is missing: where the index is the thread's own number, and
    the launch has threads that no cell is left for. Elsewhere a guard would leave cells out.
    """
    facts = fault.facts
    shape, axis, (low, high) = facts["shape"], facts["axis"], facts["axis_values"]
    facts["guard_helps"] = False
    facts["one_thread_per_cell"] = _one_thread_per_cell(shape, places)
    bound = _bound(fault, kernel)
    if expression in _statements(kernel.tree).loops:
        return f"end the loop over {expression} before it leaves the array, at {bound}"
    if facts["one_thread_per_cell"]:
        return (
            f"there are as many threads as cells, and no guard is needed: which cell does "
            f"{expression} give the first thread, which the last?"
        )
    own = _own_axis(fault, places)
    # An array of one column has one for all threads: a guard would leave the others' cells out.
    stretched = shape[axis] == 1 and bound not in facts.get("sizes", ())
    if low >= shape[axis] and own is not None and not stretched:
        if own == len(shape) - 1 - axis:
            blocks = math.prod(places.grid)
            if facts["space"] == "global" and shape == (blocks,) and blocks > 1:
                return (
                    f"{facts['array']} has as many cells as there are blocks: is {expression} the "
                    "number of a block?"
                )
            kept = _statements(kernel.tree).below.get(expression, set())
            if len(shape) > 1 and kept and bound not in kept:
                return (
                    f"{expression} is kept below {min(kept)}, and this axis ends at {bound}: which "
                    "of the two did you mean?"
                )
            facts["guard_helps"] = True
            return f"let only threads with {expression} < {bound} touch memory"
        return "check the order of the indices: the last one is the column, and runs along x"
    side = "below 0" if high < 0 else "too large" if low >= 0 else "outside"
    return f"work out {expression} for a thread named above: where does it get {side}?"


def _bound(fault: Fault, kernel: Kernel) -> str:
    """What a kernel calls a side of an array: a parameter, a constant, or the array's own."""
    facts = fault.facts
    axis, dimensions, names = facts["axis"], len(facts["shape"]), facts.get("sizes", ())
    if facts.get("space", "") != "global":
        return _declared(kernel, facts["array"], axis) or f"{facts['array']}.shape[{axis}]"
    if len(names) == 1 or len(names) == dimensions:
        return str(names[0] if len(names) == 1 else names[axis])
    return f"{facts['array']}.size" if dimensions == 1 else f"{facts['array']}.shape[{axis}]"


def _declared(kernel: Kernel, array: str, axis: int) -> str:
    """The side of a shared or local array as it is written where the array is made, or ""."""
    shape = _statements(kernel.tree).made.get(array)
    if shape is None:
        return ""
    side = shape.elts[axis] if isinstance(shape, ast.Tuple) else shape
    return "" if isinstance(side, ast.Constant) else ast.unparse(side)


def _own_axis(fault: Fault, places: Places) -> int | None:
    """The axis along which the indices at fault are the threads' own numbers, or None."""
    for axis in (0, 1, 2):
        for in_block in (False, True):
            own = places.along(axis, fault.threads, in_block=in_block)
            if own.size and (own.min(), own.max()) == fault.facts["axis_values"]:
                return axis
    return None


def _from_end(facts: Mapping[str, Any], index: str, parts: Sequence[str]) -> Words:
    """An index from -n to -1 where it is legal: what Numba takes it for."""
    axis, shape = facts["axis"], facts["shape"]
    taken = [at + size if at < 0 else at for at, size in zip(facts["index"], shape, strict=True)]
    fact = f"{facts['array']}[{index}] counts from the end of an array of shape {shape}"
    cell = ", ".join(map(str, taken))
    why = "; ".join([*parts, f"Numba takes it for {facts['array']}[{cell}], and reports nothing"])
    meant = f"{facts['array']}.shape[{axis}] - {-facts['index'][axis]}"
    return fact, why, f"where the end is meant, write {meant}; where it is not, guard the access"


def _one_thread_per_cell(shape: Sequence[int], places: Places) -> bool:
    blocks = places.grid[0] * places.grid[1] * places.grid[2]
    return math.prod(shape) == blocks * places.per_block


def _cell_name(facts: Mapping[str, Any]) -> str:
    """The cell of a fault, as "tile[3, 4]"."""
    cell = ", ".join(map(str, np.unravel_index(facts["cell"], facts["shape"])))
    return f"{facts['array']}[{cell}]"


_VERBS = {"load": "reads", "store": "writes", "atomic": "updates"}


def _race(fault: Fault, kernel: Kernel, places: Places) -> Words:
    facts = fault.facts
    if "incomplete" in facts:
        return (
            "more accesses are left unordered than can be remembered, and races may be missed",
            f"each thread's last access to a cell is kept: over {facts['incomplete']:,} here",
            "launch fewer threads, or let blocks meet before they read the same cells again",
        )
    name = _cell_name(facts)
    one, other = _VERBS[facts["access"]], _VERBS[facts["other_access"]]
    why = (
        f"{places.thread(facts['thread'])} {one} it (line {fault.line}), "
        f"{places.thread(facts['other_thread'])} {other} it (line {facts['other_line']})"
    )
    if facts["loose"]:
        fact = f"{name} is touched after an atomic that allows it, with no fence in between"
        why += "; it may touch an older copy, from a cache or from before the atomic"
        return fact, why, "put cuda.threadfence() after the atomic as well as before it"
    both_write = one == other == "writes"
    if both_write and facts["same_value"]:
        fact = f"{name} is written by several threads, all with one value"
    elif both_write:
        fact = f"{name} is written by several threads; the last one wins"
    elif "atomic" in (facts["access"], facts["other_access"]):
        does = "read" if "load" in (facts["access"], facts["other_access"]) else "written"
        fact = f"{name} is updated by an atomic and {does} plainly, in no fixed order"
    else:
        fact = f"{name} is read and written in no fixed order"
    return fact, why, _step_out_of_race(fault, kernel)


_AT_BARRIER = "let the block meet at cuda.syncthreads()"
_NOUNS = {"load": "read", "store": "write", "atomic": "update"}


def _step_out_of_race(fault: Fault, kernel: Kernel) -> str:
    """What to try against a race: a barrier, where it is all that is missing."""
    facts = fault.facts
    shared, one_line = facts.get("space", "") == "shared", facts["other_line"] == fault.line
    first, second = _NOUNS[facts["other_access"]], _NOUNS[facts["access"]]
    if first == second == "write":
        own = "let each thread write cells that are its own"
        if one_line or not shared:
            return own
        return f"{_AT_BARRIER} between the first write and the second, or {own}"
    if one_line and facts.get("contended") and _is_updated(fault, kernel):
        return (
            "let nobody come between the read and the write of such a line, or give each thread a "
            "cell of its own"
        )
    if not shared:
        return "read only cells that no other thread writes in the same launch"
    if not one_line:
        return f"{_AT_BARRIER} between the {first} and the {second}"
    if second == "read":  # the line has written before: this is a later turn of it
        return f"{_AT_BARRIER} between a turn that writes a cell and the one that reads it"
    return (
        f"make two lines of it, and {_AT_BARRIER} in between: one that reads into a variable, and "
        "one that writes"
    )


def mark_contended(faults: Iterable[Fault]) -> None:
    """Notes of each race within a line, in its facts, whether threads want a cell for themselves.

    So they do where several write one cell from that line: in shared memory at once, since a
    barrier between two turns of a loop would keep turns apart; elsewhere no barrier would.
    """
    races = [each for each in faults if each.kind == "race" and "other_line" in each.facts]
    both_write = {
        _line_of(each)
        for each in races
        if each.facts["access"] == each.facts["other_access"] == "store"
        and (each.facts["at_once"] or each.facts["space"] != "shared")
    }
    for each in races:
        each.facts["contended"] = _line_of(each) in both_write


def _line_of(race: Fault) -> tuple[object, ...]:
    """What a race is about where both accesses stand in one line."""
    file = race.kernel.file if race.kernel else ""
    return race.facts["array"], file, race.line, race.facts["other_line"]


def _is_updated(fault: Fault, kernel: Kernel) -> bool:
    """Whether a line updates a cell of the array in one go, as a[i] += 1 does: read, then write."""
    array = fault.facts["array"]
    target: ast.expr
    for node in ast.walk((fault.kernel or kernel).tree):
        if isinstance(node, ast.AugAssign):
            target, read = node.target, True
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            read = ast.unparse(target) in (ast.unparse(each) for each in ast.walk(node.value))
        else:
            continue
        here = node.lineno <= fault.line <= (node.end_lineno or node.lineno)
        if here and read and isinstance(target, ast.Subscript):
            return ast.unparse(target.value) == array
    return False


def _uninitialised_cell(fault: Fault) -> Words:
    facts = fault.facts
    name = _cell_name(facts)
    whose = "block" if facts.get("space", "") == "shared" else "thread"
    why = f"{facts['array']} is {facts['space']} memory: it starts unset in every {whose}"
    if facts["space"] == "global":
        why = f"{facts['array']} begins unset, and neither the host nor a kernel has written there"
    return (
        f"{name} is read before it is written",
        why,
        "write each cell before it is read",
    )


def _uninitialised(fault: Fault, kernel: Kernel, places: Places) -> Words:
    if "variable" not in fault.facts:
        return _uninitialised_cell(fault)
    name = fault.facts["variable"]
    lines = sorted({s.lineno for s in _statements(kernel.tree).assigned.get(name, [])})
    where = f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}"
    fact = f"{name} is read before these threads have assigned it"
    why = f"{name} is assigned on {where}, and these threads have not been there"
    return fact, why, f"assign {name} on every path that leads to this line"


def _barrier(fault: Fault, kernel: Kernel, places: Places) -> Words:
    facts = fault.facts
    absent, everyone = facts["missing"], places.per_block
    if facts["whole"] == "block":
        absent = absent[absent // everyone == absent.min() // everyone]
    else:
        everyone *= math.prod(places.grid)
    missing = len(absent)
    here = everyone - missing
    verb = "misses" if missing == 1 else "miss"
    fact = f"{missing:,} of {_count(everyone, 'thread')} {verb} this barrier"
    waits = f"{here:,} of the {facts['whole']} {'waits' if here == 1 else 'wait'} here; "
    who = "the missing one has" if missing == 1 else "the missing ones have"
    if facts["all_returned"]:
        why = f"{waits}{who} returned from the kernel before it"
    else:
        why = f"{waits}{who} taken another path: a branch, or fewer turns of a loop"
    if facts["endless"]:
        why += "; a block is counted in by its first thread, and the grid waits for it for ever"
    advice = f"put the barrier where every thread of the {facts['whole']} reaches it, equally often"
    return fact, why, advice


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _inactive_lane(fault: Fault, kernel: Kernel, places: Places) -> Words:
    facts = fault.facts
    operation, lane = facts["operation"], facts["lane"]
    if "source" in facts:
        fact = f"{operation} reads from lane {facts['source']}, which does not take part"
        why = f"lane {lane} asks lane {facts['source']}, and that lane is not at this line"
    elif facts["not_named"]:
        fact = f"{operation} is reached by a lane that its mask does not name"
        why = f"lane {lane} is here, and the mask it gives has no bit for it"
    else:
        absent = f"lane{'s' * (len(facts['absent']) > 1)} {runs(facts['absent'])}"
        there = "it is" if len(facts["absent"]) == 1 else "they are"
        fact = f"{operation} waits for lanes that are not here"
        why = f"the mask of lane {lane} names {absent}, and {there} not at this line"
    return fact, why, "call it where all lanes that the mask names reach it, with the same mask"


def _misaligned(fault: Fault, kernel: Kernel, places: Places) -> Words:
    facts = fault.facts
    fact = (
        f"{facts['array']} begins at an address that does not fit its {facts['size']}-byte elements"
    )
    why = f"its first byte is at {facts['address']}, which is not a multiple of {facts['size']}"
    return fact, why, f"let it begin a multiple of {facts['size']} bytes into its memory"


def _endless(fault: Fault, kernel: Kernel, places: Places) -> Words:
    facts = fault.facts
    if facts.get("asks"):
        return _waits_for_ever(facts)
    names = _names_text(kernel, facts["names"], fault.line)
    advice = "change what the loop's condition tests, in every turn of the loop"
    if facts["hopeless"]:
        fact = "this loop never ends"
        why = f"{facts['test']} is true, and nothing in the loop changes it"
    else:
        advice += "; if it would end, let each thread make fewer turns"
        fact = "the kernel had not ended after all the steps a launch may take"
        why = "it was still running here" + (f", while {facts['test']}" if facts["test"] else "")
    if names:
        why += f" ({'; '.join(names)})"
    return fact, why, advice


def _waits_for_ever(facts: Mapping[str, Any]) -> Words:
    asks, lines = facts["asks"], facts["barrier_lines"]
    why = f"{asks} stays {facts['found']}"
    advice = f"let a thread that does not wait for this one change {asks}"
    if facts["changing"]:
        fact = "this loop changes memory in its turns, and no thread ever leaves it"
        why = f"what it found last was {facts['found']}, in {asks}"
        advice = "find the thread that is to end this loop, and what keeps it from getting there"
    elif facts["room"] and facts["outside"]:
        room, outside = (count(facts[name], "block") for name in ("room", "outside"))
        fact = f"this loop waits for {asks} to change, and the GPU has room for {room} at a time"
        why += f"; {outside} cannot start before this one ends"
        advice = (
            "let a block wait only for blocks that have started; a GPU starts blocks in any order, "
            "as many as it has room for"
        )
    elif facts["proven"]:
        fact = f"this loop waits for {asks} to change, and no thread is left that could change it"
        why += "; all other threads have ended or wait as well"
    else:
        fact = f"this loop waits for {asks} to change, and no thread changes it"
        why += ", turn after turn"
    if lines:
        at = f"{facts['at_barriers']:,} thread{'s' * (facts['at_barriers'] > 1)}"
        why += f", {at} at a barrier (line{'s' * (len(lines) > 1)} {runs(lines)})"
    return fact, why, advice


def _illegal_launch(fault: Fault, kernel: Kernel, places: Places) -> Words:
    why = f"the launch asked for grid {triple(places.grid)}, block {triple(places.block)}"
    return fault.facts["fact"], why, "use more blocks of fewer threads"


WORDS: dict[str, Callable[[Fault, Kernel, Places], Words]] = {
    "out-of-bounds": _out_of_bounds,
    "race": _race,
    "barrier-divergence": _barrier,
    "uninitialised-read": _uninitialised,
    "inactive-lane": _inactive_lane,
    "misaligned": _misaligned,
    "endless-loop": _endless,
    "illegal-launch": _illegal_launch,
}
