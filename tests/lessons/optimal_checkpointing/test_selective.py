"""Selective plans on real layers: bytes and FLOP of any choice are those of the formula."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from gpu_course.lessons.optimal_checkpointing.selective import (
    PRODUCTS,
    products,
    region,
    run_selective,
)
from gpu_course.measure.activation_formulas import LayerShape

SHAPES = [(LayerShape(24, 2, 32, 4), 1), (LayerShape(8, 1, 16, 1), 2)]


def count_products(module: nn.Module, x: Tensor) -> int:
    """Returns how many matrix products a forward pass runs."""

    class Count(TorchDispatchMode):
        found = 0

        def __torch_dispatch__(
            self, operator: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            self.found += operator in PRODUCTS
            return operator(*args, **(kwargs or {}))

    with torch.no_grad(), Count() as count:
        module(x)
    return count.found


@pytest.mark.parametrize(("shape", "layers"), SHAPES)
def test_the_formula_lists_the_products_that_run(shape: LayerShape, layers: int) -> None:
    module, x = region(shape, layers, seed=1)
    listed = products(shape, layers)
    assert count_products(module, x) == len(listed)
    plain, none = run_selective(module, x, None), run_selective(module, x, ())
    assert none.flops - plain.flops == sum(product.flops for product in listed)
    assert none.kept_bytes < plain.kept_bytes


@pytest.mark.parametrize("saved", [{0}, {1}, {2, 3}, {0, 4}, {5}, set(range(6))])
def test_what_is_saved_is_kept_and_what_is_not_runs_again(saved: set[int]) -> None:
    shape = LayerShape(24, 2, 32, 4)
    module, x = region(shape, 1, seed=2)
    listed = products(shape)
    plain, none = run_selective(module, x, None), run_selective(module, x, ())
    found = run_selective(module, x, saved)
    assert found.kept_bytes - none.kept_bytes == sum(listed[n].bytes for n in saved)
    again = sum(product.flops for n, product in enumerate(listed) if n not in saved)
    assert found.flops - plain.flops == again
    assert found.loss == plain.loss
    assert torch.equal(found.gradients, plain.gradients)


def test_without_dropout_the_second_run_ends_before_the_last_product() -> None:
    shape = LayerShape(24, 2, 32, 4)
    module, x = region(shape, 1, seed=2)
    all_but_the_last = set(range(5))
    again = []
    for training in (True, False):
        module.train(training)
        kept, plain = run_selective(module, x, all_but_the_last), run_selective(module, x, None)
        again.append(kept.flops - plain.flops)
    assert again == [products(shape)[5].flops, 0]
