"""Tokens per second and times that follow from FLOP alone, held against what was measured."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.lessons.counting.claims.reported import a100_peak
from gpu_course.lessons.counting.configs import GPT2_124M, GPT2_350M, MPT_SIDES, mpt
from gpu_course.lessons.counting.foundry import runs
from gpu_course.measure.transformer_shapes import Transformer

MODELS = {name: name for name in MPT_SIDES}
GPT2 = {"124M": GPT2_124M, "350M": GPT2_350M}
GPT2_TOKENS, GPT2_SEQUENCE, GPT2_GPUS = 524_288, 1024, 8


@model()
def rows_that_agree(within_percent: float) -> float:
    """Returns how many rows of the table have the MFU that follows from their tokens/s."""
    return sum(abs(100 * row.mfu() / row.mfu_percent - 1) <= within_percent / 100 for row in runs())


@model()
def rows_with_all_parameters() -> float:
    """Returns how many rows of the table have as many parameters as their shape has."""
    return sum(row.shape.parameters == row.parameters for row in runs())


@model()
def four_thirds(mfu_percent: float) -> float:
    """Returns HFU where all layers run forward twice, as the table counts it."""
    return mfu_percent * 4 / 3


def flop_of_token(shape: Transformer, sequence: int) -> int:
    """Returns 6N + 12LwT."""
    return 6 * shape.parameters + 12 * shape.layers * shape.queries * sequence


@model(model=MODELS)
def tokens_at_the_same_rate(
    model: str, sequence: float, tokens_at_512: float, again: bool
) -> float:
    """Returns tokens/s if the FLOP that run keep the rate that they have at 512 tokens.

    Args:
        model: of llm-foundry.
        sequence: tokens.
        tokens_at_512: tokens/s for sequences of 512.
        again: True where the layers run forward twice.
    """
    short, long = (flop_of_token(mpt(model, int(each)), int(each)) for each in (512, sequence))
    return tokens_at_512 * short / (long * (4 / 3 if again else 1))


@model()
def same_percent(percent: float) -> float:
    """Returns a utilisation that does not depend on how many GPUs there are."""
    return percent


@model()
def times_faster(times: float) -> float:
    """Returns how much faster a step is if all of it is."""
    return times


@model(model=GPT2)
def gpt2_floor_ms(model: Transformer) -> float:
    """Returns the milliseconds of a step at the data sheet's rate."""
    flop = flop_of_token(model, GPT2_SEQUENCE) * GPT2_TOKENS
    return 1000 * flop / (GPT2_GPUS * a100_peak())


@model()
def gpt2_scaled_ms(ms_of_124m: float) -> float:
    """Returns the milliseconds of the larger model's step at the rate of the smaller one's."""
    small, large = (flop_of_token(each, GPT2_SEQUENCE) for each in (GPT2_124M, GPT2_350M))
    return ms_of_124m * large / small


@model()
def minutes_of_steps(steps: float, ms: float) -> float:
    """Returns the minutes of as many steps."""
    return steps * ms / 1000 / 60
