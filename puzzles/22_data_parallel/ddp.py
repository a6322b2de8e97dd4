"""ddp: one model on every rank, and one gradient.

    ddp(model) -> None

    model   a torch.nn.Module in float64, on each rank with weights of
            its own

This runs on every rank at the same time, before the first step. See
to it that

*  every parameter has the value that it has on rank 0, and
*  from now on, when loss.backward() returns, each .grad is the mean of
   the ranks' gradients.

After that the caller takes a step with its optimizer, and zero_grad.

    parameter.register_post_accumulate_grad_hook(function)

has autograd call function(parameter) as soon as parameter.grad is
complete in a backward pass. It can be registered only for a parameter
with requires_grad. A parameter that a pass does not use (all ranks
agree on that) keeps .grad = None, and its hook is not called. Ranks may
have different numbers of rows; all numbers are finite.

Use dist.broadcast and dist.all_reduce. Measured: the bytes that each
rank sends, as in a ring: each parameter once, each gradient once per
backward pass.
"""

import torch
import torch.distributed as dist


def ddp(model):
    n = dist.get_world_size()

    # your code here (about 7 lines)
