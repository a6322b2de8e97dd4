"""The kernels of probe_kernels.py, each with the types and numbers it is launched with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simt.kernel.source import read
from simt.simulator import simulate
from tests.ptx.compiled import texts_of
from tests.ptx.course import Values, copied, differences
from tests.ptx.launch import launch
from tests.ptx.translate import Program

FILE = Path(__file__).with_name("probe_kernels.py")
ROWS = 24
CELLS = 64
"""Numbers of each type, one for each thread."""


def edges(dtype: np.dtype[Any]) -> list[Any]:
    """Returns the numbers of a type at which arithmetic goes wrong first."""
    if dtype.kind == "f":
        most, tiny = np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal
        ends = [most, -most, np.inf, -np.inf, np.nan, tiny, -tiny, np.finfo(dtype).tiny]
        return [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.5, 255.0, 256.0, 3e9, -3e9, 1e19, -1e19, *ends]
    info = np.iinfo(dtype)
    return [0, 1, 2, 7, info.max, info.max - 1, info.min, info.min + 1, info.max // 2 + 1]


def numbers(dtype: str, rng: np.random.Generator, turn: int = 0) -> np.ndarray:
    """Returns numbers of a type: all its edges, all of them again, and random ones.

    Args:
        dtype: the type.
        rng: what the random ones are drawn from; floats have full mantissas.
        turn: how far the first edges are turned round. Of two arrays, one turned, the first cells
            have edges of two kinds, and the next ones equal numbers.
    """
    kind = np.dtype(dtype)
    known = np.array(edges(kind), kind)
    if kind.kind == "f":
        drawn = (rng.standard_normal(CELLS) * 10.0 ** rng.integers(-3, 6, CELLS)).astype(kind)
    else:
        drawn = rng.integers(0, 256, (CELLS, kind.itemsize), np.uint8).view(kind).reshape(-1)
        drawn = np.where(rng.random(CELLS) < 0.5, drawn, rng.integers(0, 30, CELLS).astype(kind))
    return np.concatenate([np.roll(known, turn), known, drawn])[:CELLS].astype(kind)


@dataclass(frozen=True)
class Probe:
    """A kernel with arguments.

    Attributes:
        name: the kernel and its types.
        kernel: its name in probe_kernels.py.
        values: makes its arguments, by name and in order.
    """

    name: str
    kernel: str
    values: Callable[[np.random.Generator], Values]


def _turned(dtype: str, rng: np.random.Generator) -> np.ndarray:
    return numbers(dtype, rng, int(rng.integers(1, len(edges(np.dtype(dtype))))))


def _tables() -> Values:
    return {"n": np.zeros((ROWS, CELLS), np.int64), "f": np.zeros((ROWS, CELLS))}


def _of_two(kernel: str, left: str, right: str) -> Probe:
    def values(rng: np.random.Generator) -> Values:
        return _tables() | {"a": numbers(left, rng), "b": _turned(right, rng)}

    return Probe(f"{kernel} {left} {right}", kernel, values)


def _shifted(kind: str) -> Probe:
    def values(rng: np.random.Generator) -> Values:
        far = rng.integers(0, 8 * np.dtype(kind).itemsize, CELLS).astype(kind)
        return {"n": _tables()["n"], "a": numbers(kind, rng), "b": far}

    return Probe(f"shifted {kind}", "shifted", values)


def _converted(kind: str) -> Probe:
    def values(rng: np.random.Generator) -> Values:
        return _tables() | {"a": numbers(kind, rng)}

    return Probe(f"converted {kind}", "converted", values)


def _stored(kind: str) -> Probe:
    def values(rng: np.random.Generator) -> Values:
        kinds = {"bytes": np.uint8, "halves": np.int16, "words": np.int32, "floats": np.float32}
        return {name: np.zeros(CELLS, k) for name, k in kinds.items()} | {"a": numbers(kind, rng)}

    return Probe(f"stored {kind}", "stored", values)


def _passed_on(left: str, right: str) -> Probe:
    def values(rng: np.random.Generator) -> Values:
        return _tables() | {"a": numbers(left, rng), "b": _turned(right, rng)}

    return Probe(f"passed_on {left} {right}", "passed_on", values)


def _counted(kind: str) -> Probe:
    def values(rng: np.random.Generator) -> Values:
        a = numbers(kind, rng)
        sums, bits = np.zeros(5, kind), np.zeros(6, np.uint32)
        return {"sums": sums, "bits": bits, "found": np.zeros((8, CELLS), kind), "a": a}

    return Probe(f"counted {kind}", "counted", values)


def _summed(kind: str) -> Probe:
    def values(rng: np.random.Generator) -> Values:
        return {
            "sums": np.zeros(5, kind),
            "found": np.zeros((4, CELLS), kind),
            "a": numbers(kind, rng),
        }

    return Probe(f"summed {kind}", "summed", values)


WHOLE_PAIRS = (
    *(("int32", "int32"), ("int64", "int64"), ("uint8", "uint8"), ("uint32", "uint32")),
    *(("int8", "int8"), ("int32", "uint32"), ("int16", "int64"), ("uint64", "uint64")),
)
PROBES = (
    *(_of_two("of_whole", *pair) for pair in WHOLE_PAIRS),
    *(_shifted(kind) for kind in ("int32", "int64", "uint32", "uint8")),
    *(_of_two("of_floats", kind, kind) for kind in ("float32", "float64")),
    *(_converted(kind) for kind in ("float32", "float64", "int64", "uint32", "uint8")),
    *(_stored(kind) for kind in ("int64", "float32", "float64")),
    *(_passed_on(*pair) for pair in (("float32", "int32"), ("int64", "int64"))),
    *(_counted(kind) for kind in ("int32", "int64", "uint32")),
    *(_summed(kind) for kind in ("float32", "float64")),
)


def by_simulator(probe: Probe, seed: int, note: str = "") -> Values:
    """Returns what the simulator leaves of a probe's arguments.

    Args:
        probe: what to run.
        seed: of its numbers.
        note: with another note the kernel is read and lowered anew.
    """
    values = copied(probe.values(np.random.default_rng(seed)))
    kernel = read(FILE, FILE.read_text("utf-8") + f"\n# {note}\n").kernel(probe.kernel)
    with np.errstate(all="ignore"):
        simulate(kernel, counters=False)[1, CELLS](*values.values())
    return values


def by_oracle(probe: Probe, seed: int, form: str, keep: Path | None) -> Values:
    """Returns what its PTX leaves of them."""
    values = copied(probe.values(np.random.default_rng(seed)))
    texts = texts_of(FILE, probe.kernel, list(values.values()), keep)
    launch(Program.of(getattr(texts, form)), 1, CELLS, list(values.values()))
    return values


def disagreements(probe: Probe, ours: Values, theirs: Values) -> list[str]:
    """Returns what differs, but for what has no value to agree on."""
    if probe.kernel == "converted" and ours["a"].dtype.kind == "f":
        # uint8(x) of what 8 bits cannot hold, before it is stored: LLVM takes it for impossible,
        # and what it leaves is more than 8 bits.
        fits = (ours["a"] > -1) & (ours["a"] < 256)
        for values in (ours, theirs):
            values["n"][4] = np.where(fits, values["n"][4], 0)
    return differences(ours, theirs, None)
