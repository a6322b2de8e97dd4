"""Wrong answers to zero3 that people give."""

import torch
import torch.distributed as dist
from torch.nn import functional


def begin(shard):
    """Returns a whole unit that is on its way, and what to wait for."""
    whole = shard.new_empty(dist.get_world_size() * len(shard))
    return whole, dist.all_gather_single(whole, shard, async_op=True)


def gathered(unit, shard):
    """Returns a unit's weights once they are there."""
    whole, work = begin(shard)
    work.wait()
    return whole[: unit.length]


def arrived(coming, unit):
    """Returns the weights of a unit that is on its way."""
    whole, work = coming
    work.wait()
    return whole[: unit.length]


def scattered(gradient, shard):
    """Returns this rank's slice of the mean gradient of a unit."""
    mine, n = torch.empty_like(shard), dist.get_world_size()
    filled = functional.pad(gradient, (0, n * len(shard) - len(gradient)))
    dist.reduce_scatter_single(mine, filled)
    return mine / n


def forward(units, shards, x):
    """Runs forward with the next unit on its way; returns what went in, and the loss."""
    inputs, coming = [], begin(shards[0])
    for k, unit in enumerate(units):
        weights = arrived(coming, unit)
        coming = begin(shards[k + 1]) if k + 1 < len(units) else None
        inputs.append(x)
        x = unit.forward(weights, x)
        del weights
    return inputs, x


def backward(units, shards, inputs, loss, end=scattered):
    """Runs backward with the next unit on its way; returns the slices of the gradients."""
    gradient, found = torch.ones_like(loss), [None] * len(units)
    coming = begin(shards[-1])
    for k in reversed(range(len(units))):
        weights = arrived(coming, units[k])
        coming = begin(shards[k - 1]) if k > 0 else None
        gradient, of_weights = units[k].backward(weights, inputs[k], gradient)
        del weights
        found[k] = end(of_weights, shards[k])
        del of_weights
    return found


# over-budget, kept: Gathered once; on the way back they are still there.
def keeps_all_units(units, shards, x):
    inputs, kept = [], []
    for unit, shard in zip(units, shards, strict=True):
        kept.append(gathered(unit, shard))
        inputs.append(x)
        x = unit.forward(kept[-1], x)
    gradient, found = torch.ones_like(x), []
    for k in reversed(range(len(units))):
        gradient, of_weights = units[k].backward(kept[k], inputs[k], gradient)
        found.insert(0, scattered(of_weights, shards[k]))
    return found


# over-budget, kept: Prefetch as much as there is.
def gathers_all_first(units, shards, x):
    coming = [begin(shard) for shard in shards]
    inputs = []
    for k, unit in enumerate(units):
        weights = arrived(coming[k], unit)
        inputs.append(x)
        x = unit.forward(weights, x)
        coming[k] = weights = None
    return backward(units, shards, inputs, x)


# over-budget, kept: Two units on their way: the link is never idle.
def two_ahead(units, shards, x):
    inputs, coming = [], [begin(shard) for shard in shards[:2]]
    for k, unit in enumerate(units):
        weights = arrived(coming.pop(0), unit)
        if k + 2 < len(units):
            coming.append(begin(shards[k + 2]))
        inputs.append(x)
        x = unit.forward(weights, x)
        del weights
    return backward(units, shards, inputs, x)


# over-budget, kept-in-backward: The gradients are cut into slices when all are there.
def keeps_gradients_whole(units, shards, x):
    inputs, loss = forward(units, shards, x)
    whole = backward(units, shards, inputs, loss, end=lambda gradient, shard: gradient)
    return [scattered(gradient, shard) for gradient, shard in zip(whole, shards, strict=True)]


# over-budget, no-prefetch: Gather, use, free; and then the next.
def one_after_the_other(units, shards, x):
    inputs = []
    for unit, shard in zip(units, shards, strict=True):
        inputs.append(x)
        x = unit.forward(gathered(unit, shard), x)
    gradient, found = torch.ones_like(x), []
    for k in reversed(range(len(units))):
        weights = gathered(units[k], shards[k])
        gradient, of_weights = units[k].backward(weights, inputs[k], gradient)
        del weights
        found.insert(0, scattered(of_weights, shards[k]))
    return found


