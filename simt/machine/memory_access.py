"""Access to memory: which cells an index means, whether they are there, and what is in them.

Everything here is done for the lanes of the interpreter's mask at once. A lane whose index lies
outside its array is at fault and takes no part; the launch goes on without it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from simt.kernel.ir import Expression, Site, Span, View
from simt.kernel.legality import STEPS_OF_ACCESSES
from simt.kernel.types import BOOL, INT64, UINT64
from simt.machine.faults import Fault
from simt.machine.lanes import Mask
from simt.machine.machine import Machine
from simt.machine.memory import Array, row_major, viewed
from simt.machine.observer import Access, AccessPattern
from simt.machine.values import Value, cast, pick, ravel
from simt.vocabulary import atomics

Indices = tuple[Value, ...]


def load(machine: Machine, site: Site, array: Array, indices: Indices) -> Value:
    """Returns what the lanes find in their cells."""
    access = _access(machine, "load", site, array, indices)
    if access is None:
        return array.dtype.type(0)
    _check_initialised(machine, site, access)
    pattern = access.pattern
    if pattern.uniform:
        return _truths(array, array.flat[pattern.elements[0] + access.moved])
    loaded = _truths(array, access.found())
    if pattern.mask.full:
        return loaded
    result = np.zeros(machine.lanes.count, array.dtype)
    result[pattern.mask.lanes] = loaded
    return result


def _truths(array: Array, loaded: Value) -> Value:
    """Bytes that are read as bool: Numba takes any but 0 for True, and NumPy only 1."""
    if array.dtype is not BOOL or array.root is None or array.root.seen_of is None:
        return loaded
    return loaded.view(np.uint8) != 0


def store(machine: Machine, site: Site, array: Array, indices: Indices, value: Value) -> None:
    """Writes a value into the lanes' cells."""
    value = cast(value, array.dtype)
    if machine.context is not None:
        machine.context.before_write()
    access = _access(machine, "store", site, array, indices, value)
    if access is None:
        return
    places = access.places
    array.flat[places] = access.values
    if access.array.initialised is not None:
        access.array.initialised[places] = True
    if machine.context is not None:
        machine.context.wrote()


def update(
    machine: Machine,
    site: Site,
    array: Array,
    indices: Indices,
    name: str,
    operands: Sequence[Value],
    *,
    returns: bool,
) -> Value:
    """Updates cells atomically, lane after lane; returns the old values.

    Raises:
        KernelRefused: an array of each thread's own, for which a GPU has no atomics.
    """
    if array.space == "local":
        fact = f"{array.name} lies in local memory: atomics are for global and shared memory alone"
        hint = "each thread has an array of its own there, so plain arithmetic will do"
        raise machine.kernel.refuse(site.line, fact, hint)
    if machine.context is not None:
        machine.context.before_write()
    access = _access(
        machine,
        "atomic",
        site,
        array,
        indices,
        operands[-1],
        returns=returns or name in atomics.ALWAYS_RETURN,
        expected=operands[0] if name == "cas" else None,
    )
    if access is None:
        return array.dtype.type(0)
    _check_initialised(machine, site, access)
    turns = access.turns
    mask = access.pattern.mask
    given = [_one_each(pick(o, mask), turns.size)[turns] for o in operands]
    cells = access.elements[turns]
    found = atomics.apply(name, array.flat, cells, given, returns=returns)
    if access.array.initialised is not None:
        access.array.initialised[access.places] = True
    old = np.zeros(machine.lanes.count, array.dtype)
    if found is not None:
        old[mask.lanes[turns]] = found
    if machine.context is not None:
        machine.context.wrote()
    return old


def _one_each(value: Value, count: int) -> np.ndarray:
    """A value as a vector, one entry for each of `count` lanes."""
    return value if isinstance(value, np.ndarray) else np.full(count, value)


def _check_initialised(machine: Machine, site: Site, access: Access) -> None:
    initialised = access.array.initialised
    if initialised is None:
        return
    small = access.array.space != "global"
    if small and np.count_nonzero(initialised) == initialised.size:
        # Once all of it is written, it stays so.
        access.array.initialised = None
        return
    written: Any = initialised[access.places]
    if written.ndim > 1:
        written = written.all(axis=1)
    if np.count_nonzero(written) < written.size:
        fresh = ~written
        first = int(fresh.nonzero()[0][0])
        facts = {
            "array": access.array.name,
            "shape": access.array.shape,
            "cell": int(access.cells[first]),
            "space": access.array.space,
        }
        machine.fault(
            Fault("uninitialised-read", site.line, access.threads[fresh], facts),
            (access.array.name,),
        )


