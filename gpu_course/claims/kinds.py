"""What it says when a published number agrees with ours, and how far off ours may be.

How far is settled here, before a value is looked at: by what kind of claim a row makes, and by what
its model predicts. A row has no number of its own for it. What a source states itself, its rounding
and its spread, stands beside the row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What kind of claim a row makes; the weakest first.

    An identity cannot differ: the same few bytes times the same count. A formula's digits were
    worked out by the source from a formula that we use as well: agreement says that both read it
    alike. Again is a measurement that the source quotes twice, or in another unit. A model that was
    fitted to a number, or whose rule was found in it, is not tested by it. A floor and a ceiling
    leave something out that can only err in one direction: nothing but the direction can
    fail. What is scaled takes another measurement of the same source and says what a change does to
    it. A prediction has seen no measurement of its kind.
    """

    identity = "identity"
    formula = "formula"
    again = "again"
    fitted = "fitted"
    floor = "floor"
    ceiling = "ceiling"
    scaled = "scaled"
    prediction = "prediction"


SAID = {
    Kind.identity: "by definition, which cannot differ",
    Kind.formula: "worked out by the source from the same formula",
    Kind.again: "the source's own measurement, quoted again or converted",
    Kind.fitted: "what our model was made from, so no test of it",
    Kind.floor: "a floor, so what was measured must lie above it",
    Kind.ceiling: "a ceiling, so what was measured must lie below it",
    Kind.scaled: "scaled from another measurement of the source",
    Kind.prediction: "predicted, with no measurement of its kind in sight",
}
"""Each kind in a few words, as they stand above its rows."""

SHORT = {
    Kind.identity: "by definition",
    Kind.formula: "same formula",
    Kind.again: "quoted again, converted",
    Kind.fitted: "fitted",
    Kind.floor: "bounds: floors",
    Kind.ceiling: "bounds: ceilings",
    Kind.scaled: "scaled",
    Kind.prediction: "predicted",
}
"""The same as names in a table."""

BOUNDS = frozenset({Kind.floor, Kind.ceiling})
"""Where only the direction can fail."""


@dataclass(frozen=True)
class Margin:
    """How far off a number may be, beside the rounding of printed digits.

    Attributes:
        share: of our number, such as 0.15; 0 where nothing but rounding may lie between.
        reason: why so far, in one sentence that knows no value.
    """

    share: float
    reason: str


EXACT = Margin(0.0, "Both sides count the same: nothing but rounding lies between.")

MARGINS: Mapping[Kind, Margin] = {
    Kind.identity: EXACT,
    Kind.formula: EXACT,
    Kind.again: EXACT,
    Kind.fitted: EXACT,
    Kind.floor: Margin(0.0, "A bound is either kept or not."),
    Kind.ceiling: Margin(0.0, "A bound is either kept or not."),
    Kind.scaled: Margin(
        0.10,
        "Two runs are in it, and one of untold spread may well be 5 % off.",
    ),
}
"""For every kind but a prediction, whose margin depends on what is predicted."""

PREDICTED: Mapping[str, Margin] = {
    "count": Margin(0.0, "A count of whole things is right or wrong."),
    "rate": Margin(
        0.15,
        "A count of the work alone, of which good kernels reach 85 % or more.",
    ),
    "memory": Margin(
        0.10,
        "Tensors are counted, and an allocator keeps more than it is asked for.",
    ),
}
"""What a model may say that it predicts: `@model("rate")`."""

FORMER = ("measurement",)
"""Kinds of earlier days, each of which stood for several of today's."""
