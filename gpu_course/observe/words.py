"""What to say of each kind of fault: the fact, why it is so, and what to try."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gpu_course.observe.places import Places, runs, triple
from gpu_course.simt.faults import Fault
from gpu_course.simt.source import Kernel

Words = tuple[str, str, str]
"""Fact, why, and what to try."""


def _definition(kernel: Kernel, name: str, line: int) -> str:
    """The last statement above a line that assigns a name, as "i = cuda.grid(1), line 10"."""
    best: ast.stmt | None = None
    for node in ast.walk(kernel.tree):
        if isinstance(node, ast.Assign):
            targets: Sequence[ast.expr] = node.targets
        elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For):
            targets = [node.target]
        else:
            continue
        named = any(
            isinstance(n, ast.Name) and n.id == name
            for t in targets
            for n in ast.walk(t)
            if isinstance(getattr(n, "ctx", None), ast.Store)
        )
        if named and node.lineno <= line and (best is None or node.lineno >= best.lineno):
            best = node
    if best is None:
        return ""
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
    expression = _axis_expression(fault.node, axis)
    parts = _names_text(kernel, facts["names"], fault.line, there=True)
    if expression not in (*facts["names"], str(low)):
        parts.insert(0, f"{expression} is {_span(low, high)} there")
    if facts.get("from_end"):
        return _from_end(facts, index, parts)
    fact = f"{facts['array']}[{index}] is outside an array of shape {facts['shape']}"
    of_axis = f"axis {axis} of the array" if len(facts["shape"]) > 1 else "the array"
    facts["one_thread_per_cell"] = _one_thread_per_cell(facts["shape"], places)
    if high < 0:
        end = f"{of_axis} starts at 0"
        if low >= -size:
            end += ", and Numba would count a negative index from the end, which hides mistakes"
        advice = f"let only threads with {expression} >= 0 touch memory"
    elif low < 0:
        end = f"{of_axis} has indices 0 to {size - 1}"
        advice = f"let only threads with {expression} from 0 to {size - 1} touch memory"
    else:
        end = f"{of_axis} ends at {size - 1}" if size else f"{of_axis} is empty"
        advice = f"let only threads with {expression} < {size} touch memory"
    if facts["one_thread_per_cell"]:
        advice = _without_a_guard(fault, low, high, advice)
    return fact, "; ".join([*parts, end]), advice


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


def _without_a_guard(fault: Fault, low: int, high: int, guarded: str) -> str:
    """The advice where no thread is left over, so that a guard would leave cells unwritten."""
    shape, count = fault.facts["shape"], len(np.unique(fault.threads))
    advice = "give each thread a cell of its own"
    if len(shape) == 1 and (low, high) == (shape[0], shape[0] + count - 1):
        advice = f"move the index back by {count}"
    elif len(shape) == 1 and (low, high) == (-count, -1):
        advice = f"move the index on by {count}"
    advice += ": this launch has one thread per cell, and none is left over"
    if fault.facts["access"] == "load":
        neighbour = guarded.replace("touch memory", "read it")
        advice += f"; or, where a neighbour is meant, {neighbour}"
    return advice


def _axis_expression(node: ast.AST | None, axis: int) -> str:
    index = node.slice if isinstance(node, ast.Subscript) else None
    if isinstance(index, ast.Tuple):
        index = index.elts[axis]
    elif axis or index is None:
        return "the index"
    return ast.unparse(index)


def _cell_name(facts: Mapping[str, Any]) -> str:
    """The cell of a fault, as "tile[3, 4]"."""
    cell = ", ".join(map(str, np.unravel_index(facts["cell"], facts["shape"])))
    return f"{facts['array']}[{cell}]"


_VERBS = {"load": "reads", "store": "writes", "atomic": "updates"}


def _race(fault: Fault, kernel: Kernel, places: Places) -> Words:
    facts = fault.facts
    name = _cell_name(facts)
    one, other = _VERBS[facts["access"]], _VERBS[facts["other_access"]]
    why = (
        f"{places.thread(facts['thread'])} {one} it (line {fault.line}), "
        f"{places.thread(facts['other_thread'])} {other} it (line {facts['other_line']})"
    )
    if facts["loose"]:
        fact = f"{name} is touched after an atomic said that it may be, with no fence in between"
        return fact, why, "put cuda.threadfence() after the atomic as well as before it"
    both_write = one == other == "writes"
    if both_write and facts["same_value"]:
        fact = f"{name} is written by more than one thread, each time with the same value"
    elif both_write:
        fact = f"{name} is written by more than one thread, and the last one to come wins"
    else:
        fact = f"{name} is written by one thread and read by another, in no fixed order"
    advice = "read only cells that no other thread writes in the same launch"
    if both_write:
        advice = "give every cell one thread that writes it"
    elif facts["space"] == "shared":
        advice = "let the block meet at cuda.syncthreads() between the write and the read"
    return fact, why, advice


def _uninitialised_cell(fault: Fault) -> Words:
    facts = fault.facts
    name = _cell_name(facts)
    whose = "block" if facts["space"] == "shared" else "thread"
    why = f"{facts['array']} is {facts['space']} memory: every {whose} starts with its own, unset"
    return (
        f"{name} is read before anything is written to it",
        why,
        "write each cell before it is read",
    )


def _uninitialised(fault: Fault, kernel: Kernel, places: Places) -> Words:
    if "variable" not in fault.facts:
        return _uninitialised_cell(fault)
    name = fault.facts["variable"]
    lines = sorted(
        {
            n.lineno
            for n in ast.walk(kernel.tree)
            if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
        }
    )
    where = f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}"
    fact = f"{name} is read before these threads have assigned it"
    why = f"{name} is assigned on {where}, and these threads have not been there"
    return fact, why, f"assign {name} on every path that leads to this line"


def _barrier(fault: Fault, kernel: Kernel, places: Places) -> Words:
    facts = fault.facts
    missing = facts["missing"]
    fact = f"{len(missing):,} threads are missing at this barrier, and {facts['present']:,} wait"
    if facts["all_returned"]:
        why = "the missing threads have returned from the kernel before it"
    else:
        why = "the missing threads took another way: a branch, or fewer turns of a loop"
    return fact, why, "put the barrier where every thread of the block comes past, equally often"


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
        absent = runs(facts["absent"])
        fact = f"{operation} waits for lanes that are not here"
        why = f"the mask of lane {lane} names lanes {absent}, and they are not at this line"
    return fact, why, "call it where all lanes that the mask names come past, with one mask"


def _misaligned(fault: Fault, kernel: Kernel, places: Places) -> Words:
    facts = fault.facts
    fact = f"{facts['array']} begins at an address that its {facts['size']} byte elements may not"
    why = f"its first byte is at {facts['address']}, which is no multiple of {facts['size']}"
    return fact, why, f"let it begin a multiple of {facts['size']} bytes into its memory"


def _endless(fault: Fault, kernel: Kernel, places: Places) -> Words:
    facts = fault.facts
    if facts.get("asks"):
        return _waits_for_ever(facts)
    names = _names_text(kernel, facts["names"], fault.line)
    if facts["hopeless"]:
        fact = "this loop never ends"
        why = f"{facts['test']} is true, and nothing in the loop changes it"
    else:
        fact = "the kernel had not ended after all the steps a launch may take"
        why = "it was still running here" + (f", while {facts['test']}" if facts["test"] else "")
    if names:
        why += f" ({'; '.join(names)})"
    return fact, why, "change what the loop's condition asks about, in every turn of the loop"


def _waits_for_ever(facts: Mapping[str, Any]) -> Words:
    asks, lines = facts["asks"], facts["barrier_lines"]
    why = f"{asks} stays {facts['found']}"
    if facts["proven"]:
        fact = f"this loop waits for {asks} to change, and no thread is left that could change it"
        why += "; all other threads have ended or wait as well"
    else:
        fact = f"this loop waits for {asks} to change, and no thread changes it"
        why += ", turn after turn"
    if lines:
        at = f"{facts['at_barriers']:,} thread{'s' * (facts['at_barriers'] > 1)}"
        why += f", {at} at a barrier (line{'s' * (len(lines) > 1)} {runs(lines)})"
    return fact, why, f"let a thread that does not wait for this one change {asks}"


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
