"""Whether a text holds the answer of a forecast: the printed digits, or what the model gives."""

from __future__ import annotations

import re

from gpu_course.claims.published import mine_text
from gpu_course.claims.row import Row


def leaked(text: str, row: Row) -> str:
    """Returns the digits of a forecast's answer that a text holds, "" for none.

    Short numbers stand everywhere: one of a single digit, or a whole number below 100, counts where
    its unit follows.
    """
    for digits in dict.fromkeys([row.printed, mine_text(row), *_rounded(row.mine)]):
        if re.search(digits_of(digits, row.unit), text):
            return digits
    return ""


def _rounded(value: float) -> list[str]:
    """A model's value in the forms a person writes it: with three digits, and with two."""
    whole = abs(value) >= 100
    return [f"{value:.0f}", f"{value:,.0f}"] if whole else [f"{value:.3g}", f"{value:.2g}"]


def digits_of(digits: str, unit: str) -> str:
    """Returns a pattern of a number as it may stand in a text, with its unit where it is short."""
    plain = digits.replace(",", "")
    forms = "|".join(sorted({re.escape(digits), re.escape(plain), re.escape(_grouped(plain))}))
    alone = rf"(?<![\d.,])(?:{forms})(?![\d]|[.,]\d)"
    significant = plain.replace(".", "").strip("0")
    short = len(significant) < 2 or ("." not in plain and len(plain) < 3)
    return alone + (rf"\s*{re.escape(unit)}" if short and unit else "")


def _grouped(plain: str) -> str:
    whole, point, rest = plain.partition(".")
    return f"{int(whole):,}{point}{rest}" if whole.isdigit() else plain
