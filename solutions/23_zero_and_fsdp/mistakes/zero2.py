"""Wrong answers to zero2 that people give."""

import torch
import torch.distributed as dist


def ring():
    """Returns (number of ranks, this rank)."""
    return dist.get_world_size(), dist.get_rank()


def hooked(parameters, hook, backward):
    """Runs backward() with a hook on each parameter, and takes the hooks off."""
    hooks = [
        p.register_post_accumulate_grad_hook(lambda p, k=k: hook(k, p))
        for k, p in enumerate(parameters)
    ]
    backward()
    for each in hooks:
        each.remove()


def to_owner(parameter, owner):
    """Leaves the mean gradient on its owner, and no gradient on the others."""
    n, r = ring()
    dist.reduce(parameter.grad, owner)
    parameter.grad = parameter.grad / n if owner == r else None


def handed_out(parameters, owners, update):
    """Lets the owners update, and all have what is new."""
    _, r = ring()
    for k, parameter in enumerate(parameters):
        if owners[k] == r:
            update(k)
            parameter.grad = None
        dist.broadcast(parameter.data, owners[k])


# over-budget, held: First all gradients, then they are sent: every rank holds them all for a
# while.
def reduces_after_the_backward_pass(parameters, owners, backward, update):
    backward()
    for k, parameter in enumerate(parameters):
        to_owner(parameter, owners[k])
    handed_out(parameters, owners, update)


# over-budget, gradients-left: Sent and updated: what is left in .grad can do no harm, it seems.
def keeps_what_it_has_sent(parameters, owners, backward, update):
    for parameter in parameters:
        parameter.grad = None
    hooked(parameters, lambda k, p: to_owner(p, owners[k]), backward)
    for k, parameter in enumerate(parameters):
        if owners[k] == dist.get_rank():
            update(k)
        dist.broadcast(parameter.data, owners[k])


# over-budget, gradient-to-all: As DDP does it.
def all_reduces(parameters, owners, backward, update):
    n, r = ring()

    def hook(k, parameter):
        dist.all_reduce(parameter.grad)
        parameter.grad = parameter.grad / n if owners[k] == r else None

    hooked(parameters, hook, backward)
    handed_out(parameters, owners, update)


# wrong-result, hooks-left: Hooks are registered anew in every step, and the old ones stay.
def leaves_its_hooks(parameters, owners, backward, update):
    n, r = ring()

    def hook(parameter, k):
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        dist.reduce(parameter.grad, owners[k])
        parameter.grad = parameter.grad / n if owners[k] == r else None

    for k, parameter in enumerate(parameters):
        parameter.register_post_accumulate_grad_hook(lambda p, k=k: hook(p, k))
    backward()
    handed_out(parameters, owners, update)


# wrong-result, gradients-left: The others have let go; the owner keeps its gradient for the next
# step to add to.
def forgets_its_own_gradient(parameters, owners, backward, update):
    n, r = ring()

    def hook(k, parameter):
        dist.reduce(parameter.grad, owners[k])
        parameter.grad = parameter.grad / n if owners[k] == r else None

    kept = [None if p.grad is None else p.grad for p in parameters]
    for parameter in parameters:
        parameter.grad = None
    hooked(parameters, hook, backward)
    for k, parameter in enumerate(parameters):
        if kept[k] is not None:
            parameter.grad += kept[k]
        if owners[k] == r:
            update(k)
        dist.broadcast(parameter.data, owners[k])


# wrong-result, summed: A reduce adds up, and nobody divides.
def takes_the_sum(parameters, owners, backward, update):
    n, r = ring()

    def hook(k, parameter):
        dist.reduce(parameter.grad, owners[k])
        if owners[k] != r:
            parameter.grad = None

    hooked(parameters, hook, backward)
    handed_out(parameters, owners, update)


# wrong-result, divided-twice: Each divides before it sends, and the owner again.
def divides_before_and_after(parameters, owners, backward, update):
    n, r = ring()

    def hook(k, parameter):
        parameter.grad /= n
        to_owner(parameter, owners[k])

    hooked(parameters, hook, backward)
    handed_out(parameters, owners, update)


# wrong-result, not-handed-out: The owner has the new value, and that is where it stays.
def keeps_new_parameters(parameters, owners, backward, update):
    _, r = ring()
    hooked(parameters, lambda k, p: to_owner(p, owners[k]), backward)
    for k, parameter in enumerate(parameters):
        if owners[k] == r:
            update(k)
            parameter.grad = None


# wrong-result, owner: Everybody takes every step, as before.
def everybody_updates_everything(parameters, owners, backward, update):
    hooked(parameters, lambda k, p: to_owner(p, owners[k]), backward)
    dist.barrier()
    for k in range(len(parameters)):
        update(k)


# hazard, roots-differ: Each rank sends to itself what is its own, so to say: the root is whoever
# calls.
def only_the_owner_calls(parameters, owners, backward, update):
    _, r = ring()
    hooked(parameters, lambda k, p: to_owner(p, r), backward)
    handed_out(parameters, owners, update)


# over-budget, too-many-bytes: Gathered at the owner and added there: n - 1 whole gradients
# arrive, and all hear of them.
def gathers_everything_at_the_owner(parameters, owners, backward, update):
    n, r = ring()

    def hook(k, parameter):
        parts = [torch.empty_like(parameter.grad) for _ in range(n)]
        dist.all_gather(parts, parameter.grad)
        parameter.grad = torch.stack(parts).mean(0) if owners[k] == r else None

    hooked(parameters, hook, backward)
    handed_out(parameters, owners, update)
