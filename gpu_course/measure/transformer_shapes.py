"""Shapes of transformers: how many parameters, how many FLOP, and in which part of the model.

A count of whole numbers, exact to the last bias. FLOP are those of matrix products, a product and
an addition being two; norms, activations, the softmax and the optimizer are left out, as all
published counts leave them out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from gpu_course.errors import CourseError

NORMS = {"layer": 2, "rms": 1}
"""A norm -> numbers that it learns for each of the hidden ones: a scale and a shift, or a scale."""

AGAIN = {"none": (0, 0), "attention": (0, 1), "layers": (1, 1)}
"""What runs forward once more -> how often the products with weights do, and those of attention."""


@dataclass(frozen=True)
class Transformer:
    """The shape of a decoder: embedding, layers of attention and MLP, a last norm, a head.

    Attributes:
        layers: how many.
        hidden: numbers in a token's vector (h).
        heads: of the queries (a).
        kv_heads: of keys and values, each shared by heads / kv_heads of the queries; 0 for as many
            as heads.
        head_size: numbers in a head; 0 for hidden / heads.
        mlp: numbers inside the MLP, or inside each expert; 0 for 4 x hidden.
        gated: True for three matrices (gate, up, down), False for two (up, down).
        experts: MLPs of a layer among which a router chooses; 0 for one MLP and no router.
        top_k: experts that each token goes through.
        vocabulary: rows of the embedding (V).
        positions: rows of a learned table of positions; 0 where positions are rotated.
        tied: True where one table serves as embedding and as head.
        qkv_bias: True where queries, keys and values have a bias.
        bias: True where the other products of a layer have one; the head and a router have none.
        norm: "layer" for a scale and a shift, "rms" for a scale.
        norms: of each layer; there is one more behind the last layer.

    Raises:
        CourseError: the numbers do not fit together; the message says which.
    """

    layers: int
    hidden: int
    heads: int
    kv_heads: int = 0
    head_size: int = 0
    mlp: int = 0
    gated: bool = False
    experts: int = 0
    top_k: int = 0
    vocabulary: int = 50257
    positions: int = 0
    tied: bool = False
    qkv_bias: bool = False
    bias: bool = False
    norm: str = "layer"
    norms: int = 2

    def __post_init__(self) -> None:
        for name in ("layers", "hidden", "heads", "vocabulary"):
            self._whole(name, least=1)
        for name in ("kv_heads", "head_size", "mlp", "experts", "top_k", "positions", "norms"):
            self._whole(name, least=0)
        if not self.head_size and self.hidden % self.heads:
            raise CourseError(
                f"{self.heads} heads do not divide {self.hidden} hidden numbers",
                "choose heads that divide hidden, or say head_size",
            )
        if self.heads % (self.kv_heads or self.heads):
            raise CourseError(
                f"{self.kv_heads} KV heads do not divide {self.heads} heads",
                "each KV head serves as many heads as any other",
            )
        if bool(self.experts) != bool(self.top_k) or self.top_k > self.experts:
            raise CourseError(
                f"a token goes through {self.top_k} of {self.experts} experts",
                "top_k is from 1 to experts, and both are 0 where there is one MLP",
            )
        if self.norm not in NORMS:
            raise CourseError(
                f"no norm is called {self.norm!r}", f"choose {' or '.join(map(repr, NORMS))}"
            )

    def _whole(self, name: str, least: int) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise CourseError(
                f"{name} is {value!r}", f"{name} is a whole number of {least} or more"
            )

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Transformer:
        """Returns the shape for plain values by their names.

        Raises:
            CourseError: a name is unknown or missing, or the numbers do not fit together.
        """
        known = [each.name for each in fields(cls)]
        if odd := sorted(config.keys() - set(known)):
            raise CourseError(f"no shape has {', '.join(odd)}", f"it has {', '.join(known)}")
        if missing := [name for name in ("layers", "hidden", "heads") if name not in config]:
            are = "is" if len(missing) == 1 else "are"
            raise CourseError(f"{', '.join(missing)} {are} missing", "say how many")
        return cls(**config)

    @property
    def queries(self) -> int:
        """Numbers in the queries of a token, all heads together."""
        return self.heads * (self.head_size or self.hidden // self.heads)

    @property
    def keys(self) -> int:
        """Numbers in the keys of a token, and as many in its values."""
        return self.queries // self.heads * (self.kv_heads or self.heads)

    @property
    def inside(self) -> int:
        """Numbers inside the MLP."""
        return self.mlp or 4 * self.hidden

    @property
    def attention_weights(self) -> int:
        """Numbers in one layer's matrices for Q, K, V and the output."""
        return self.hidden * (2 * self.queries + 2 * self.keys)

    @property
    def mlp_weights(self) -> int:
        """Numbers in the matrices of one MLP, or of one expert."""
        return (3 if self.gated else 2) * self.hidden * self.inside

    @property
    def router_weights(self) -> int:
        """Numbers in one layer's router."""
        return self.hidden * self.experts

    @property
    def table(self) -> int:
        """Numbers in the embedding."""
        return self.vocabulary * self.hidden

    def parts(self, *, active: bool = False) -> dict[str, int]:
        """Returns how many parameters are in each part of the model.

        Args:
            active: True for those that one token goes through: top_k of the experts. The tables
                count as a whole, as published counts have it.

        >>> Transformer(layers=12, hidden=768, heads=12, positions=1024, tied=True, qkv_bias=True,
        ...     bias=True).parts()["attention"]
        28311552
        """
        mlps = (self.top_k if active else self.experts) or 1
        up = 2 if self.gated else 1
        biases = (self.queries + 2 * self.keys) * self.qkv_bias
        biases += (self.hidden + mlps * (up * self.inside + self.hidden)) * self.bias
        return {
            "embedding": self.table,
            "positions": self.positions * self.hidden,
            "attention": self.layers * self.attention_weights,
            "MLP": self.layers * mlps * self.mlp_weights,
            "router": self.layers * self.router_weights,
            "biases": self.layers * biases,
            "norms": (self.layers * self.norms + 1) * NORMS[self.norm] * self.hidden,
            "head": 0 if self.tied else self.table,
        }

    @property
    def parameters(self) -> int:
        """All parameters.

        >>> Transformer(layers=12, hidden=768, heads=12, positions=1024, tied=True, qkv_bias=True,
        ...     bias=True).parameters
        124439808
        """
        return sum(self.parts().values())

    @property
    def active(self) -> int:
        """The parameters that one token goes through."""
        return sum(self.parts(active=True).values())

    def forward_flop(self, sequence: int) -> dict[str, int]:
        """Returns the FLOP of a forward pass for each token, in each part of the model.

        Every token meets every other of its sequence, also those that a causal mask then hides:
        so the published formulas count, and so do PyTorch's kernels without a fused attention.

        Args:
            sequence: tokens in a sequence (s).

        Raises:
            CourseError: no whole number of tokens.
        """
        if isinstance(sequence, bool) or not isinstance(sequence, int) or sequence < 1:
            raise CourseError(
                f"a sequence of {sequence!r} tokens", "a sequence has a whole number, 1 or more"
            )
        return {
            "attention": 2 * self.layers * self.attention_weights,
            "scores": 4 * self.layers * self.queries * sequence,
            "MLP": 2 * self.layers * (self.top_k or 1) * self.mlp_weights,
            "router": 2 * self.layers * self.router_weights,
            "head": 2 * self.table,
        }

    def training_flop(self, sequence: int, again: str = "none") -> tuple[int, int]:
        """Returns the FLOP of a training step for each token: (the model's, those that run).

        The backward pass of a product is two products of its size. What runs forward once more for
        the backward pass is work of the machine that the model does not ask for.

        Args:
            sequence: tokens in a sequence.
            again: what runs forward once more: "none"; "attention", the two products with all pairs
                of tokens; or "layers", all that the layers do, but not the head.

        Raises:
            CourseError: another word for `again`, or no whole number of tokens.

        >>> gpt = Transformer(layers=2, hidden=64, heads=4, vocabulary=128)
        >>> gpt.training_flop(32)
        (688128, 688128)
        """
        if again not in AGAIN:
            raise CourseError(
                f"nothing is known of {again!r} that runs again", f"choose {', '.join(AGAIN)}"
            )
        forward = self.forward_flop(sequence)
        weights, pairs = AGAIN[again]
        in_layers = sum(forward.values()) - forward["head"] - forward["scores"]
        model = 3 * sum(forward.values())
        return model, model + weights * in_layers + pairs * forward["scores"]


