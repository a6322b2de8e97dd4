"""Steps of training taken apart: a loader, an idle GPU, attention and the rest of a model."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.hardware.datasheet import DeviceCard, device

CARDS = {name: device(name) for name in ("H200", "B200")}


@model()
def loader_step_s(in_line_s: float, one_worker_s: float, workers: float) -> float:
    """Returns a step's seconds with workers that share the loading and hide it behind the compute.

    Without a worker a step loads and then computes. With one it takes the longer of the two, which
    is the loading where it lasts longer; what is left of the first number is the compute.
    """
    compute_s = in_line_s - one_worker_s
    return max(compute_s, one_worker_s / workers)


@model()
def idle_percent(busy_us: float, wait_ms: float) -> float:
    """Returns the share of a wait in which the GPU had nothing to do."""
    return 100 * (1 - busy_us / (1000 * wait_ms))


@model("rate")
def attention_percent(tokens: float) -> float:
    """Returns attention's share of the FLOP of Llama 3.1 8B, under a causal mask.

    Per token a forward pass has 2 N FLOP in N weights, and in each layer 2 s h of a causal
    attention over s tokens: two products, over half of them on average.
    """
    layers, hidden, heads_kv, vocabulary, wide = 32, 4096, 1024, 128_256, 14_336
    weights = layers * (2 * hidden**2 + 2 * hidden * heads_kv + 3 * hidden * wide)
    weights += hidden * vocabulary  # the output's; the input's are looked up
    attention = layers * hidden * tokens
    return 100 * attention / (weights + attention)


@model()
def blended_speedup(share: float, of_it: float, of_the_rest: float) -> float:
    """Returns how much faster a step gets whose parts get faster by themselves (Amdahl)."""
    return 1 / (share / of_it + (1 - share) / of_the_rest)


@model("rate", old=CARDS, new=CARDS)
def bandwidth_ratio(old: DeviceCard, new: DeviceCard) -> float:
    """Returns how much faster a card moves bytes than another, by the data sheets."""
    assert old.bandwidth_bytes_per_s and new.bandwidth_bytes_per_s
    return new.bandwidth_bytes_per_s / old.bandwidth_bytes_per_s
