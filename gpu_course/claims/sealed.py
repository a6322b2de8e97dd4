"""Measurements whose values were kept back, what was predicted of each, and what came out.

They stand in `benchmarks/sealed/` of the checkout, which no installed package holds: `rows.toml`
with inputs and seals, `predictions.toml`, and, once values are told, `opened.toml`. A prediction
that was missed stays.
"""

from __future__ import annotations

import csv
import hashlib
import statistics
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gpu_course

SEAL_DIGITS = 24
INPUTS = "_sealed_inputs.csv"
"""How the name of a file ends that has inputs of more rows, without lesson and seal."""
WHOLE_RUNS = 30
"""The lesson of those rows: steps of whole training runs."""
WIDTH = 70


@dataclass(frozen=True)
class Opened:
    """A value that was kept back.

    Attributes:
        id: of the row.
        value: as the file writes it.
        salt: what was hashed with it, so that nobody could try out values.
    """

    id: str
    value: str
    salt: str

    def fits(self, seal: str) -> bool:
        """Returns whether this is the value that was sealed.

        A whole number may have been written with a decimal point when it was sealed, or without.
        """
        spelled = {self.value, str(float(self.value)), f"{float(self.value):g}"}
        return seal in {seal_of(self.id, each, self.salt) for each in spelled}


@dataclass(frozen=True)
class Standing:
    """One prediction, and what has become of it.

    Attributes:
        id: of the row.
        lesson: the number of the lesson it belongs to.
        value: that was predicted, in the row's unit.
        margin: how far off it may be, as a part of the value.
        measured: the opened value; None while it is kept back.
        whole: whether that is the value which was sealed; None where the row came without a seal,
            and while it is kept back.
    """

    id: str
    lesson: int
    value: float
    margin: float
    measured: float | None = None
    whole: bool | None = None

    @property
    def off(self) -> float | None:
        """How far off what was measured is, as a part of the prediction; None while kept back."""
        return None if self.measured is None else self.measured / self.value - 1

    @property
    def inside(self) -> bool | None:
        """Whether the measured value lies within the margin; None while it is kept back."""
        # A hair of slack: 2.01 is half a percent from 2.00.
        return None if self.off is None else abs(self.off) <= self.margin * (1 + 1e-9)


@dataclass(frozen=True)
class Sealed:
    """All predictions of a folder.

    Attributes:
        standings: in the order of the predictions.
        unpredicted: opened rows that nobody predicted.
    """

    standings: tuple[Standing, ...]
    unpredicted: tuple[str, ...] = ()


def seal_of(name: str, value: str, salt: str) -> str:
    """Returns the seal of a value.

    >>> seal_of("a-row", "1.5", "x")
    '67b31a5283ac51f9308197c0'
    """
    return hashlib.sha256(f"{name}|{value}|{salt}".encode()).hexdigest()[:SEAL_DIGITS]


def opened(text: str) -> list[Opened]:
    """Returns the rows of a file of opened values, each value as it is written there."""
    rows = tomllib.loads(text, parse_float=str).get("row", [])
    return [Opened(row["id"], str(row["value"]), row["salt"]) for row in rows]


def folder() -> Path:
    """Returns benchmarks/sealed of the checkout this package lies in; it need not be there."""
    return Path(gpu_course.__path__[0]).parent / "benchmarks" / "sealed"


def sealed(where: Path | None = None) -> Sealed | None:
    """Returns every prediction and what has become of it; None where there is no checkout.

    Args:
        where: the folder of rows, predictions and opened values; that of the checkout if left out.

    Raises:
        tomllib.TOMLDecodeError: a file there is none.
    """
    where = folder() if where is None else where
    if not (where / "predictions.toml").is_file():
        return None
    rows = {row["id"]: row for row in _rows(where / "rows.toml")}
    lessons = dict.fromkeys(_inputs(where), WHOLE_RUNS)
    lessons |= {name: row["lesson"] for name, row in rows.items()}
    told = where / "opened.toml"
    values = {each.id: each for each in opened(_text(told))} if told.is_file() else {}
    found = []
    for own in _rows(where / "predictions.toml"):
        name, value = own["id"], values.get(own["id"])
        seal = rows.get(name, {}).get("seal")
        found.append(
            Standing(
                name,
                lessons.get(name, WHOLE_RUNS),
                own["value"],
                own["margin"],
                None if value is None else float(value.value),
                None if value is None or seal is None else value.fits(seal),
            )
        )
    known = {each.id for each in found}
    return Sealed(tuple(found), tuple(name for name in values if name not in known))


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _rows(file: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = tomllib.loads(_text(file))["row"] if file.is_file() else []
    return rows


def _inputs(where: Path) -> list[str]:
    """Returns the names of the rows in files of inputs: row 3 of vtrain_multi is vtrain-multi-3."""
    found = []
    for file in sorted(where.glob(f"*{INPUTS}")):
        kind = file.name.removesuffix(INPUTS).replace("_", "-")
        with file.open(encoding="utf-8", newline="") as lines:
            found += [f"{kind}-{line['row']}" for line in csv.DictReader(lines)]
    return found


def told(found: Sealed | None) -> str:
    """Returns what the board says of sealed measurements, "" where there is nothing to say.

    >>> print(told(Sealed((Standing("a", 4, 2.0, 0.01), Standing("b", 30, 5.0, 0.2, 6.1, True)))))
    Sealed. Predicted while the values were kept back, and never changed.
                predicted  opened  inside  outside  median margin  widest
      lesson 04         1       0       0        0            1 %     1 %
      lesson 30         1       1       0        1           20 %    20 %
      all               2       1       0        1           11 %    20 %
      outside: b: 5 predicted, 6.1 measured, +22 %, margin 20 %
    """
    if found is None or not (found.standings or found.unpredicted):
        return ""
    lines = [
        "Sealed. Predicted while the values were kept back, and never changed.",
        f"{'':12}predicted  opened  inside  outside  median margin  widest",
    ]
    lessons = sorted({each.lesson for each in found.standings})
    groups = {f"lesson {n:02}": [e for e in found.standings if e.lesson == n] for n in lessons}
    for name, group in (groups | {"all": list(found.standings)}).items():
        if group:
            lines.append(f"  {name:<10}{_counted(group)}")
    lines += [f"  outside: {_missed(each)}" for each in found.standings if each.inside is False]
    lines += [
        f"  broken seal: {each.id}: this is not the value that was sealed"
        for each in found.standings
        if each.whole is False
    ]
    lines += [f"  no prediction: {name}" for name in found.unpredicted]
    return "\n".join(lines)


def _counted(group: Sequence[Standing]) -> str:
    number = sum(each.measured is not None for each in group)
    inside, outside = (sum(each.inside is verdict for each in group) for verdict in (True, False))
    margins = [each.margin for each in group]
    return (
        f"{len(group):>9}{number:>8}{inside:>8}{outside:>9}"
        f"{_percent(statistics.median(margins)):>15}{_percent(max(margins)):>8}"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _missed(each: Standing) -> str:
    off = each.off or 0.0
    return (
        f"{each.id}: {each.value:g} predicted, {each.measured:g} measured, "
        f"{100 * off:+.0f} %, margin {_percent(each.margin)}"
    )


def to_json(found: Sealed | None) -> list[dict[str, object]] | None:
    """Returns every prediction as plain data, None where there is no checkout."""
    if found is None:
        return None
    return [
        {
            "id": each.id,
            "lesson": each.lesson,
            "predicted": each.value,
            "margin": each.margin,
            "measured": each.measured,
            "inside": each.inside,
            "seal_whole": each.whole,
        }
        for each in found.standings
    ]