# over-budget, no-prefetch: On the way there the next one is begun in time, on the way back it is
# forgotten.
def prefetches_forward_only(units, shards, x):
    inputs, loss = forward(units, shards, x)
    gradient, found = torch.ones_like(loss), []
    for k in reversed(range(len(units))):
        weights = gathered(units[k], shards[k])
        gradient, of_weights = units[k].backward(weights, inputs[k], gradient)
        del weights
        found.insert(0, scattered(of_weights, shards[k]))
    return found


# over-budget, gradient-to-all: As data parallelism does, and then a slice of it.
def all_reduces_gradients(units, shards, x):
    inputs, loss = forward(units, shards, x)
    n, r = dist.get_world_size(), dist.get_rank()

    def end(gradient, shard):
        whole = functional.pad(gradient, (0, n * len(shard) - len(gradient)))
        dist.all_reduce(whole)
        return whole.view(n, -1)[r] / n

    return backward(units, shards, inputs, loss, end)


# over-budget, too-many-bytes: Gathered for the gradient of x, and gathered again for that of the
# weights.
def gathers_for_every_use_twice(units, shards, x):
    inputs, loss = forward(units, shards, x)

    def end(gradient, shard):
        begin(shard)[1].wait()
        return scattered(gradient, shard)

    return backward(units, shards, inputs, loss, end)


# wrong-result, summed: A reduce-scatter adds up, and nobody divides.
def takes_the_sum(units, shards, x):
    inputs, loss = forward(units, shards, x)
    found = backward(units, shards, inputs, loss)
    return [each * dist.get_world_size() for each in found]


# wrong-result, own-gradient: Each rank keeps the slice of its own gradient.
def cuts_its_own_gradient(units, shards, x):
    inputs, loss = forward(units, shards, x)
    n, r = dist.get_world_size(), dist.get_rank()

    def end(gradient, shard):
        filled = functional.pad(gradient, (0, n * len(shard) - len(gradient)))
        return filled[r * len(shard) : (r + 1) * len(shard)].clone()

    return backward(units, shards, inputs, loss, end)


# wrong-result, backward-order: The backward pass begins with the last unit, and so does the list.
def in_the_order_it_came(units, shards, x):
    inputs, loss = forward(units, shards, x)
    return backward(units, shards, inputs, loss)[::-1]


# wrong-result, not-slices: All that was computed is returned.
def whole_gradients(units, shards, x):
    inputs, loss = forward(units, shards, x)

    def end(gradient, shard):
        total = gradient.clone()
        dist.all_reduce(total)
        return total / dist.get_world_size()

    return backward(units, shards, inputs, loss, end)


# wrong-result, only-the-last-right: Keeps what each unit gave instead of what it was given.
def gives_what_came_out(units, shards, x):
    inputs, loss = forward(units, shards, x)
    shifted = [inputs[0], *inputs[2:-1], inputs[-1], inputs[-1]]
    return backward(units, shards, shifted, loss)


# wrong-result, weights-length: What is gathered is what the unit gets.
def leaves_the_filling(units, shards, x):
    inputs, coming = [], begin(shards[0])
    for k, unit in enumerate(units):
        weights, work = coming
        work.wait()
        coming = begin(shards[k + 1]) if k + 1 < len(units) else None
        inputs.append(x)
        x = unit.forward(weights, x)
        del weights
    return backward(units, shards, inputs, x)


# wrong-result, freed: The storage is given back by hand, as FSDP does, and the name still looks
# like a tensor.
def frees_too_early(units, shards, x):
    inputs, kept = [], []
    for unit, shard in zip(units, shards, strict=True):
        weights = gathered(unit, shard)
        inputs.append(x)
        x = unit.forward(weights, x)
        weights.untyped_storage().resize_(0)
        kept.append(weights)
    gradient = torch.ones_like(x)
    for k in reversed(range(len(units))):
        gradient, _ = units[k].backward(kept[k], inputs[k], gradient)
    return shards


# hazard, not-waited: Begun is as good as done.
def never_waits(units, shards, x):
    inputs = []
    for unit, shard in zip(units, shards, strict=True):
        whole, _ = begin(shard)
        inputs.append(x)
        x = unit.forward(whole[: unit.length], x)
    return backward(units, shards, inputs, x)
