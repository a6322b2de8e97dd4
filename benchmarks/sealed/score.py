"""Opened values beside what was predicted: each seal is checked, each row is inside or outside.

    python -m benchmarks.sealed.score OPENED

OPENED is a TOML file with a `[[row]]` of `id`, `value` and `salt` for each value that is opened. It
ends with status 1 where a value is not the one that was sealed, or no such row was.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.sealed.predict import CLASSES, PREDICTIONS, ROWS, Prediction, class_of, read
from gpu_course.claims.sealed import Opened, opened, seal_of

__all__ = ["Opened", "Scored", "opened", "predictions", "score", "seal_of", "told"]


@dataclass(frozen=True)
class Scored:
    """One opened row: what was predicted, what was measured, and whether the seal is whole.

    `sealed` is None where the row came without a seal.
    """

    predicted: Prediction
    measured: float
    sealed: bool | None

    @property
    def off(self) -> float:
        """How far off the prediction is, as a part of the predicted value."""
        return self.measured / self.predicted.value - 1

    @property
    def inside(self) -> bool:
        """Whether the measured value lies within the margin that was given for it."""
        # A hair of slack: 2.01 is half a percent from 2.00.
        return abs(self.off) <= self.predicted.margin * (1 + 1e-9)


def predictions(path: Path = PREDICTIONS) -> dict[str, Prediction]:
    """Returns {row: its prediction} of a file that predict.py wrote."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["row"]
    return {
        row["id"]: Prediction(row["id"], row["value"], row["margin"], row["formula"])
        for row in rows
    }


def score(
    values: list[Opened], sealed: list[dict[str, Any]], predicted: dict[str, Prediction]
) -> tuple[list[Scored], list[str]]:
    """Returns what became of each prediction, and the opened rows that nobody predicted.

    Args:
        values: that were opened.
        sealed: rows with their seals, as rows.toml has them.
        predicted: by row.
    """
    seals = {row["id"]: row.get("seal") for row in sealed}

    def whole(each: Opened) -> bool | None:
        seal = seals.get(each.id, "")
        return None if seal is None else each.fits(seal)

    known = [each for each in values if each.id in predicted]
    scored = [Scored(predicted[each.id], float(each.value), whole(each)) for each in known]
    return scored, [each.id for each in values if each.id not in predicted]


def told(scored: list[Scored], unknown: list[str]) -> str:
    """Returns the score as text: a line for each class, and one for each row outside."""
    lines = []
    for kind in CLASSES:
        rows = [each for each in scored if class_of(each.predicted.id) == kind]
        if not rows:
            continue
        inside = sum(each.inside for each in rows)
        far = max(abs(each.off) for each in rows)
        lines.append(f"{kind}: {inside} of {len(rows)} inside; at most {far:.1%} off")
        lines += [f"  outside: {_line(each)}" for each in rows if not each.inside]
    lines += [f"broken seal: {each.predicted.id}" for each in scored if each.sealed is False]
    if bare := sum(each.sealed is None for each in scored):
        lines.append(
            f"{bare} came without a seal: nothing shows that their values are the old ones"
        )
    lines += [f"no prediction: {each}" for each in unknown]
    inside = sum(each.inside for each in scored)
    return "\n".join([*lines, f"{inside} of {len(scored)} predictions inside their margins"])


def _line(each: Scored) -> str:
    own = each.predicted
    return (
        f"{own.id}: {own.value:g} predicted, {each.measured:g} measured, "
        f"{each.off:+.1%} with a margin of {own.margin:.1%}"
    )


def main(
    values: Annotated[Path, typer.Argument(help="a file of opened values", exists=True)],
    rows: Annotated[Path, typer.Option(help="the rows with their seals", exists=True)] = ROWS,
    predicted: Annotated[Path, typer.Option(help="the predictions", exists=True)] = PREDICTIONS,
) -> None:
    """Checks the seals of opened values, and scores the predictions."""
    sealed = read(rows)
    scored, unknown = score(
        opened(values.read_text(encoding="utf-8")), sealed, predictions(predicted)
    )
    typer.echo(told(scored, unknown))
    if unknown or any(each.sealed is False for each in scored):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