def _access(
    machine: Machine,
    kind: str,
    site: Site,
    array: Array,
    indices: Indices,
    value: Value = None,
    *,
    returns: bool = True,
    expected: Value = None,
) -> Access | None:
    """Checks the bounds, tells the audience; None when no lane is in bounds."""
    context = machine.context if array.space in ("global", "shared") else None
    if context is not None:
        find = partial(_cells, machine, array, indices, machine.mask)
        context.before_access(kind, site.line, array, find)
    machine.steps_left -= STEPS_OF_ACCESSES[kind]
    # Before it is compared with the pattern's: from index -1 to index 0 is not one cell on.
    if machine.policy.wrap_negative:
        indices = _numbers_from_start(machine, site, array, indices)
    pattern = machine.patterns.get(site.number)
    moved = None if pattern is None else pattern.distance(array, indices, machine.mask)
    if pattern is None or moved is None:
        pattern, moved = _new_pattern(machine, kind, site, array, indices), 0
        if not pattern.mask.count:
            return None
    mask, whole = pattern.mask, array.root or array
    access = Access(
        kind, whole, mask, site.line, machine.kernel, pattern, moved, caller=machine.caller
    )
    if not (whole.per_copy or whole.contiguous):
        access.find_cells = partial(_cells, machine, array, indices, mask)
    if value is not None:
        access.values = pick(value, mask)
    if kind == "atomic":
        access.returns = returns
        access.expected = None if expected is None else pick(expected, mask)
        access.turns = np.arange(mask.count)
        if machine.rng is not None:
            machine.rng.shuffle(access.turns)
    if whole.misaligned:
        facts = {"array": whole.name, "address": whole.address, "size": whole.dtype.itemsize}
        machine.fault(Fault("misaligned", site.line, access.threads, facts), (whole.name,))
    machine.audience.access(access)
    if context is not None:
        context.accessed(access)
    return access


def _new_pattern(
    machine: Machine, kind: str, site: Site, array: Array, indices: Indices
) -> AccessPattern:
    """Checks the bounds; remembers the pattern where all lanes are in them."""
    mask, counted = machine.mask, _from_start(machine, array, indices)
    if array.nowhere is not None:
        mask = mask & ~array.nowhere
    if counted is not indices:
        _advise_from_end(machine, site, array, indices)
    good = in_bounds(machine, kind, site, array, counted)
    if good is not None:
        mask = mask & good
    strides = tuple([pick(s, mask) for s in array.strides])
    elements = ravel([pick(i, mask) for i in counted], strides)
    if isinstance(array.origin, np.ndarray) or array.origin:
        elements = elements + pick(array.origin, mask)
    everybody = good is None and array.nowhere is None
    differ = [isinstance(i, np.ndarray) for i in (array.origin, *indices, *array.strides)]
    if not isinstance(elements, np.ndarray):
        elements = np.full(mask.count, elements)
    threads = machine.lanes.threads_of(mask)
    pattern = AccessPattern(array, indices, mask, threads, elements, everybody and not any(differ))
    if everybody:
        machine.patterns[site.number] = pattern
    return pattern


def _cells(machine: Machine, array: Array, indices: Indices, mask: Mask) -> np.ndarray:
    picked = [pick(i, mask) for i in _from_start(machine, array, indices)]
    cells = ravel(picked, row_major(tuple(pick(n, mask) for n in array.shape)))
    return np.broadcast_to(cells, mask.count)


def signed(index: Value) -> Value:
    """An index that int64 can hold: one beyond it is outside of any array, and not negative."""
    if index.dtype != UINT64:
        return index
    return np.minimum(index, np.uint64(np.iinfo(np.int64).max))


# Indices from the end, where the policy takes them as Numba does


def _numbers_from_start(machine: Machine, site: Site, array: Array, indices: Indices) -> Indices:
    """Returns the indices, those counted from the start that all lanes have in common."""
    found = list(indices)
    for axis, (at, size) in enumerate(zip(indices, array.shape, strict=True)):
        vectors = isinstance(at, np.ndarray) or isinstance(size, np.ndarray)
        if not vectors and -size <= at < 0:
            found[axis] = at + size
            _from_end(machine, site, array, indices, axis, machine.mask.lanes)
    return tuple(found)


