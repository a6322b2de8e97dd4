"""Table 2 of GaLore read in many ways: which reading of "memory" explains which printed cells?

The paper prints its cells with a G and does not say what is in them. A reading is one answer to
each open question; here are all combinations, each compared with all eight cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from gpu_course.claims.published import printed
from gpu_course.lessons.smaller_states.claims.galore import MODELS
from gpu_course.lessons.smaller_states.galore_formulas import BF16
from gpu_course.measure.llama_shapes import Llama
from gpu_course.units import GB, GIB

UNITS = {"GiB": GIB, "GB": GB}
SIDES = ("shorter", "longer")
PROJECTED = ("all seven", "attention", "MLP", "all seven and the head")
EMBEDDINGS = ("two", "tied")
METHODS = ("plain Adam", "GaLore")
TABLE_2 = {
    name: tuple(
        row.printed
        for row in printed("GaLore 2024", "Table 2, memory")
        if row.arguments["model"] == name
    )
    for name in MODELS
}
"""The cells as printed, in the order of METHODS."""


@dataclass(frozen=True)
class Reading:
    """What the G and the word memory may mean. The defaults are the paper's text and its code.

    Attributes:
        unit: "GiB" or "GB".
        bases: True to count the bases of the projections.
        cut: the side that is cut down to the rank, "shorter" or "longer".
        projected: which matrices are, one of PROJECTED.
        embedding: "two" tables, for embedding and head, or one "tied" for both.
        parameters: True to count the parameters beside the states.
    """

    unit: str = "GiB"
    bases: bool = True
    cut: str = "shorter"
    projected: str = "all seven"
    embedding: str = "two"
    parameters: bool = True


@dataclass(frozen=True)
class Cell:
    """A printed cell and what a reading makes of it, both in the reading's unit."""

    model: str
    method: str
    mine: float
    printed: float

    @property
    def off(self) -> float:
        """How far mine is from printed, as a share of printed."""
        return self.mine / self.printed - 1

    @property
    def to_the_digit(self) -> bool:
        """True where mine rounds to what is printed: two decimals."""
        return round(self.mine, 2) == self.printed


def all_readings() -> Iterator[Reading]:
    """Yields every combination."""
    both = (True, False)
    for choice in product(UNITS, both, SIDES, PROJECTED, EMBEDDINGS, both):
        yield Reading(*choice)


def terms(model: Llama, rank: int | None, reading: Reading) -> dict[str, int]:
    """Returns {term: numbers} that a reading counts.

    Args:
        model: its shape.
        rank: of GaLore; None for plain Adam.
    """
    table = model.vocabulary * model.hidden
    elsewhere = model.elsewhere - (table if reading.embedding == "tied" else 0)
    counted = {"parameters": (model.in_matrices + elsewhere) * reading.parameters}
    matrices = [shape for shape in model.matrices for _ in range(model.layers)]
    if rank is None:
        return counted | {"moments": 2 * (model.in_matrices + elsewhere)}
    chosen = [shape for shape in matrices if _projected(shape, reading.projected)]
    whole = sum(a * b for a, b in matrices) - sum(a * b for a, b in chosen)
    if reading.projected == "all seven and the head":
        chosen.append((model.vocabulary, model.hidden))
        elsewhere -= table
    pairs = [sorted(shape) if reading.cut == "shorter" else sorted(shape)[::-1] for shape in chosen]
    return counted | {
        "moments, projected": sum(2 * rank * kept for _, kept in pairs),
        "bases": sum(rank * cut for cut, _ in pairs) * reading.bases,
        "moments, whole": 2 * (whole + elsewhere),
    }


def _projected(shape: tuple[int, int], which: str) -> bool:
    square = shape[0] == shape[1]
    return {"attention": square, "MLP": not square}.get(which, True)


def cells(reading: Reading) -> tuple[Cell, ...]:
    """Returns all eight cells, model by model."""
    return tuple(
        Cell(
            name,
            method,
            BF16 * sum(terms(model, rank if method == "GaLore" else None, reading).values())
            / UNITS[reading.unit],
            float(digits),
        )
        for name, (model, rank) in MODELS.items()
        for method, digits in zip(METHODS, TABLE_2[name], strict=True)
    )  # fmt: skip


def largest_difference(reading: Reading) -> float:
    """Returns how far the worst cell of a reading is off, as a share of what is printed."""
    return max(abs(cell.off) for cell in cells(reading))


def as_text(reading: Reading) -> str:
    """Returns a reading's cells as a table, and how far they are off."""
    found = cells(reading)
    lines = [f"{'':<6}" + "".join(f"{method:>14}  printed    off" for method in METHODS)]
    for name in MODELS:
        parts = [
            f"{cell.mine:>14.2f}{cell.printed:>9.2f}{cell.off:>+7.1%}"
            for cell in found
            if cell.model == name
        ]
        lines.append(f"{name:<6}" + "".join(parts))
    exact = sum(cell.to_the_digit for cell in found)
    worst = largest_difference(reading)
    return "\n".join([*lines, f"{exact} of {len(found)} to the digit, the worst {worst:.1%} off"])


def room_for_rank(name: str, unit: str = "GiB") -> float:
    """Returns the rank for which a printed GaLore cell has room, once all else is paid.

    All else: the parameters, and whole moments of embedding, head and norms. Below 0 where not even
    that fits.

    Args:
        name: of the model, such as "60M".
        unit: what the G is taken for.
    """
    model, _ = MODELS[name]
    one = terms(model, 1, Reading(unit))
    per_rank = one["moments, projected"] + one["bases"]
    room = float(TABLE_2[name][1]) * UNITS[unit] / BF16
    return math.floor(10 * (room - sum(one.values()) + per_rank) / per_rank) / 10


def terms_text(name: str) -> str:
    """Returns the terms of the default reading for a model's GaLore cell, one line for each.

    Args:
        name: of the model, such as "350M".
    """
    model, rank = MODELS[name]
    return "\n".join(
        f"{term:<20}{size:>14,} numbers, {BF16 * size / GIB:.3f} GiB"
        for term, size in terms(model, rank, Reading()).items()
    )


def room_text() -> str:
    """Returns for every model the rank of the paper, and the one that its cell has room for."""
    lines = ["model   rank in the paper   room if GiB   room if GB"]
    for name, (_, rank) in MODELS.items():
        inside = [f"{room_for_rank(name, unit):.0f}" for unit in UNITS]
        lines.append(f"{name:<8}{rank:>17}{inside[0]:>14}{inside[1]:>13}")
    return "\n".join(lines)
