"""Wrong answers to rollback that learners give."""

import copy
import math

import torch
import torch.distributed as dist


class Rank:
    """One rank's part of a step, in pieces."""

    def __init__(self, parameters, optimizer, limit):
        self.n, self.r = dist.get_world_size(), dist.get_rank()
        self.parameters, self.optimizer, self.limit = parameters, optimizer, limit
        self.gradients = [p.grad for p in parameters]
        self.total = torch.zeros(1, dtype=torch.float64)
        self.weights = [p.detach().clone() for p in parameters]
        self.state = copy.deepcopy(optimizer.state_dict())

    def so_far(self):
        if self.r > 0:
            dist.recv(self.total, self.r - 1)
        for gradient in self.gradients:
            self.total += gradient.square().sum()
        if self.r < self.n - 1:
            dist.send(self.total, self.r + 1)
        return self.total.item()

    def of_all(self):
        if self.r < self.n - 1:
            dist.recv(self.total, self.r + 1)
        if self.r > 0:
            dist.send(self.total, self.r - 1)
        return self.total.item()

    def scale(self, total):
        if not math.isfinite(total):
            return None
        return self.clipped(total)

    def clipped(self, total):
        return self.limit / math.sqrt(total) if math.sqrt(total) > self.limit else 1.0

    def step(self, scale):
        if scale is not None:
            for p, gradient in zip(self.parameters, self.gradients, strict=True):
                p.grad = gradient * scale
            self.optimizer.step()

    def put_back(self):
        for p, before in zip(self.parameters, self.weights, strict=True):
            p.data.copy_(before)
        self.optimizer.load_state_dict(self.state)

    def checked(self, put_back):
        guess = self.scale(self.so_far())
        self.step(guess)
        right = self.scale(self.of_all())
        if right != guess:
            put_back()
            self.step(right)


def _weights_back(rank):
    for p, before in zip(rank.parameters, rank.weights, strict=True):
        p.data.copy_(before)


# wrong-result, moments-kept: Puts the weights back, since they are the model.
def only_the_weights(parameters, optimizer, limit):
    rank = Rank(parameters, optimizer, limit)
    rank.checked(lambda: _weights_back(rank))


# wrong-result, count-kept: Puts weights and moments back, and leaves the count of steps.
def all_but_the_count(parameters, optimizer, limit):
    rank = Rank(parameters, optimizer, limit)
    moments = [
        {key: value.clone() for key, value in optimizer.state[p].items() if key != "step"}
        for p in parameters
    ]

    def put_back():
        _weights_back(rank)
        for p, kept in zip(parameters, moments, strict=True):
            for name in ("exp_avg", "exp_avg_sq"):
                now = optimizer.state[p][name]
                now.copy_(kept.get(name, torch.zeros_like(now)))

    rank.checked(put_back)


# wrong-result, partial-alone: Checks what is known before the step, and passes S on unread.
def checked_before_alone(parameters, optimizer, limit):
    rank = Rank(parameters, optimizer, limit)
    rank.step(rank.scale(rank.so_far()))
    rank.of_all()


# over-budget, needless-step: Takes every step back that was not taken by S itself.
def always_once_more(parameters, optimizer, limit):
    rank = Rank(parameters, optimizer, limit)
    rank.step(rank.scale(rank.so_far()))
    right = rank.scale(rank.of_all())
    if rank.r < rank.n - 1:
        rank.put_back()
        rank.step(right)


# wrong-result, nan-passes: Asks whether the norm is past the limit, and for nothing else.
def past_the_limit_or_not(parameters, optimizer, limit):
    rank = Rank(parameters, optimizer, limit)
    rank.scale = rank.clipped
    rank.checked(rank.put_back)


# wrong-result, infinity-passes: Asks for NaN, and takes an infinite norm for a large one.
def nan_alone(parameters, optimizer, limit):
    rank = Rank(parameters, optimizer, limit)
    rank.scale = lambda total: None if math.isnan(total) else rank.clipped(total)
    rank.checked(rank.put_back)


# wrong-result, step-of-zeros: Makes a step of nothing where none is to be taken.
def zeros_for_nothing(parameters, optimizer, limit):
    rank = Rank(parameters, optimizer, limit)
    rank.checked(rank.put_back)
    if not math.isfinite(rank.total.item()):
        for p in parameters:
            p.grad = torch.zeros_like(p)
        optimizer.step()


# wrong-result, moments-kept: Keeps what state_dict() returns.
def state_without_a_copy(parameters, optimizer, limit):
    rank = Rank(parameters, optimizer, limit)
    rank.state = optimizer.state_dict()
    rank.checked(rank.put_back)


# wrong-result, weights-kept: Keeps the weights under another name.
def weights_without_a_copy(parameters, optimizer, limit):
    rank = Rank(parameters, optimizer, limit)
    rank.weights = [p.data for p in parameters]
    rank.checked(rank.put_back)


# wrong-result, scaled-twice: Scales .grad in place, for either step.
def scaled_in_place(parameters, optimizer, limit):
    rank = Rank(parameters, optimizer, limit)
    guess = rank.scale(rank.so_far())
    for gradient in rank.gradients:
        gradient *= 1.0 if guess is None else guess / 2
    rank.step(None if guess is None else 2.0)
    right = rank.scale(rank.of_all())
    if right != guess:
        rank.put_back()
        rank.step(right)


# wrong-result, not-taken-back: Takes the second step on top of the first.
def one_more_on_top(parameters, optimizer, limit):
    rank = Rank(parameters, optimizer, limit)
    guess = rank.scale(rank.so_far())
    rank.step(guess)
    right = rank.scale(rank.of_all())
    if right != guess:
        if right is None:
            rank.put_back()
        rank.step(right)


# over-budget, waits-for-all: Waits for S, and then there is nothing to take back.
def waits_for_s(parameters, optimizer, limit):
    rank = Rank(parameters, optimizer, limit)
    rank.so_far()
    rank.step(rank.scale(rank.of_all()))


# over-budget, keeps-others-waiting: Steps, and sends on the sum after that.
def steps_before_it_sends(parameters, optimizer, limit):
    rank = Rank(parameters, optimizer, limit)
    if rank.r > 0:
        dist.recv(rank.total, rank.r - 1)
    for gradient in rank.gradients:
        rank.total += gradient.square().sum()
    guess = rank.scale(rank.total.item())
    rank.step(guess)
    if rank.r < rank.n - 1:
        dist.send(rank.total, rank.r + 1)
    right = rank.scale(rank.of_all())
    if right != guess:
        rank.put_back()
        rank.step(right)


# refused, library-collective: As clip_grad_norm_ of a sharded model does it.
def all_ranks_at_once(parameters, optimizer, limit):
    rank = Rank(parameters, optimizer, limit)
    for gradient in rank.gradients:
        rank.total += gradient.square().sum()
    dist.all_reduce(rank.total)
    rank.step(rank.scale(rank.total.item()))


# wrong-result, not-bit-for-bit: Works the step backwards, as one would with pencil and paper.
def backwards_through_the_step(parameters, optimizer, limit):
    rank = Rank(parameters, optimizer, limit)

    def put_back():
        _weights_back(rank)
        group = optimizer.param_groups[0]
        for p in parameters:
            state, (b1, b2) = optimizer.state[p], group["betas"]
            if state["step"] == 1:
                optimizer.state[p] = {}
                continue
            state["exp_avg"].copy_((state["exp_avg"] - (1 - b1) * p.grad) / b1)
            state["exp_avg_sq"].copy_((state["exp_avg_sq"] - (1 - b2) * p.grad**2) / b2)
            state["step"] -= 1

    rank.checked(put_back)
