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
    # answer
    buckets, filled = [], 0
    for parameter in reversed(own):
        size = parameter.numel() * parameter.element_size()
        if not buckets or filled + size > bucket_bytes:
            buckets.append([])
            filled = 0
        buckets[-1].append(parameter)
        filled += size
    there, begun = set(), []

    def begin():
        while len(begun) < len(buckets):
            bucket = buckets[len(begun)]
            if any(id(parameter) not in there for parameter in bucket):
                break
            flat = torch.cat([parameter.grad.flatten() for parameter in bucket])
            begun.append((bucket, flat, dist.all_reduce(flat, async_op=True)))

    def arrived(parameter):
        there.add(id(parameter))
        begin()

    def finish():
        for parameter in own:
            if id(parameter) not in there:
                parameter.grad = torch.zeros_like(parameter)
                there.add(id(parameter))
        begin()
        for bucket, flat, work in begun:
            work.wait()
            parts = flat.split([parameter.numel() for parameter in bucket])
            for parameter, part in zip(bucket, parts, strict=True):
                parameter.grad.copy_(part.view_as(parameter) / n)
        there.clear()
        begun.clear()

    for parameter in own:
        parameter.register_post_accumulate_grad_hook(arrived)
    return finish
    # end answer