def utilisation(flop_per_token: float, tokens_per_s: float, chips: int, peak: float) -> float:
    """Returns which share of what the chips could do at most a run does: 0.4 for 40 %.

    Args:
        flop_per_token: the model's alone for MFU, those that run for HFU.
        tokens_per_s: of all chips together.
        chips: how many.
        peak: FLOP/s of one chip.

    Raises:
        CourseError: a number is none, not finite or negative, or there are no chips or no peak.

    >>> round(utilisation(6 * 70e9, 1e6, 1024, 989.5e12), 3)
    0.415
    """
    given = {
        "flop_per_token": flop_per_token,
        "tokens_per_s": tokens_per_s,
        "chips": chips,
        "peak": peak,
    }
    for name, value in given.items():
        least = "above 0" if name in ("chips", "peak") else "0 or more"
        good = not math.isnan(value) and math.isfinite(value) and value >= 0
        if not good or (value == 0 and least == "above 0"):
            raise CourseError(f"{name} is {value!r}", f"{name} is a finite number, {least}")
    return flop_per_token * tokens_per_s / (chips * peak)


def training_days(flop_per_token: float, tokens: float, chips: int, rate: float) -> float:
    """Returns the days that a run takes.

    Args:
        flop_per_token: of a training step; the same FLOP that the rate counts.
        tokens: of the whole run.
        chips: how many.
        rate: FLOP/s that each of them reaches.

    Raises:
        CourseError: as for `utilisation`.

    >>> round(training_days(6 * 70e9, 15e12, 8960, 0.4 * 4.59e14))
    44
    """
    utilisation(flop_per_token, tokens, chips, rate)  # refuses what is no number
    return flop_per_token * tokens / (chips * rate) / 86_400
