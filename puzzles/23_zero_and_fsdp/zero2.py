"""zero2: a step in which each gradient lives on its owner only.

    zero2(parameters, owners, backward, update)

    parameters  list of tensors, the same values on all ranks
    owners      list: which rank owns the parameter at this place
    backward    backward() runs the backward pass of this rank's own
                batch and adds to parameter.grad, one by one
    update      update(k) takes the step of parameters[k] with its
                gradient, in place; only its owner may call it

This runs on n ranks at the same time; this one is r. The step is that
of the mean gradient. Send each gradient to its owner as soon as it is
there, and let go of it everywhere else. At the end every rank has all
new parameters, and no rank has any gradient: all parameter.grad are
None. It is called for one step after the other. All numbers are finite.

Measured: what the calls of all ranks carry, each gradient once to its
owner and each parameter once to the others; and how many bytes of
gradients a rank holds during backward(), beside those it owns: room for
the two largest is allowed.
"""

import torch.distributed as dist


def zero2(parameters, owners, backward, update):
    n, r = dist.get_world_size(), dist.get_rank()
    owner_of = dict(zip(parameters, owners, strict=True))

    # your code here (about 15 lines)
