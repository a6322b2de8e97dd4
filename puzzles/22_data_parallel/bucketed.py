"""bucketed: few messages, sent while the backward pass goes on.

    bucketed(model, bucket_bytes) -> finish

    model         a torch.nn.Module in float64, the same on all ranks
    bucket_bytes  how full a bucket may get

This runs on every rank before the first step. The caller takes steps
of loss.backward(), finish(), a step of its optimizer, and zero_grad.
When finish() returns, each .grad is the mean of the ranks' gradients.
A gradient that this rank has not got counts as zeros; then .grad is a
tensor like all others. All numbers are finite.

The parameters with requires_grad go into buckets in the reverse order
of model.parameters(). One goes into the latest bucket if it fits into
what is left of bucket_bytes there, or if the bucket is empty; else it
begins a new one.

Each bucket is summed by one dist.all_reduce(..., async_op=True). It
begins as soon as the last gradient of the bucket is there, in the
backward pass, but not before the buckets ahead of it have begun: all
ranks have to begin them in the same order. What returns is waited for
in finish(), and nowhere else.

Measured: the sizes of the messages, and when each begins. finish()
begins what could not begin before.
"""

import torch
import torch.distributed as dist


def bucketed(model, bucket_bytes):
    n = dist.get_world_size()
    own = [each for each in model.parameters() if each.requires_grad]
    # your code here (about 35 lines)