def _from_start(machine: Machine, array: Array, indices: Indices) -> Indices:
    """Returns the indices, all of them counted from the start; the same tuple if they were."""
    if not machine.policy.wrap_negative:
        return indices
    pairs = zip(indices, array.shape, strict=True)
    found = tuple(_one_from_start(at, size) for at, size in pairs)
    same = all(new is old for new, old in zip(found, indices, strict=True))
    return indices if same else found


def _one_from_start(at: Value, size: Value) -> Value:
    """An index from -size to -1 as Numba counts it, from the end; any other stays what it is."""
    negative = at < 0
    if not np.any(negative):
        return at
    return np.where(negative & (at >= -size), at + size, at)[()]


def _advise_from_end(machine: Machine, site: Site, array: Array, indices: Indices) -> None:
    """Reports the lanes whose index counts from the end: legal, and often a mistake."""
    for axis, (at, size) in enumerate(zip(indices, array.shape, strict=True)):
        lanes = np.flatnonzero(machine.mask.active & (at < 0) & (at >= -size))
        if lanes.size:
            _from_end(machine, site, array, indices, axis, lanes)


def _from_end(
    machine: Machine,
    site: Site,
    array: Array,
    indices: Indices,
    axis: int,
    lanes: np.ndarray,
) -> None:
    facts = {**_facts(machine, site, array, indices, axis, lanes), "from_end": True}
    threads = machine.lanes.global_thread[lanes]
    fault = Fault(
        "out-of-bounds",
        site.line,
        threads,
        facts,
        expression=site.expression(axis),
        severity="advice",
    )
    machine.fault(fault, ("from the end",))


# Indices outside


def in_bounds(
    machine: Machine,
    kind: str,
    site: Site,
    array: Array,
    indices: Indices,
    axes: Collection[int] | None = None,
) -> np.ndarray | None:
    """Reports what is out of bounds; the lanes that are in, or None when all active are.

    Args:
        machine: whose lanes are looked at.
        kind: "load", "store" or "atomic".
        site: where.
        array: what is indexed.
        indices: one per axis, counted from the start where the policy says so.
        axes: those to look at; None for all.
    """
    good: np.ndarray | None = None
    sizes: tuple[Any, ...] = array.shape
    for axis, (at, size) in enumerate(zip(indices, sizes, strict=True)):
        if axes is not None and axis not in axes:
            continue
        if not isinstance(at, np.ndarray):
            if not isinstance(size, np.ndarray):
                if 0 <= at < size:
                    continue
                inside = np.zeros(machine.lanes.count, bool)
            else:
                inside = (at >= 0) & (at < size)
        else:
            # Seen as unsigned, a negative index is larger than any size.
            inside = at.view(np.uint64) < np.asarray(size, np.uint64)
        if np.count_nonzero(inside) == inside.size:
            continue  # as are most, those that take no part as well
        bad = machine.mask.active & ~inside
        if not np.count_nonzero(bad):
            continue
        if good is not None:
            bad &= good
        good = inside if good is None else good & inside
        lanes = np.flatnonzero(bad)
        if lanes.size:
            _out_of_bounds(machine, kind, site, array, indices, axis, lanes)
    return good


def _out_of_bounds(
    machine: Machine,
    kind: str,
    site: Site,
    array: Array,
    indices: Indices,
    axis: int,
    lanes: np.ndarray,
) -> None:
    size = int(np.broadcast_to(array.shape[axis], machine.lanes.count)[lanes[0]])
    facts = {
        **_facts(machine, site, array, indices, axis, lanes),
        "access": kind,
        "space": array.space,
        "sizes": _parameters_of(machine, size),
    }
    threads = machine.lanes.global_thread[lanes]
    fault = Fault("out-of-bounds", site.line, threads, facts, expression=site.expression(axis))
    machine.fault(fault, (site.column, axis))


