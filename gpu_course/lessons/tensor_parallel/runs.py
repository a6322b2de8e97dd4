"""What lesson 24 runs on ranks: one's own layers and products beside those that nobody cut."""

from __future__ import annotations

from types import ModuleType

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn.functional import gelu

from gpu_course.measure.model import Layer


def mlp_passes(answer: ModuleType, tokens: int, hidden: int, inner: int) -> list[bool]:
    """Returns whether an answer's parallel_mlp is the whole MLP: y, then each gradient.

    A barrier stands between the two passes.

    Args:
        answer: with `parallel_mlp`.
        tokens, hidden, inner: of the MLP.
    """
    ranks, rank = dist.get_world_size(), dist.get_rank()
    generator = torch.Generator().manual_seed(24)

    def drawn(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64) / shape[-1] ** 0.5

    def parts(x: Tensor, up: Tensor, up_bias: Tensor, down: Tensor, bias: Tensor) -> list[Tensor]:
        own = [each.tensor_split(ranks)[rank] for each in (up, up_bias)]
        return [x, *own, down.tensor_split(ranks, 1)[rank], bias]

    x, dy = drawn(tokens, hidden), drawn(tokens, hidden)
    given = [x, drawn(inner, hidden), drawn(inner), drawn(hidden, inner), drawn(hidden)]
    whole = [each.clone().requires_grad_() for each in given]
    part = [each.clone().requires_grad_() for each in parts(*given)]
    right = gelu(whole[0] @ whole[1].T + whole[2]) @ whole[3].T + whole[4]
    right.backward(dy)  # type: ignore[no-untyped-call]
    y = answer.parallel_mlp(*part)
    dist.barrier()
    y.backward(dy)
    cut = parts(*(_gradient(each) for each in whole))
    same = [torch.allclose(_gradient(p), g) for p, g in zip(part, cut, strict=True)]
    return [torch.allclose(y, right), *same]


def layer_passes(
    attention: ModuleType, mlp: ModuleType, tokens: int, hidden: int, heads: int
) -> list[bool]:
    """Returns whether a layer of two answers is the course's own: y, dx, and a part's gradient.

    A barrier stands between the two passes.

    Args:
        attention: an answer with `parallel_attention` and `cut_heads`.
        mlp: an answer with `parallel_mlp`.
        tokens, hidden, heads: of the layer.
    """
    ranks, rank = dist.get_world_size(), dist.get_rank()
    torch.manual_seed(24)
    whole = Layer(hidden, heads, dropout=0.0).double()
    for bias in (whole.attention.qkv.bias, whole.attention.out.bias):
        torch.nn.init.zeros_(bias)
    x = torch.randn(tokens, hidden, dtype=torch.float64, requires_grad=True)
    own = x.detach().clone().requires_grad_()
    weights = (whole.attention.qkv.weight.detach(), whole.attention.out.weight.detach())
    qkv, out = attention.cut_heads(*weights, heads, heads)
    up, down = whole.mlp.up, whole.mlp.down
    cut = [each.tensor_split(ranks)[rank] for each in (up.weight, up.bias)]
    cut += [down.weight.tensor_split(ranks, 1)[rank], down.bias]
    parts = [each.detach().clone().requires_grad_() for each in cut]

    right = whole(x[None])[0]
    width = hidden // heads
    y = own + attention.parallel_attention(whole.norm_attention(own), qkv, out, width, 1)
    y = y + mlp.parallel_mlp(whole.norm_mlp(y), *parts)
    dist.barrier()
    y.sum().backward()
    right.sum().backward()
    of_up = _gradient(up.weight).tensor_split(ranks)[rank]
    return [
        torch.allclose(y, right),
        torch.allclose(_gradient(own), _gradient(x)),
        torch.allclose(_gradient(parts[0]), of_up),
    ]


def product_of_ones(answer: ModuleType, rows: int, columns: int, m: int, k: int, n: int) -> bool:
    """Returns whether this rank's block of an answer's product of ones is right.

    Args:
        answer: with `summa`.
        rows, columns: of the grid.
        m, k, n: of the product.
    """
    i, j = divmod(dist.get_rank(), columns)
    widths = _even_parts(k, max(rows, columns))
    in_a = widths if columns > 1 else [k]
    in_b = widths if rows > 1 else [k]
    a = torch.ones(_even_parts(m, rows)[i], in_a[j], dtype=torch.float64)
    b = torch.ones(in_b[i], _even_parts(n, columns)[j], dtype=torch.float64)
    return bool((answer.summa(a, b, (rows, columns), widths) == k).all())


def _even_parts(length: int, parts: int) -> list[int]:
    """Returns the lengths that `Tensor.tensor_split` cuts."""
    return [len(part) for part in torch.arange(length).tensor_split(parts)]


def _gradient(x: Tensor) -> Tensor:
    assert x.grad is not None
    return x.grad
