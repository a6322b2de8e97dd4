"""Wrong answers to zero1 that people give."""

import torch
import torch.distributed as dist
from torch.nn import functional


def adam(weights, gradient, m, v, step):
    m = 0.9 * m + 0.1 * gradient
    v = 0.99 * v + 0.01 * gradient**2
    m_hat, v_hat = m / (1 - 0.9**step), v / (1 - 0.99**step)
    return weights - 0.01 * m_hat / (v_hat.sqrt() + 0.01), m, v


def filled(x, m):
    """Returns x with zeros at its end."""
    return functional.pad(x, (0, dist.get_world_size() * len(m) - len(x)))


def own(x, m):
    """Returns this rank's slice."""
    r = dist.get_rank()
    return filled(x, m)[r * len(m) : (r + 1) * len(m)]


def scattered(gradient, m):
    """Returns this rank's slice of the mean gradient."""
    mine = torch.empty_like(m)
    dist.reduce_scatter_single(mine, filled(gradient, m))
    return mine / dist.get_world_size()


def gathered(weights, length):
    """Returns the slices of all ranks behind each other."""
    everything = weights.new_empty(dist.get_world_size() * len(weights))
    dist.all_gather_single(everything, weights)
    return everything[:length]


# over-budget, gradient-to-all: As with DDP: first the mean gradient everywhere, then each updates
# its part.
def all_reduces_the_gradient(parameters, gradient, m, v, step):
    mean = gradient.clone()
    dist.all_reduce(mean)
    mean /= dist.get_world_size()
    weights, m, v = adam(own(parameters, m), own(mean, m), m, v, step)
    return gathered(weights, len(parameters)), m, v


# over-budget, too-many-bytes: The gradients of all ranks are gathered, and everybody takes the
# mean.
def everybody_gathers_gradients(parameters, gradient, m, v, step):
    n = dist.get_world_size()
    everything = gathered(gradient, n * len(gradient))
    mean = everything.view(n, -1).sum(0) / n
    weights, m, v = adam(own(parameters, m), own(mean, m), m, v, step)
    return gathered(weights, len(parameters)), m, v


# wrong-result, summed: A reduce-scatter adds up, and nobody divides.
def takes_the_sum(parameters, gradient, m, v, step):
    mine = scattered(gradient, m) * dist.get_world_size()
    weights, m, v = adam(own(parameters, m), mine, m, v, step)
    return gathered(weights, len(parameters)), m, v


# wrong-result, own-gradient: The states are cut, so the gradient is cut as well, and that is all.
def uses_its_own_gradient(parameters, gradient, m, v, step):
    weights, m, v = adam(own(parameters, m), own(gradient, m), m, v, step)
    return gathered(weights, len(parameters)), m, v


# wrong-result, not-gathered: The own slice is new; the rest of the parameters stays.
def keeps_its_slice_to_itself(parameters, gradient, m, v, step):
    r, size = dist.get_rank(), len(m)
    weights, m, v = adam(own(parameters, m), scattered(gradient, m), m, v, step)
    new = torch.cat([parameters, parameters.new_zeros(size * dist.get_world_size())])
    new[r * size : (r + 1) * size] = weights
    return new[: len(parameters)], m, v


# wrong-result, padding-left: Everything that was gathered is returned.
def leaves_the_filling(parameters, gradient, m, v, step):
    weights, m, v = adam(own(parameters, m), scattered(gradient, m), m, v, step)
    return gathered(weights, dist.get_world_size() * len(m)), m, v


# wrong-result, whole-states: Parameters come back whole, so the states do too.
def returns_all_states(parameters, gradient, m, v, step):
    length = len(parameters)
    weights, m, v = adam(own(parameters, m), scattered(gradient, m), m, v, step)
    return gathered(weights, length), gathered(m, length), gathered(v, length)


# wrong-result, other-slice: Slices are counted from 1.
def slice_of_the_next(parameters, gradient, m, v, step):
    n, r, size = dist.get_world_size(), dist.get_rank(), len(m)
    first = (r + 1) % n * size
    weights = filled(parameters, m)[first : first + size]
    weights, m, v = adam(weights, scattered(gradient, m), m, v, step)
    return gathered(weights, len(parameters)), m, v


# exception, exception: The collective will know what to do with a length that n does not divide.
def cuts_without_filling(parameters, gradient, m, v, step):
    mine = torch.empty_like(m)
    dist.reduce_scatter_single(mine, gradient)
    weights, m, v = adam(own(parameters, m), mine / dist.get_world_size(), m, v, step)
    return gathered(weights, len(parameters)), m, v


# hazard, not-waited: The last collective is begun, and it will surely be over in time.
def does_not_wait(parameters, gradient, m, v, step):
    weights, m, v = adam(own(parameters, m), scattered(gradient, m), m, v, step)
    everything = weights.new_zeros(dist.get_world_size() * len(weights))
    dist.all_gather_single(everything, weights, async_op=True)
    return everything[: len(parameters)], m, v


# input-changed, input-changed: Saves memory by writing the new parameters over the old ones.
def updates_in_place(parameters, gradient, m, v, step):
    weights, m, v = adam(own(parameters, m), scattered(gradient, m), m, v, step)
    parameters[:] = gathered(weights, len(parameters))
    return parameters, m, v
