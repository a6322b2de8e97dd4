"""Wrong answers to no_sync that people give."""

from contextlib import contextmanager, nullcontext

import torch
import torch.distributed as dist


def on_gradients(model, hook):
    """Registers a hook for whatever asks for a gradient."""
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.register_post_accumulate_grad_hook(hook)


# over-budget, too-many-bytes: The mean of means is the mean: why pause at all?
def exchanges_every_time(model):
    n = dist.get_world_size()

    def average(parameter):
        dist.all_reduce(parameter.grad)
        parameter.grad /= n

    on_gradients(model, average)
    return nullcontext


# over-budget, too-many-bytes: Sends what is new each time, and sums it up: right, and as
# expensive.
def exchanges_what_is_new(model):
    n = dist.get_world_size()
    summed = {}

    def average(parameter):
        before = summed.get(parameter, torch.zeros_like(parameter))
        new = parameter.grad - before if parameter in summed else parameter.grad.clone()
        dist.all_reduce(new)
        summed[parameter] = before + new / n
        parameter.grad.copy_(summed[parameter])

    @contextmanager
    def pause():
        yield

    on_gradients(model, average)
    model.register_forward_pre_hook(lambda *_: forget(model, summed))
    return pause


def forget(model, summed):
    """Drops what is summed up once zero_grad has dropped the gradients."""
    if all(parameter.grad is None for parameter in model.parameters()):
        summed.clear()


# wrong-result, own-gradients: Paused, and never woken.
def never_wakes(model):
    n = dist.get_world_size()
    state = {"paused": False}

    def average(parameter):
        if not state["paused"]:
            dist.all_reduce(parameter.grad)
            parameter.grad /= n

    @contextmanager
    def pause():
        state["paused"] = True
        yield

    on_gradients(model, average)
    return pause


# wrong-result, after-an-error: What ends by itself needs no finally.
def an_error_leaves_it_paused(model):
    n = dist.get_world_size()
    state = {"paused": False}

    def average(parameter):
        if not state["paused"]:
            dist.all_reduce(parameter.grad)
            parameter.grad /= n

    @contextmanager
    def pause():
        state["paused"] = True
        yield
        state["paused"] = False

    on_gradients(model, average)
    return pause


# The caller may go on after an error, so what of it?
class Swallows:
    def __init__(self, state):
        self.state = state

    def __enter__(self):
        self.state["paused"] = True

    def __exit__(self, *error):
        self.state["paused"] = False
        return True


# wrong-result, swallowed: Takes the end of a with block for the place to deal with errors.
def an_error_is_lost(model):
    n = dist.get_world_size()
    state = {"paused": False}

    def average(parameter):
        if not state["paused"]:
            dist.all_reduce(parameter.grad)
            parameter.grad /= n

    on_gradients(model, average)
    return lambda: Swallows(state)


# over-budget, too-many-bytes: A name that is assigned in a function is a new one.
def pauses_a_copy(model):
    n = dist.get_world_size()
    paused = False

    def average(parameter):
        if not paused:
            dist.all_reduce(parameter.grad)
            parameter.grad /= n

    @contextmanager
    def pause():
        paused = True
        yield paused

    on_gradients(model, average)
    return pause


# exception, exception: One context manager, made beforehand.
def one_for_all_pauses(model):
    n = dist.get_world_size()
    state = {"paused": False}

    def average(parameter):
        if not state["paused"]:
            dist.all_reduce(parameter.grad)
            parameter.grad /= n

    @contextmanager
    def pause():
        state["paused"] = True
        try:
            yield
        finally:
            state["paused"] = False

    once = pause()
    on_gradients(model, average)
    return lambda: once


# wrong-result, summed: Swallows the error it should only clean up after.
def sums(model):
    state = {"paused": False}

    def average(parameter):
        if not state["paused"]:
            dist.all_reduce(parameter.grad)

    @contextmanager
    def pause():
        state["paused"] = True
        try:
            yield
        finally:
            state["paused"] = False

    on_gradients(model, average)
    return pause


# wrong-result, last-alone: Only the last microbatch is sent, and what was added up before it is
# left here.
def sends_the_last_alone(model):
    n = dist.get_world_size()
    state = {"paused": False}
    held = {}

    def average(parameter):
        if state["paused"]:
            held[parameter] = parameter.grad.clone()
            return
        before = held.pop(parameter, torch.zeros_like(parameter))
        new = parameter.grad - before
        dist.all_reduce(new)
        parameter.grad.copy_(before + new / n)

    @contextmanager
    def pause():
        state["paused"] = True
        try:
            yield
        finally:
            state["paused"] = False

    on_gradients(model, average)
    return pause


# over-budget, too-many-bytes: Sends when the pause ends, since there is something to send.
def exchanges_after_each_pause(model):
    n = dist.get_world_size()
    state = {"paused": False}

    def average(parameter):
        if not state["paused"]:
            dist.all_reduce(parameter.grad)
            parameter.grad /= n

    @contextmanager
    def pause():
        state["paused"] = True
        try:
            yield
        finally:
            state["paused"] = False
            for parameter in model.parameters():
                if parameter.grad is not None:
                    average(parameter)

    on_gradients(model, average)
    return pause


# hazard, not-waited: Begun is as good as done.
def begins_and_goes_on(model):
    n = dist.get_world_size()
    state = {"paused": False}

    def average(parameter):
        if not state["paused"]:
            dist.all_reduce(parameter.grad, async_op=True)
            parameter.grad /= n

    @contextmanager
    def pause():
        state["paused"] = True
        try:
            yield
        finally:
            state["paused"] = False

    on_gradients(model, average)
    return pause
