"""Wrong answers to ddp that people give."""

import torch
import torch.distributed as dist


def spread(model):
    """Gives every rank the parameters of rank 0."""
    for parameter in model.parameters():
        dist.broadcast(parameter.data, 0)


def on_gradients(model, hook):
    """Registers a hook for whatever asks for a gradient."""
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.register_post_accumulate_grad_hook(hook)


# wrong-result, not-broadcast: The same code on all ranks, so surely the same weights.
def never_broadcasts(model):
    n = dist.get_world_size()

    def average(parameter):
        dist.all_reduce(parameter.grad)
        parameter.grad /= n

    on_gradients(model, average)


# wrong-result, frozen-left-out: What is not trained need not be sent.
def leaves_out_the_frozen(model):
    n = dist.get_world_size()

    def average(parameter):
        dist.all_reduce(parameter.grad)
        parameter.grad /= n

    for parameter in model.parameters():
        if parameter.requires_grad:
            dist.broadcast(parameter.data, 0)
    on_gradients(model, average)


# hazard, roots-differ: Every rank sends its own: src is who I am.
def everybody_is_the_source(model):
    n = dist.get_world_size()

    def average(parameter):
        dist.all_reduce(parameter.grad)
        parameter.grad /= n

    for parameter in model.parameters():
        dist.broadcast(parameter.data, dist.get_rank())
    on_gradients(model, average)


# wrong-result, mean-of-weights: The mean of the weights is as good a start as any.
def starts_from_the_mean(model):
    n = dist.get_world_size()

    def average(parameter):
        dist.all_reduce(parameter.grad)
        parameter.grad /= n

    for parameter in model.parameters():
        dist.all_reduce(parameter.data)
        parameter.data /= n
    on_gradients(model, average)


# wrong-result, summed: all_reduce does it.
def sums(model):
    spread(model)
    on_gradients(model, lambda parameter: dist.all_reduce(parameter.grad))


# wrong-result, divided-twice: Divided before, and divided after.
def divides_twice(model):
    n = dist.get_world_size()

    def average(parameter):
        parameter.grad /= n
        dist.all_reduce(parameter.grad)
        parameter.grad /= n

    spread(model)
    on_gradients(model, average)


# wrong-result, one-rank-alone: Rank 0 has the weights, so let rank 0 have the gradient.
def reduces_to_rank_0(model):
    n = dist.get_world_size()

    def average(parameter):
        dist.reduce(parameter.grad, 0)
        parameter.grad /= n

    spread(model)
    on_gradients(model, average)


# exception, exception: Every parameter has a hook, has it not?
def hooks_the_frozen_too(model):
    n = dist.get_world_size()

    def average(parameter):
        dist.all_reduce(parameter.grad)
        parameter.grad /= n

    spread(model)
    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(average)


# exception, exception: A hook that is called before .grad is there.
def hooks_the_tensor(model):
    n = dist.get_world_size()

    def average(parameter):
        dist.all_reduce(parameter.grad)
        parameter.grad /= n

    spread(model)
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.register_hook(lambda gradient, parameter=parameter: average(parameter))


# hazard, not-waited: Begun is as good as done.
def begins_and_goes_on(model):
    n = dist.get_world_size()

    def average(parameter):
        dist.all_reduce(parameter.grad, async_op=True)
        parameter.grad /= n

    spread(model)
    on_gradients(model, average)


# wrong-result, own-gradients: Averages now, once, what is not there yet.
def without_a_hook(model):
    n = dist.get_world_size()
    spread(model)
    for parameter in model.parameters():
        if parameter.grad is not None:
            dist.all_reduce(parameter.grad)
            parameter.grad /= n


# over-budget, too-many-bytes: Every hook sends all there is so far.
def everything_in_each_hook(model):
    n = dist.get_world_size()
    own = [parameter for parameter in model.parameters() if parameter.requires_grad]

    def average(latest):
        there = [each for each in own if each.grad is not None]
        flat = torch.cat([each.grad.flatten() for each in there])
        dist.all_reduce(flat)
        parts = flat.split([each.numel() for each in there])
        for each, part in zip(there, parts):
            if each is latest:
                each.grad.copy_(part.view_as(each) / n)

    spread(model)
    on_gradients(model, average)


# over-budget, too-many-bytes: Collects all gradients on every rank, and takes their mean there.
def gathers_them_all(model):
    n = dist.get_world_size()

    def average(parameter):
        found = [torch.empty_like(parameter.grad) for _ in range(n)]
        dist.all_gather(found, parameter.grad)
        parameter.grad = sum(found) / n

    spread(model)
    on_gradients(model, average)


# hazard, skipped: Whoever adds up is one rank, and the others take what it has.
def only_rank_0_adds(model):
    n, r = dist.get_world_size(), dist.get_rank()

    def average(parameter):
        if r == 0:
            dist.all_reduce(parameter.grad)
            parameter.grad /= n

    spread(model)
    on_gradients(model, average)


# refused, library-ddp: PyTorch has it.
def asks_the_library(model):
    wrapped = torch.nn.parallel.DistributedDataParallel(model, find_unused_parameters=True)
    model.forward = Forward(wrapped, model.forward)


class Forward:
    """Goes through DDP, and from there to the model's own forward."""

    def __init__(self, wrapped, own):
        self.wrapped, self.own, self.inside = wrapped, own, False

    def __call__(self, *rows):
        if self.inside:
            return self.own(*rows)
        self.inside = True
        try:
            return self.wrapped(*rows)
        finally:
            self.inside = False
