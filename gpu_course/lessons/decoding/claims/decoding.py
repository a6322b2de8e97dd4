"""Simple models of decoding, for what was measured of it: bytes, and what comes on top of them."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.claims.published import printed
from gpu_course.hardware.datasheet import DeviceCard, device
from gpu_course.lessons.decoding.costs import BITS_IN_A_BYTE, Cache
from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.units import GIB, GIGA, TERA

KILO, MILLI, MICRO = 1e3, 1e-3, 1e-6

SEVEN_B = Transformer(32, 4096, 32, mlp=11008, gated=True, vocabulary=32_000, norm="rms")
MODELS = {
    "Llama-2-7B": SEVEN_B,
    "Llama-2-70B": Transformer(
        80, 8192, 64, 8, mlp=28672, gated=True, vocabulary=32_000, norm="rms"
    ),
    "CodeLlama-34B": Transformer(
        48, 8192, 64, 8, mlp=22016, gated=True, vocabulary=32_000, norm="rms"
    ),
    "TinyLlama-1.1B": Transformer(
        22, 2048, 32, 4, mlp=5632, gated=True, vocabulary=32_000, norm="rms"
    ),
    "Llama-3.1-8B": Transformer(
        32, 4096, 32, 8, mlp=14336, gated=True, vocabulary=128_256, norm="rms"
    ),
    "Llama-3.2-1B": Transformer(
        16, 2048, 32, 8, mlp=8192, gated=True, vocabulary=128_256, norm="rms", tied=True
    ),
    "Llama-3.3-70B": Transformer(
        80, 8192, 64, 8, mlp=28672, gated=True, vocabulary=128_256, norm="rms"
    ),
}
"""Shapes by their names. Source: their config.json."""

CACHES = {
    "DeepSeek-V3": Cache(61, 128, 128, 128, latent=512, rotary=64),
    "Qwen2.5-72B": Cache(80, 64, 8, 128),
    "Llama-3.1-405B": Cache(126, 128, 8, 128),
}
CARDS = {name: device(name) for name in ("A100", "H100", "RTX 3090", "RTX 4090", "RTX 5090")}
HALF = 16


def read_bytes(shape: Transformer, bits: float = HALF, head_bits: float = 0.0) -> float:
    """Returns the bytes of weights that a token reads: all but the table of the tokens, of which
    it reads one row. A head that is tied to that table is read as a whole.

    Args:
        shape: of the model.
        bits: of a weight.
        head_bits: of the head's, where they are others.
    """
    parts = shape.parts()
    head = shape.table
    rest = sum(parts.values()) - parts["embedding"] - parts["head"]
    return (rest * bits + head * (head_bits or bits)) / BITS_IN_A_BYTE


def bandwidth_of(card: DeviceCard) -> float:
    """Returns the bytes/s of a data sheet."""
    found = card.bandwidth_bytes_per_s
    assert found is not None
    return found


# gpt-fast


@model(shape=MODELS)
def read_gb_per_s(shape: Transformer, tokens_per_s: float) -> float:
    """Returns GB/s of the weights that tokens read in 16 bits."""
    return tokens_per_s * read_bytes(shape) / GIGA


@model(shape=MODELS)
def each_gpu_gb_per_s(shape: Transformer, tokens_per_s: float, gpus: float) -> float:
    """Returns GB/s of each of several GPUs: its part of the matrices, and all of the rest."""
    parts = shape.parts()
    divided = parts["attention"] + parts["MLP"]
    whole = shape.parameters - divided
    return tokens_per_s * (divided / gpus + whole) * HALF / BITS_IN_A_BYTE / GIGA


@model("rate", shape=MODELS)
def reading_tokens_per_s(shape: Transformer, bits: float, gb_per_s: float) -> float:
    """Returns the tokens/s at which weights could be read."""
    return gb_per_s * GIGA / read_bytes(shape, bits)


@model()
def times_as_fast(measured: float, times: float) -> float:
    """Returns a rate so many times another."""
    return measured * times


@model()
def split_tokens_per_s(gpus: float, few: float, slow: float, many: float, fast: float) -> float:
    """Returns tokens/s on several GPUs: w / n + c, with w and c from two other numbers of them.

    Args:
        gpus: n.
        few, slow: a number of GPUs and its tokens/s.
        many, fast: another.

    >>> round(split_tokens_per_s(4, 1, 100, 2, 150), 1)
    200.0
    """
    divided = (1 / slow - 1 / fast) / (1 / few - 1 / many)
    fixed = 1 / slow - divided / few
    return 1 / (divided / gpus + fixed)


@model(first=MODELS, second=MODELS)
def by_bytes_tokens_per_s(first: Transformer, second: Transformer, measured: float) -> float:
    """Returns tokens/s of a second model at the bandwidth that a first one reached."""
    return measured * read_bytes(first) / read_bytes(second)


# AWQ


@model("rate", shape=MODELS)
def reading_ms(shape: Transformer, bits: float, head_bits: float, gb_per_s: float) -> float:
    """Returns the milliseconds in which a data sheet's bandwidth brings the weights."""
    return read_bytes(shape, bits, head_bits) / (gb_per_s * GIGA) / MILLI


@model()
def as_much_faster_ms(measured: float, before: float, after: float) -> float:
    """Returns the milliseconds if a model gains by fewer bits what another one gains."""
    return measured * after / before


# AutoAWQ


@model()
def faster_percent(one: float, other: float) -> float:
    """Returns by how many per cent one rate is above another."""
    return 100 * (one / other - 1)


