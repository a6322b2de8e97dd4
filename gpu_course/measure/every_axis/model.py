"""A stage of the GPT on one rank. Tokens come first: activations are (tokens, sequences, hidden).

Sources: Shoeybi and others 2019 (heads and the inside of an MLP cut); Korthikanti and others 2022
(tokens cut in between); Llama Team 2024, section 3.3.2 (keys and values gathered over cp); Lepikhin
and others 2020, GShard (experts in buffers of fixed size, here with room for every token).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from gpu_course.measure.every_axis import passes
from gpu_course.measure.every_axis.configuration import Configuration, Shape
from gpu_course.measure.every_axis.passes import (
    BeforeBackward,
    Copied,
    Exchanged,
    Gathered,
    Home,
    Scattered,
    Summed,
    Unsharded,
)

Weights = dict[str, Tensor]
_Apply = Callable[..., Any]


class Stage(nn.Module):
    """The layers of one stage, as far as one rank has them.

    Args:
        configuration: how the model is cut.
        shape: of the model.
        place: of this rank on each axis.
        own: {(layer, name): weight}, slices of them with ZeRO-3.
        sides: {(layer, name): shape} of these weights, when no slice is cut from them.
        groups: of this rank, for each axis; None where it is alone there.
    """

    def __init__(
        self,
        configuration: Configuration,
        shape: Shape,
        place: Mapping[str, int],
        own: Mapping[tuple[int, str], Tensor],
        sides: Mapping[tuple[int, str], tuple[int, ...]],
        groups: Mapping[str, passes.Group],
    ) -> None:
        super().__init__()
        self.configuration, self.shape, self.place = configuration, shape, place
        self.own = {key: nn.Parameter(weight) for key, weight in own.items()}
        for (layer, name), weight in self.own.items():
            self.register_parameter(f"{name}_{layer}" if layer >= 0 else name, weight)
        self.sides, self.groups = sides, groups
        self.first, self.last = place["pp"] == 0, place["pp"] == configuration.pp - 1

    def forward(self, x: Tensor) -> Tensor:
        """Returns activations for activations; the first stage gets tokens, the last gives logits.

        Args:
            x: (tokens, sequences) of int64, or (tokens, sequences, hidden); of this rank.
        """
        if self.first:
            x = self.unit(-1, ("tokens", "places"), self.embed, x)
        for layer in sorted({layer for layer, _ in self.own if layer >= 0}):
            x = self.unit(layer, ("norm_attention", "qkv", "out"), self.attend, x)
            x = self.unit(layer, ("norm_mlp", "router", "up", "down"), self.think, x)
        return self.unit(-1, ("norm", "tokens"), self.predict, x) if self.last else x

    def unit(self, layer: int, names: tuple[str, ...], step: _Apply, x: Tensor) -> Tensor:
        """Returns what a step makes of x; with ZeRO-3 its weights are whole for that long."""
        if not self.configuration.zero3:
            return step({name: self.own[layer, name] for name in names}, x)  # type: ignore[no-any-return]
        homes = {
            name: Home(self.own[layer, name], self.sides[layer, name], self.groups["dp"])
            for name in names
        }
        weights = {name: _apply(Unsharded, self.own[layer, name], homes[name]) for name in names}
        y = _apply(BeforeBackward, step(weights, x), list(homes.values()))
        for home in homes.values():
            home.free()
        return y

    def embed(self, w: Weights, tokens: Tensor) -> Tensor:
        """Returns the vectors of this rank's tokens."""
        x = functional.embedding(tokens, w["tokens"])
        return x + w["places"][self.positions(own=True)][:, None]

    def attend(self, w: Weights, x: Tensor) -> Tensor:
        """Returns x with what its tokens take from those before them."""
        a = self.enter(_norm(x, w["norm_attention"]))
        q, k, v = torch.einsum("sbh,cadh->csbad", a, w["qkv"])
        k, v = _apply(Gathered, torch.stack([k, v], 1), self.groups["cp"]).unbind(1)
        scores = torch.einsum("sbad,tbad->bast", q, k) / q.shape[-1] ** 0.5
        later = self.positions()[:, None] < torch.arange(self.shape.sequence)
        shares = scores.masked_fill(later, -torch.inf).softmax(-1)
        mixed = torch.einsum("bast,tbad->sbad", shares, v)
        return x + self.leave(torch.einsum("sbad,adh->sbh", mixed, w["out"]))

    def think(self, w: Weights, x: Tensor) -> Tensor:
        """Returns x with what the experts chosen for each token make of it."""
        m = self.enter(_norm(x, w["norm_mlp"]))
        chances = (m @ w["router"].T).softmax(-1)  # (s, b, experts)
        chosen = torch.zeros_like(chances).scatter(-1, chances.topk(self.shape.top_k).indices, 1.0)
        gates = (chances * chosen).flatten(0, 1).T  # (experts, s b)
        # A place for every token with every expert; those not chosen send zeros.
        sent = m.flatten(0, 1) * chosen.flatten(0, 1).T[..., None]
        # (experts, s b, h) -> (own experts, ranks, s b, h)
        came = _apply(Exchanged, sent, self.groups["ep"])
        came = came.unflatten(0, (self.configuration.ep, -1)).transpose(0, 1)
        inside = functional.gelu(torch.einsum("erth,emh->ertm", came, w["up"]))
        made = torch.einsum("ertm,emh->erth", inside, w["down"]).transpose(0, 1).flatten(0, 1)
        back = _apply(Exchanged, made, self.groups["ep"])
        y = (gates[..., None] * back).sum(0).view_as(m)
        return x + self.leave(y)

    def predict(self, w: Weights, x: Tensor) -> Tensor:
        """Returns the logits of this rank's tokens."""
        return _norm(x, w["norm"]) @ w["tokens"].T

    def enter(self, x: Tensor) -> Tensor:
        """Returns what goes into weights that are cut over tp."""
        return _apply(Gathered if self.configuration.sp else Copied, x, self.groups["tp"])

    def leave(self, x: Tensor) -> Tensor:
        """Returns what comes out of weights that are cut over tp."""
        return _apply(Scattered if self.configuration.sp else Summed, x, self.groups["tp"])

    def positions(self, own: bool = False) -> Tensor:
        """Returns where in the sequence this rank's tokens are: in attention, or of its own."""
        return torch.arange(self.shape.sequence)[
            own_tokens(self.configuration, self.shape, self.place, own)
        ]


def own_tokens(
    configuration: Configuration, shape: Shape, place: Mapping[str, int], own: bool = True
) -> slice:
    """Returns which tokens of a sequence a place has; with sp, attention has those of all tp."""
    size = shape.sequence // configuration.cp
    begin = place["cp"] * size
    if own and configuration.sp:
        size //= configuration.tp
        begin += place["tp"] * size
    return slice(begin, begin + size)


def own_sequences(configuration: Configuration, shape: Shape, place: Mapping[str, int]) -> slice:
    """Returns which sequences of a batch a place has: dp and ep have their own."""
    size = shape.batch // (configuration.dp * configuration.ep)
    begin = (place["dp"] * configuration.ep + place["ep"]) * size
    return slice(begin, begin + size)


def _norm(x: Tensor, gain: Tensor) -> Tensor:
    return functional.layer_norm(x, gain.shape, gain)


def _apply(function: type[torch.autograd.Function], *arguments: Any) -> Tensor:
    found: Tensor = function.apply(*arguments)  # type: ignore[no-untyped-call]
    return found
