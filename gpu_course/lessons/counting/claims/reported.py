"""Parameters, rates and utilisation that papers and logs report of their own runs."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.hardware.datasheet import device
from gpu_course.lessons.counting.configs import BLOOM, LITGPT, MT_NLG, NEOX_20B
from gpu_course.measure.transformer_shapes import Transformer, training_days, utilisation
from gpu_course.units import GIGA, TERA

SEQUENCE = 2048
TPU_V5P = 4.59e14
"""FLOP/s of a chip, as the scaling book has it."""

SIX = 6
"""FLOP for each parameter and token: two forward, four backward."""


def flop_of(parameters: float, layers: float, width: float) -> float:
    """Returns 6N + 12LwT for sequences of 2,048 tokens."""
    return SIX * parameters + 12 * layers * width * SEQUENCE


@model()
def mfu_percent(
    parameters: float,
    layers: float,
    width: float,
    kilo_tokens_per_s: float,
    chips: float,
    peak: float,
) -> float:
    """Returns MFU of a run.

    Args:
        parameters: in 10^9.
        layers: 0 leaves the pairs of tokens out.
        width: of all heads together.
        kilo_tokens_per_s: thousands.
        chips: how many.
        peak: TFLOP/s of each.
    """
    flop = flop_of(parameters * GIGA, layers, width)
    return 100 * utilisation(flop, 1000 * kilo_tokens_per_s, int(chips), peak * TERA)


@model()
def palm_hfu_percent(
    parameters: float,
    layers: float,
    width: float,
    kilo_tokens_per_s: float,
    chips: float,
    peak: float,
) -> float:
    """Returns HFU: of a forward pass 3/4 of the products with weights, and all pairs, run again.

    Source: Chowdhery et al. 2022, section 4.
    """
    weights, pairs = flop_of(parameters * GIGA, 0, 0), flop_of(0, layers, width)
    flop = weights * (1 + 0.75 / 3) + pairs * (1 + 1 / 3)
    return 100 * utilisation(flop, 1000 * kilo_tokens_per_s, int(chips), peak * TERA)


@model()
def gopher_mfu_percent(steps_per_s: float) -> float:
    """Returns MFU of Gopher on 4,096 TPU v3: 80 layers, 128 heads of 128, 3,072 sequences."""
    flop = flop_of(280 * GIGA, 80, 128 * 128)
    return 100 * utilisation(flop, steps_per_s * 3072 * SEQUENCE, 4096, 123 * TERA)


@model()
def gpt3_mfu_percent(teraflops: float, peak: float) -> float:
    """Returns MFU of GPT-3 from the rate of its products with weights."""
    weights, pairs = flop_of(175 * GIGA, 0, 0), flop_of(0, 96, 12288)
    return 100 * teraflops * (weights + pairs) / weights / peak


def teraflops_of(shape: Transformer, sequences: int, seconds: float, gpus: float) -> float:
    """Returns what each GPU does where the layers run forward twice, in TFLOP/s."""
    flop = shape.training_flop(SEQUENCE, "layers")[1] * sequences * SEQUENCE
    return flop / (seconds * gpus) / TERA


@model()
def mt_nlg_teraflops(seconds: float, gpus: float) -> float:
    """Returns TFLOP/s of a GPU for steps of 1,920 sequences."""
    return teraflops_of(MT_NLG, 1920, seconds, gpus)


@model()
def bloom_teraflops(seconds: float) -> float:
    """Returns TFLOP/s of a GPU for steps of 2,048 sequences on 384 of them."""
    return teraflops_of(BLOOM, 2048, seconds, 384)


@model()
def neox_parameters(ranks: float) -> float:
    """Returns what the ranks that share each layer hold together.

    Each has for itself the norms, and the biases of the two products that end a layer's halves:
    they belong to no part of the cut.
    """
    shape = NEOX_20B
    own = shape.parts()["norms"] + 2 * shape.layers * shape.hidden
    return shape.parameters + (ranks - 1) * own


PARTS = {
    "MLP": ("MLP",),
    "attention": ("attention",),
    "tables": ("embedding", "head"),
    "all": tuple(LITGPT["Llama 3 70B"].parts()),
}


@model(part=PARTS)
def llama_70b_billions(part: tuple[str, ...]) -> float:
    """Returns parameters of LLaMA 3 70B, in 10^9."""
    parts = LITGPT["Llama 3 70B"].parts()
    return sum(parts[name] for name in part) / GIGA


@model()
def six_n(billions: float) -> float:
    """Returns FLOP for a token, in 10^11."""
    return SIX * billions * GIGA / 1e11


@model()
def six_nd(billions: float, trillion_tokens: float) -> float:
    """Returns FLOP of a run, in 10^24."""
    return SIX * billions * GIGA * trillion_tokens * TERA / 1e24


@model()
def book_days(chips: float, percent: float, days_in_a_unit: float) -> float:
    """Returns how long the book's run takes on TPU v5p, in days or in units of some."""
    days = training_days(SIX * 70 * GIGA, 15 * TERA, int(chips), percent / 100 * TPU_V5P)
    return days / days_in_a_unit


def a100_peak() -> float:
    """Returns FLOP/s of an A100's tensor cores, by the data sheet."""
    peak = device("A100").tensor_flop_per_s
    assert peak is not None
    return peak
