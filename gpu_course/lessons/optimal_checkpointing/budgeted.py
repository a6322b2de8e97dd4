"""A chain under torch.compile with a budget for its activations: what PyTorch has for a planner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from gpu_course.measure.peak import allocate_gradients, measure_peak
from gpu_course.measure.threads import one_thread


@dataclass(frozen=True)
class Budgeted:
    """What a compiled step took.

    Attributes:
        peak_bytes: the most bytes alive, above parameters, gradients and batch.
        flops: of its matrix products and convolutions, forward and backward, as PyTorch counts.
        gradients: of all parameters one behind the other.
    """

    peak_bytes: int
    flops: int
    gradients: Tensor


def run_budgeted(stages: Sequence[nn.Module], batch: Tensor, budget: float) -> Budgeted:
    """Returns what a step takes under `torch.autograd.graph.region_activation_memory_budget`.

    The partitioner of torch.compile chooses, value by value, what the forward graph hands to the
    backward graph; the graphs then run operator by operator, so that the profiler sees each block.

    Args:
        stages: of one chain, the last of which computes the loss; their gradients are set to 0.
        batch: what the first stage gets.
        budget: from 0, the inputs alone, to 1, what the partitioner keeps for speed.

    Source: PyTorch 2.13, a prototype that may change.
    """
    from torch._dynamo.backends.common import aot_autograd
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    net, counting = nn.Sequential(*stages), [False, 0]

    def counted(graph: torch.fx.GraphModule, _: Any) -> Callable[..., Any]:
        def run(values: list[Any]) -> Any:
            # Boxed: the list is emptied, and each value is let go of after its last use.
            if not counting[0]:
                return torch.fx.Interpreter(graph).boxed_run(values)
            with FlopCounterMode(display=False) as flops:
                found = torch.fx.Interpreter(graph).boxed_run(values)
            counting[1] += flops.get_total_flops()
            return found

        run._boxed_call = True  # type: ignore[attr-defined]
        return run

    def within(x: Tensor) -> Tensor:
        with torch.autograd.graph.region_activation_memory_budget(budget):
            return net(x)

    torch._dynamo.reset()
    backend = aot_autograd(
        fw_compiler=counted,
        bw_compiler=counted,
        partition_fn=min_cut_rematerialization_partition,
    )
    compiled = torch.compile(within, backend=backend, fullgraph=True)
    allocate_gradients(net)

    def step() -> None:
        compiled(batch).backward()

    # The number of threads is among what compiled code is guarded by: another one compiles anew.
    with one_thread():
        step()  # compiles
        counting[0] = True
        step()
        counting[0] = False
        allocate_gradients(net)
        peak = measure_peak(step).peak_bytes
    gradients = [p.grad.flatten() for p in net.parameters() if p.grad is not None]
    return Budgeted(peak, counting[1], torch.cat(gradients))
