"""What PyTorch's operations are handed, counted against what is known of them."""

from __future__ import annotations

import torch

from gpu_course.lessons.data_movement.torch_passes import (
    Pass,
    adamw_step,
    bias_gelu,
    cross_entropy,
    passes_of,
)


def total(passes: list[Pass]) -> int:
    return sum(each.read_bytes + each.written_bytes for each in passes)


def test_one_operation_reads_and_writes_each_tensor_once() -> None:
    a, b = torch.randn(8, 4), torch.randn(4)
    assert passes_of(lambda: a + b) == [Pass("add", 4 * (32 + 4), 4 * 32)]
    assert passes_of(lambda: a.mul_(2)) == [Pass("mul", 4 * 32, 4 * 32)]


def test_a_view_and_a_lone_number_move_nothing() -> None:
    a, step = torch.randn(8, 4), torch.tensor(1.0)
    assert passes_of(lambda: a.view(32).t()) == []
    assert passes_of(lambda: step.add_(1)) == []


def test_a_fused_step_of_adamw_moves_a_third() -> None:
    apart, fused = adamw_step(False, 100), adamw_step(True, 100)
    assert len(fused) == 1 and total(fused) == 28 * 100
    assert len(apart) == 8 and total(apart) == 84 * 100


def test_cross_entropy_hands_whole_arrays_on() -> None:
    names = [each.name for each in cross_entropy(4, 64)]
    assert names[0] == "log_softmax" and names[-1] == "log_softmax_backward_data"
    assert total(cross_entropy(4, 64)) > 7 * 4 * 4 * 64


def test_bias_and_gelu_write_the_sum_and_read_it() -> None:
    assert [each.name for each in bias_gelu(8, 16)] == ["add", "gelu"]
    assert total(bias_gelu(8, 16)) == 4 * (4 * 8 * 16 + 16)
