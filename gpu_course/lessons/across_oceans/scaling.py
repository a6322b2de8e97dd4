"""How much more a smaller model costs to train to the same loss: Harm de Vries's trade-off.

The loss of N parameters and D tokens is E + A / N**alpha + B / D**beta, as Hoffmann and others fit
it. Of all pairs that cost C = 6 N D one has the lowest loss. A model k_N times that size reaches
the same loss with k_D times the tokens; nothing but alpha and beta decides k_D.

Source: https://www.harmdevries.com/post/model-size-vs-compute-overhead/
"""

from __future__ import annotations

import math
from dataclasses import dataclass

A, B = 406.4, 410.7
"""Of parameters and of tokens, in Hoffmann and others 2022, approach 3."""
PRINTED = (0.32, 0.28)
"""alpha and beta as the post prints them."""
BILLION = 1e9


def tokens_factor(k_n: float, alpha: float, beta: float) -> float:
    """Returns k_D, infinity where no number of tokens will do.

    Args:
        k_n: parameters, as a part of the optimum.
        alpha, beta: exponents of parameters and tokens.

    >>> tokens_factor(1.0, 0.32, 0.28)
    1.0
    """
    left = 1 - (k_n**-alpha - 1) * beta / alpha
    return left ** (-1 / beta) if left > 0 else math.inf


def overhead_percent(k_n: float, alpha: float, beta: float) -> float:
    """Returns what is computed beyond the optimum, in %.

    Args:
        k_n, alpha, beta: as for `tokens_factor`.
    """
    return 100 * (k_n * tokens_factor(k_n, alpha, beta) - 1)


def optimum(
    flop: float, alpha: float, beta: float, a: float = A, b: float = B
) -> tuple[float, float]:
    """Returns the parameters and tokens of the lowest loss for so many FLOP.

    Along 6 N D = flop one more part of log N is one less of log D, so where the loss is lowest
    alpha A / N ** alpha and beta B / D ** beta are alike.

    Args:
        flop: 6 N D.
        alpha, beta: as for `tokens_factor`.
        a, b: of parameters and of tokens.
    """
    g = (alpha * a / (beta * b)) ** (1 / (alpha + beta))
    parameters = g * (flop / 6) ** (beta / (alpha + beta))
    return parameters, flop / 6 / parameters


@dataclass(frozen=True)
class Cell:
    """A number that the post prints.

    Attributes:
        what: "overhead", "parameters" or "tokens".
        k_n: parameters, as a part of the optimum.
        printed: in %, or in billions.
        digit: one unit in its last place.
    """

    what: str
    k_n: float
    printed: float
    digit: float

    def found(self, alpha: float, beta: float, flop: float = 1e23) -> float:
        """Returns the same number by the formulas.

        Args:
            alpha, beta: as for `tokens_factor`.
            flop: of the table's row.
        """
        if self.what == "overhead":
            return overhead_percent(self.k_n, alpha, beta)
        parameters, tokens = optimum(flop, alpha, beta)
        if self.what == "parameters":
            return self.k_n * parameters / BILLION
        return tokens_factor(self.k_n, alpha, beta) * tokens / BILLION

    def agrees(self, alpha: float, beta: float) -> bool:
        """Returns whether less than a unit in the last place lies between, rounded or cut off."""
        return abs(self.found(alpha, beta) - self.printed) < self.digit
