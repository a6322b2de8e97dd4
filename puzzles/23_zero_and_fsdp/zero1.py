"""zero1: a step of Adam, each rank holding a slice of m and v.

    zero1(parameters, gradient, m, v, step)
        -> (new parameters, new m, new v)

    parameters  float64 (length,), the same on all ranks
    gradient    float64 (length,), of this rank's own batch
    m, v        float64 (size,), this rank's slice of the moments
    step        which step this is, from 1

This runs on n ranks at the same time; this one is r. All slices have
the same size, length / n rounded up: fill up with zeros at the end, and
slice r begins at r * size. What counts is the mean of the gradients.

Every rank returns all new parameters (length,), and its own slices of m
and v. Leave what you are given as it is. There may be fewer parameters
than ranks, so that a slice is nothing but zeros. All are finite.

Measured: what your calls carry. An all-reduce of the parameters would
be 2 (n - 1) * size numbers for each rank; that is all you may send. The
collectives of torch.distributed are allowed, booked as rings.
"""

import torch
import torch.distributed as dist


def adam(weights, gradient, m, v, step):
    m = 0.9 * m + 0.1 * gradient
    v = 0.99 * v + 0.01 * gradient**2
    m_hat, v_hat = m / (1 - 0.9**step), v / (1 - 0.99**step)
    return weights - 0.01 * m_hat / (v_hat.sqrt() + 0.01), m, v


def zero1(parameters, gradient, m, v, step):
    n, r = dist.get_world_size(), dist.get_rank()
    length, size = len(parameters), len(m)
    # your code here (about 8 lines)
