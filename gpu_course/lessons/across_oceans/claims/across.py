"""Models of this lesson's published numbers: exchanges, smaller models, attention."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.lessons.across_oceans import scaling


@model()
def exchanges_saved(h: float) -> float:
    """Returns how many times fewer exchanges there are with one in h steps."""
    return h


@model()
def smaller_overhead_percent(k_n: float, alpha: float, beta: float) -> float:
    """Returns what a model of k_n times the best size computes more, in %."""
    return scaling.overhead_percent(k_n, alpha, beta)


@model()
def smaller_billion_parameters(
    k_n: float, flop_exponent: float, alpha: float, beta: float
) -> float:
    """Returns k_n times the parameters of the lowest loss for 10**flop_exponent FLOP."""
    parameters, _ = scaling.optimum(10**flop_exponent, alpha, beta)
    return k_n * parameters / scaling.BILLION


@model()
def smaller_billion_tokens(k_n: float, flop_exponent: float, alpha: float, beta: float) -> float:
    """Returns the tokens with which a model k_n times the best size reaches the same loss."""
    _, tokens = scaling.optimum(10**flop_exponent, alpha, beta)
    return scaling.tokens_factor(k_n, alpha, beta) * tokens / scaling.BILLION


@model()
def attention_over_matrices_percent(tokens: float, hidden: float) -> float:
    """Returns the FLOP of causal attention over those of all matrices of a layer, in %.

    A token sees (s + 1) / 2 others on average: 6 h (s + 1) FLOP of training, against 72 h^2.
    """
    return 100 * 6 * hidden * (tokens + 1) / (72 * hidden**2)