def _facts(
    machine: Machine,
    site: Site,
    array: Array,
    indices: Indices,
    axis: int,
    lanes: np.ndarray,
) -> dict[str, Any]:
    """What there is to say of an index along one axis, over the lanes that have it."""
    count = machine.lanes.count
    at = [np.broadcast_to(i, count)[lanes] for i in indices]
    first = machine.lanes.global_thread[lanes][:64].tolist()
    return {
        "array": array.name,
        "shape": tuple(int(np.broadcast_to(n, count)[lanes[0]]) for n in array.shape),
        "axis": axis,
        "index": tuple(int(a[0]) for a in at),
        "indices": {t: tuple(int(a[k]) for a in at) for k, t in enumerate(first)},
        "axis_values": (int(at[axis].min()), int(at[axis].max())),
        "names": machine.range_of(site.names_along(axis), lanes),
    }


def _parameters_of(machine: Machine, size: int) -> tuple[str, ...]:
    """The parameters of the function that are whole numbers, and this one for all lanes."""
    found: dict[str, None] = {}
    for version, known in machine.variables.items():
        name, value = version.partition("#")[0], known.value
        if isinstance(value, np.integer) and value == size:
            found[name] = None
    return tuple(name for name in machine.kernel.parameters if name in found)


# Views


def view(machine: Machine, node: View, array: Array) -> Array:
    """Returns a[i], a[2:], a[:, j]: the same memory, from another cell on and in another shape."""
    first: list[Value] = []
    shape: list[Value] = []
    steps: list[Value] = []
    for part, size in zip(node.parts, array.shape, strict=True):
        if isinstance(part, Span):
            start, length, step = _span(machine, part, size)
            shape.append(length)
            steps.append(step)
            first.append(start)
        else:
            first.append(cast(signed(machine.value(part)), INT64))
            steps.append(None)
    numbers = [axis for axis, step in enumerate(steps) if step is None]
    at = tuple(f if k in numbers else np.int64(0) for k, f in enumerate(first))
    counted = _from_start(machine, array, at)
    if counted is not at:
        _advise_from_end(machine, node.site, array, at)
    good = in_bounds(machine, "load", node.site, array, counted, numbers)
    for axis in numbers:
        first[axis] = counted[axis]
    inside = [
        np.clip(start, 0, np.maximum(np.asarray(size) - 1, 0))[()]
        for start, size in zip(first, array.shape, strict=True)
    ]
    found = viewed(array, inside, shape, steps)
    return found if good is None else _lost(found, machine.mask.active & ~good)


def _lost(array: Array, lanes: np.ndarray) -> Array:
    """The view without some lanes, which have been told that it is not there for them."""
    nowhere = lanes if array.nowhere is None else array.nowhere | lanes
    fields = {name: _lost(part, lanes) for name, part in array.fields.items()}
    return replace(array, nowhere=nowhere, fields=fields)


def _span(machine: Machine, part: Span, size: Value) -> tuple[Value, Value, Value]:
    """First index, length and step of a slice, bounded as Python bounds it."""

    def worked_out(bound: Expression | None) -> Value:
        return None if bound is None else machine.value(bound)

    lower, upper, given = worked_out(part.low), worked_out(part.high), worked_out(part.step)
    step: Value = 1 if given is None else cast(given, INT64)
    step = step if isinstance(step, np.ndarray) else int(step)
    step = _usable_step(machine, part, step)
    back = np.less(step, 0)
    low, high = np.where(back, -1, 0)[()], np.where(back, size - 1, size)[()]
    start = np.where(back, high, low)[()] if lower is None else _bound(lower, size, low, high)
    stop = np.where(back, low, high)[()] if upper is None else _bound(upper, size, low, high)
    length = np.maximum(-(-(stop - start) // step), 0)
    return start, length if isinstance(length, np.ndarray) else np.int64(length), step


def _usable_step(machine: Machine, part: Span, step: Value) -> Value:
    """Returns a slice's step, 1 in the lanes that do not take part and have none."""
    zero = np.equal(step, 0)
    if not zero.any():
        return step
    if not isinstance(step, np.ndarray) or zero[machine.mask.lanes].any():
        fact = "a slice's step is 0 here in some thread"
        raise machine.kernel.refuse(part.line, fact, "step by 1 or by -1")
    return np.where(zero, 1, step)


def _bound(value: Value, size: Value, low: Value, high: Value) -> Value:
    whole = cast(value, INT64)
    return np.clip(np.where(whole < 0, whole + size, whole)[()], low, high)
