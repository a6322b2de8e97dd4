"""Measurements whose values nobody here has seen, and what was predicted of them.

They stand in `benchmarks/sealed/` of the checkout, which no installed package holds.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import gpu_course


def predictions_file() -> Path:
    """Returns benchmarks/sealed/predictions.toml of the checkout this package lies in."""
    return Path(gpu_course.__path__[0]).parent / "benchmarks" / "sealed" / "predictions.toml"


def predictions(file: Path | None = None) -> int | None:
    """Returns how many predictions are committed, None where there is no checkout to count in.

    Args:
        file: what `python -m benchmarks.sealed.predict` wrote; that of the checkout if left out.
    """
    file = file or predictions_file()
    if not file.is_file():
        return None
    return len(tomllib.loads(file.read_text(encoding="utf-8"))["row"])


def told(number: int | None) -> str:
    """Returns the end of the board in two lines, "" where there is nothing to say.

    >>> print(told(2))
    2 predictions of sealed measurements are committed, and scored
    when the values are opened: python -m benchmarks.sealed.score
    """
    if not number:
        return ""
    what = (
        "1 prediction of a sealed measurement is"
        if number == 1
        else (f"{number} predictions of sealed measurements are")
    )
    return (
        f"{what} committed, and scored\n"
        "when the values are opened: python -m benchmarks.sealed.score"
    )
