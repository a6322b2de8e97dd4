"""What crosses an axis: for each step of the forward pass, what the backward pass does in return.

All of them work along the first dimension. A group of None is one rank, and nothing is sent.

Sources: Shoeybi and others 2019 (Copied is their f, Summed their g); Korthikanti and others 2022,
section 4.2.2 (Gathered and Scattered); Zhao and others 2023, PyTorch FSDP (Unsharded).
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

Group = Any
"""A process group, or None for one rank alone."""


def all_reduced(x: Tensor, group: Group) -> Tensor:
    """Returns the sum over a group."""
    if group is None:
        return x
    found = x.clone(memory_format=torch.contiguous_format)
    dist.all_reduce(found, group=group)
    return found


def all_gathered(x: Tensor, group: Group) -> Tensor:
    """Returns the rows of all ranks of a group, one after the other."""
    if group is None:
        return x
    whole = x.new_empty(group.size() * x.shape[0], *x.shape[1:])
    dist.all_gather_single(whole, x.contiguous(), group=group)
    return whole


def reduce_scattered(x: Tensor, group: Group) -> Tensor:
    """Returns this rank's rows of the sum over a group."""
    if group is None:
        return x
    own = x.new_empty(x.shape[0] // group.size(), *x.shape[1:])
    dist.reduce_scatter_single(own, x.contiguous(), group=group)
    return own


def exchanged(x: Tensor, group: Group) -> Tensor:
    """Returns the k-th part of each rank of a group, on its rank k."""
    if group is None:
        return x
    found = torch.empty_like(x, memory_format=torch.contiguous_format)
    dist.all_to_all_single(found, x.contiguous(), group=group)
    return found


class Copied(torch.autograd.Function):
    """The same on all ranks forward; backward the sum of what they made of it."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, None]:
        return all_reduced(dy, ctx.group), None


class Summed(torch.autograd.Function):
    """The sum over ranks forward; backward the same gradient for each."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        return all_reduced(x, group)

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, None]:
        return dy, None


class Gathered(torch.autograd.Function):
    """The rows of all ranks forward; backward the sum of what they made of this rank's."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        ctx.group = group
        return all_gathered(x, group)

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, None]:
        return reduce_scattered(dy, ctx.group), None


class Scattered(torch.autograd.Function):
    """This rank's rows of the sum forward; backward the gradients of all rows."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        ctx.group = group
        return reduce_scattered(x, group)

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, None]:
        return all_gathered(dy, ctx.group), None


class Exchanged(torch.autograd.Function):
    """Part k of every rank to rank k forward; backward the same way back."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        ctx.group = group
        return exchanged(x, group)

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, None]:
        return exchanged(dy, ctx.group), None


class Home:
    """Where a weight is whole between its gathering and its freeing, for one use of it.

    Args:
        shard: this rank's slice.
        shape: of the weight when it is whole.
        group: the ranks that have the slices.
    """

    def __init__(self, shard: Tensor, shape: tuple[int, ...], group: Group) -> None:
        self.shard, self.shape, self.group = shard.detach(), shape, group
        self.flat = shard.new_empty(group.size() * len(shard))
        self.bytes = self.flat.untyped_storage().nbytes()

    def fill(self) -> Tensor:
        """Gathers the weight, and returns it whole."""
        self.flat.untyped_storage().resize_(self.bytes)
        # .data, since autograd may keep a view for the backward pass: what it will find there is
        # what it saw.
        dist.all_gather_single(self.flat.data, self.shard, group=self.group)
        return self.flat[: torch.Size(self.shape).numel()].view(self.shape)

    def free(self) -> None:
        """Gives the memory back; views of it stay, and must not be read."""
        self.flat.untyped_storage().resize_(0)


class Unsharded(torch.autograd.Function):
    """A weight from its slices forward; backward this rank's slice of the summed gradient."""

    @staticmethod
    def forward(ctx: Any, shard: Tensor, home: Home) -> Tensor:
        ctx.home = home
        return home.fill()

    @staticmethod
    def backward(ctx: Any, dw: Tensor) -> tuple[Tensor, None]:
        home: Home = ctx.home
        home.free()
        whole = dw.new_zeros(home.group.size() * len(home.shard))
        whole[: dw.numel()] = dw.flatten()
        return reduce_scattered(whole, home.group), None


class BeforeBackward(torch.autograd.Function):
    """Nothing forward; backward it gathers weights once more, before they are used."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, homes: list[Home]) -> Tensor:
        ctx.homes = homes
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, None]:
        for home in ctx.homes:
            home.fill()
        return dy, None