@model()
def long_tokens_per_s(measured: float, weights_gb: float, token_kb: float, tokens: float) -> float:
    """Returns tokens/s with a cache that is read beside the weights.

    Args:
        measured: tokens/s with next to no cache.
        weights_gb: GB of the weights.
        token_kb: kB that the cache holds of a token.
        tokens: in the cache, in the mean of the run.
    """
    weights = weights_gb * GIGA
    return measured * weights / (weights + token_kb * KILO * tokens)


@model("memory")
def batch_gb(one: float, sequences: float, tokens: float, token_kb: float) -> float:
    """Returns the GB of a batch, from those of one sequence and the caches of the others."""
    return one + (sequences - 1) * tokens * token_kb * KILO / GIGA


# ExLlamaV2


@model(shape=MODELS)
def line_tokens_per_s(
    shape: Transformer, bits: float, few: float, fast: float, many: float, slow: float
) -> float:
    """Returns tokens/s by a line through two of Llama-2-7B's: so much for each layer, and so much
    for each bit of a weight.

    Args:
        shape: of the model that is asked for.
        bits: of its weights.
        few, fast: bits of a weight of Llama-2-7B, and its tokens/s.
        many, slow: other bits, and theirs.
    """
    bit_s = (1 / slow - 1 / fast) / (many - few)
    layer_s = (1 / fast - few * bit_s) / SEVEN_B.layers
    weights = read_bytes(shape) / read_bytes(SEVEN_B)
    return 1 / (shape.layers * layer_s + weights * bits * bit_s)


# llama.cpp

Q8_TOKENS_PER_S, Q8_GIB = 98.13, 6.67
"""An RTX 4090 with weights of 8 bits, by llama.cpp's pull request 4766."""


@model()
def by_size_tokens_per_s(measured: float, of_gib: float, to_gib: float) -> float:
    """Returns tokens/s with a file of another size, at the same bytes/s."""
    return measured * of_gib / to_gib


@model("rate")
def file_tokens_per_s(gb_per_s: float, gib: float) -> float:
    """Returns tokens/s at the share of the bandwidth that an RTX 4090 reached with 8 bits."""
    share = Q8_TOKENS_PER_S * Q8_GIB * GIB / bandwidth_of(CARDS["RTX 4090"])
    return share * gb_per_s * GIGA / (gib * GIB)


@model("rate", card=CARDS)
def card_tokens_per_s(card: DeviceCard, gib: float) -> float:
    """Returns the same for a card with a data sheet."""
    return file_tokens_per_s(bandwidth_of(card) / GIGA, gib)


# TensorRT-LLM


@model()
def in_proportion_to(measured: float, of: float, to: float) -> float:
    """Returns a rate that grows as something else does."""
    return measured * to / of


@model("rate", shape=MODELS)
def computing_tokens_per_s(
    shape: Transformer, prompt: float, output: float, gpus: float, tflop_per_s: float
) -> float:
    """Returns output tokens/s where arithmetic decides: prompts are multiplied with all weights,
    too."""
    flop = 2 * shape.parameters * (prompt + output) / output
    return gpus * tflop_per_s * TERA / flop


# whole models in one kernel

GAP_US = 1.3
"""Between two kernels of a graph on an H100. Source: Spector et al., Look Ma, No Bubbles."""


def copied_share() -> float:
    """Returns the share of an H100's bandwidth that a very large addition reached."""
    (row,) = (
        each
        for each in printed("Scaling book", "How to Think About GPUs, quiz 1, question 7")
        if each.arguments["length"] == 2**30
    )
    return 12 * 2**30 / (row.published * MILLI) / bandwidth_of(CARDS["H100"])


@model("rate")
def whole_percent() -> float:
    """Returns the per cent of an H100's bandwidth that a kernel without gaps might reach: as much
    as a large addition."""
    return 100 * copied_share()


@model("rate", shape=MODELS)
def gaps_percent(shape: Transformer, kernels: float) -> float:
    """Returns the per cent of an H100's bandwidth that is left between the kernels of a graph.

    Args:
        shape: of the model, its weights in 16 bits.
        kernels: of a layer.
    """
    bandwidth = bandwidth_of(CARDS["H100"])
    work_s = read_bytes(shape) / bandwidth
    gaps_s = shape.layers * kernels * GAP_US * MICRO
    return 100 * work_s / (work_s / copied_share() + gaps_s)


# caches


@model(cache=CACHES)
def token_kb(cache: Cache) -> float:
    """Returns the kB that a cache keeps of a token in 16 bits."""
    return cache.token_bytes / KILO


# Shazeer

HEADS, WIDTH, TOKENS = 8, 1024, 128
"""Of the translation model: heads, hidden numbers, tokens of a sentence."""


def bytes_for_each_flop(kv_heads: int, sequences: float) -> float:
    """Returns memory over arithmetic of a decoding step: n / d and 1 / b of the paper, without the
    constants.

    Args:
        kv_heads: HEADS or 1.
        sequences: of the batch (b).
    """
    cache = TOKENS / WIDTH * kv_heads / HEADS
    own = 0.0 if kv_heads == HEADS else 1 / WIDTH
    return own + cache + 1 / sequences


@model()
def all_heads_us(measured: float, sequences: float) -> float:
    """Returns the microseconds with as many KV heads as heads, from those with one."""
    return measured * bytes_for_each_flop(HEADS, sequences) / bytes_for_each_flop(1, sequences)


@model()
def beams_us(measured: float, beams: float) -> float:
    """Returns the microseconds of a token if each beam costs as much as a sentence."""
    return measured * beams


@model()
def same_products_us(measured: float) -> float:
    """Returns the microseconds where all products are as large as they were."""
    return measured
