"""Pipelines that somebody has run and measured: what F, I and W of a stage took, and of what model.

    PROFILES["1.5B, m=24"].costs         # times in ms, memory in microbatches of a stage
    PROFILES["1.5B, m=24"].kept          # the share of its activations that W needs, from the model

Source: Qi, Wan, Huang, Lin, "Zero Bubble Pipeline Parallelism" (arXiv 2401.10241): the times are
those it profiled on A100, the models those it ran; sequences of 1,024 tokens, no dropout kept. What
W needs is counted there: of F's s b (34 h + 5 a s), 32 s b h.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpu_course.measure.pipelines.timing import Costs

FLASH_BYTES = 34
"""Bytes per token, sample and channel that a layer leaves behind if no scores are kept."""


@dataclass(frozen=True)
class Profile:
    """One pipeline as it was measured.

    Attributes:
        ranks, microbatches: of the pipeline, one stage on each rank.
        forward_ms, input_ms, weight_ms: of a stage, for one microbatch.
        comm_ms: from the end of an action to when the next rank has its result.
        samples: in a microbatch.
        layers: on a rank; the first and the last rank have one less.
        hidden, heads, tokens: the model's width, its attention heads, and the length of a sequence.
    """

    ranks: int
    microbatches: int
    forward_ms: float
    input_ms: float
    weight_ms: float
    comm_ms: float
    samples: int
    layers: int
    hidden: int
    heads: int
    tokens: int = 1024

    @property
    def kept(self) -> float:
        """The share of a microbatch's activations that W needs, where scores are kept as well."""
        return 32 * self.hidden / (34 * self.hidden + 5 * self.heads * self.tokens)

    @property
    def kept_without_scores(self) -> float:
        """The same with fused attention, which works the scores out again."""
        return 32 / FLASH_BYTES

    @property
    def costs(self) -> Costs:
        """Times in ms, memory in microbatches of a stage."""
        return self.costs_keeping(self.kept)

    def costs_keeping(self, kept: float) -> Costs:
        """Returns the same costs with another share that W needs."""
        return Costs(self.forward_ms, self.input_ms, self.weight_ms, self.comm_ms, 1.0, kept)

    @property
    def stage_activation_bytes(self) -> int:
        """What one microbatch leaves behind in a rank's layers."""
        layer = self.samples * self.tokens * (34 * self.hidden + 5 * self.heads * self.tokens)
        return self.layers * layer

    @property
    def stage_parameters(self) -> int:
        """How many a rank's layers have, without biases and norms."""
        return self.layers * 12 * self.hidden**2

    def samples_per_gpu_s(self, cost_ms: float) -> float:
        """Returns the throughput of an iteration that takes so long.

        Args:
            cost_ms: of a rank, from its first start to its last end.
        """
        return 1000 * self.microbatches * self.samples / (self.ranks * cost_ms)


PROFILES = {
    "1.5B, m=24": Profile(8, 24, 18.522, 18.086, 9.337, 0.601, 6, 3, 2304, 24),
    "1.5B, m=32": Profile(8, 32, 18.513, 18.086, 9.331, 0.626, 6, 3, 2304, 24),
    "1.5B, m=64": Profile(8, 64, 18.546, 18.097, 9.321, 0.762, 6, 3, 2304, 24),
    "6.2B, m=24": Profile(8, 24, 29.718, 29.444, 19.927, 0.527, 3, 4, 4096, 32),
    "6.2B, m=32": Profile(8, 32, 29.802, 29.428, 19.530, 0.577, 3, 4, 4096, 32),
    "6.2B, m=64": Profile(8, 64, 29.935, 29.621, 19.388, 0.535, 3, 4, 4096, 32),
    "14.6B, m=48": Profile(16, 48, 11.347, 11.248, 8.132, 0.377, 1, 3, 5120, 40),
    "14.6B, m=64": Profile(16, 64, 11.307, 11.254, 8.101, 0.379, 1, 3, 5120, 40),
    "14.6B, m=128": Profile(16, 128, 11.325, 11.308, 8.109, 0.378, 1, 3, 5120, 40),
    "28.3B, m=96": Profile(32, 96, 10.419, 10.207, 7.715, 0.408, 1, 2, 6144, 48),
    "28.3B, m=128": Profile(32, 128, 10.408, 10.204, 7.703, 0.408, 1, 2, 6144, 48),
    "28.3B, m=256": Profile(32, 256, 10.402, 10.248, 7.698, 0.460, 1, 2, 6144, 48),
}
"""The model's size and the number of microbatches -> what was measured."""
