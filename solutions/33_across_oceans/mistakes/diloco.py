"""Wrong answers to diloco that people give."""

import torch
import torch.distributed as dist
from torch.nn.utils import parameters_to_vector, vector_to_parameters


def flat(model):
    """Returns a copy of all parameters, one behind the other."""
    return parameters_to_vector(model.parameters()).detach().clone()


def load(model, weights):
    """Puts weights into the model."""
    vector_to_parameters(weights.clone(), model.parameters())


def train(model, optimizer, loss_of, batches):
    """Takes a step for each batch."""
    for batch in batches:
        optimizer.zero_grad()
        loss_of(model, batch).backward()
        optimizer.step()


def mean(vector):
    """Returns the mean over the ranks."""
    dist.all_reduce(vector)
    return vector / dist.get_world_size()


# wrong-result, averaged-weights: DiLoCo averages the models now and then.
def averages_the_parameters(model, batches, loss_of, h, inner, rate, momentum):
    optimizer = torch.optim.AdamW(model.parameters(), **inner)
    for first in range(0, len(batches), h):
        train(model, optimizer, loss_of, batches[first : first + h])
        load(model, mean(flat(model)))


# wrong-result, inner-reset: A new round, a new optimizer.
def begins_adamw_anew(model, batches, loss_of, h, inner, rate, momentum):
    weights = flat(model)
    velocity = torch.zeros_like(weights)
    for first in range(0, len(batches), h):
        optimizer = torch.optim.AdamW(model.parameters(), **inner)
        train(model, optimizer, loss_of, batches[first : first + h])
        gradient = mean(weights - flat(model))
        velocity = momentum * velocity + gradient
        weights = weights - rate * (gradient + momentum * velocity)
        load(model, weights)


# wrong-result, no-lookahead: Momentum is momentum.
def momentum_without_nesterov(model, batches, loss_of, h, inner, rate, momentum):
    optimizer = torch.optim.AdamW(model.parameters(), **inner)
    weights = flat(model)
    velocity = torch.zeros_like(weights)
    for first in range(0, len(batches), h):
        train(model, optimizer, loss_of, batches[first : first + h])
        gradient = mean(weights - flat(model))
        velocity = momentum * velocity + gradient
        weights = weights - rate * velocity
        load(model, weights)


# wrong-result, no-momentum: The outer step goes along the mean difference.
def plain_outer_step(model, batches, loss_of, h, inner, rate, momentum):
    optimizer = torch.optim.AdamW(model.parameters(), **inner)
    weights = flat(model)
    for first in range(0, len(batches), h):
        train(model, optimizer, loss_of, batches[first : first + h])
        weights = weights - rate * mean(weights - flat(model))
        load(model, weights)


# wrong-result, sign: The way from the beginning to the end, subtracted like a gradient.
def walks_backwards(model, batches, loss_of, h, inner, rate, momentum):
    optimizer = torch.optim.AdamW(model.parameters(), **inner)
    weights = flat(model)
    velocity = torch.zeros_like(weights)
    for first in range(0, len(batches), h):
        train(model, optimizer, loss_of, batches[first : first + h])
        gradient = mean(flat(model) - weights)
        velocity = momentum * velocity + gradient
        weights = weights - rate * (gradient + momentum * velocity)
        load(model, weights)


# wrong-result, every-step: Gradients are averaged in each step, as everywhere.
def data_parallel_inside(model, batches, loss_of, h, inner, rate, momentum):
    optimizer = torch.optim.AdamW(model.parameters(), **inner)
    weights = flat(model)
    velocity = torch.zeros_like(weights)
    for first in range(0, len(batches), h):
        for batch in batches[first : first + h]:
            optimizer.zero_grad()
            loss_of(model, batch).backward()
            for parameter in model.parameters():
                parameter.grad = mean(parameter.grad)
            optimizer.step()
        gradient = weights - flat(model)
        velocity = momentum * velocity + gradient
        weights = weights - rate * (gradient + momentum * velocity)
        load(model, weights)


# wrong-result, own-velocity: Momentum belongs to the rank, like the inner optimizer.
def velocity_of_its_own(model, batches, loss_of, h, inner, rate, momentum):
    optimizer = torch.optim.AdamW(model.parameters(), **inner)
    weights = flat(model)
    velocity = torch.zeros_like(weights)
    for first in range(0, len(batches), h):
        train(model, optimizer, loss_of, batches[first : first + h])
        own = weights - flat(model)
        velocity = momentum * velocity + own
        weights = weights - rate * (mean(own) + momentum * velocity)
        load(model, weights)


# wrong-result, copies-differ: Everything runs on each rank, so nothing has to be sent.
def never_meets(model, batches, loss_of, h, inner, rate, momentum):
    optimizer = torch.optim.AdamW(model.parameters(), **inner)
    weights = flat(model)
    velocity = torch.zeros_like(weights)
    for first in range(0, len(batches), h):
        train(model, optimizer, loss_of, batches[first : first + h])
        gradient = weights - flat(model)
        velocity = momentum * velocity + gradient
        weights = weights - rate * (gradient + momentum * velocity)
        load(model, weights)


# wrong-result, summed: all_reduce does it.
def sums_over_the_ranks(model, batches, loss_of, h, inner, rate, momentum):
    optimizer = torch.optim.AdamW(model.parameters(), **inner)
    weights = flat(model)
    velocity = torch.zeros_like(weights)
    for first in range(0, len(batches), h):
        train(model, optimizer, loss_of, batches[first : first + h])
        gradient = weights - flat(model)
        dist.all_reduce(gradient)
        velocity = momentum * velocity + gradient
        weights = weights - rate * (gradient + momentum * velocity)
        load(model, weights)


# wrong-result, from-the-end: A step goes on from where the rank is.
def steps_from_where_it_ended(model, batches, loss_of, h, inner, rate, momentum):
    optimizer = torch.optim.AdamW(model.parameters(), **inner)
    velocity = torch.zeros_like(flat(model))
    for first in range(0, len(batches), h):
        begun = flat(model)
        train(model, optimizer, loss_of, batches[first : first + h])
        gradient = mean(begun - flat(model))
        velocity = momentum * velocity + gradient
        load(model, flat(model) - rate * (gradient + momentum * velocity))


# wrong-result, outer-reset: The outer optimizer is made where it is needed.
def forgets_the_velocity(model, batches, loss_of, h, inner, rate, momentum):
    optimizer = torch.optim.AdamW(model.parameters(), **inner)
    weights = flat(model)
    for first in range(0, len(batches), h):
        train(model, optimizer, loss_of, batches[first : first + h])
        gradient = mean(weights - flat(model))
        velocity = gradient
        weights = weights - rate * (gradient + momentum * velocity)
        load(model, weights)


# wrong-result, outer-forgotten: The outer weights are kept apart, and the ranks go on from theirs.
def goes_on_from_its_own(model, batches, loss_of, h, inner, rate, momentum):
    optimizer = torch.optim.AdamW(model.parameters(), **inner)
    weights = flat(model)
    velocity = torch.zeros_like(weights)
    for first in range(0, len(batches), h):
        train(model, optimizer, loss_of, batches[first : first + h])
        gradient = mean(weights - flat(model))
        velocity = momentum * velocity + gradient
        weights = weights - rate * (gradient + momentum * velocity)
    load(model, weights)


# wrong-result, short-round: Every h steps; whatever is left is no round.
def leaves_the_last_round(model, batches, loss_of, h, inner, rate, momentum):
    optimizer = torch.optim.AdamW(model.parameters(), **inner)
    weights = flat(model)
    velocity = torch.zeros_like(weights)
    for step, batch in enumerate(batches, 1):
        train(model, optimizer, loss_of, [batch])
        if step % h == 0:
            gradient = mean(weights - flat(model))
            velocity = momentum * velocity + gradient
            weights = weights - rate * (gradient + momentum * velocity)
            load(model, weights)


# wrong-result, alone: Leaves out the step that is taken together.
def trains_alone(model, batches, loss_of, h, inner, rate, momentum):
    optimizer = torch.optim.AdamW(model.parameters(), **inner)
    train(model, optimizer, loss_of, batches)


# wrong-result, no-copy: The weights of the beginning are those of the model.
def keeps_no_copy(model, batches, loss_of, h, inner, rate, momentum):
    optimizer = torch.optim.AdamW(model.parameters(), **inner)
    own = list(model.parameters())
    velocity = [torch.zeros_like(p) for p in own]
    for first in range(0, len(batches), h):
        begun = [p.data for p in own]
        train(model, optimizer, loss_of, batches[first : first + h])
        gradients = mean(torch.cat([(b - p.data).ravel() for b, p in zip(begun, own)]))
        parts = gradients.split([p.numel() for p in own])
        for p, v, part in zip(own, velocity, parts):
            v.mul_(momentum).add_(part.view_as(p))
            p.data -= rate * (part.view_as(p) + momentum * v)


# wrong-result, states-averaged: What belongs together is averaged together.
def averages_the_inner_states(model, batches, loss_of, h, inner, rate, momentum):
    optimizer = torch.optim.AdamW(model.parameters(), **inner)
    weights = flat(model)
    velocity = torch.zeros_like(weights)
    for first in range(0, len(batches), h):
        train(model, optimizer, loss_of, batches[first : first + h])
        for state in optimizer.state.values():
            for name in ("exp_avg", "exp_avg_sq"):
                state[name].copy_(mean(state[name]))
        gradient = mean(weights - flat(model))
        velocity = momentum * velocity + gradient
        weights = weights - rate * (gradient + momentum * velocity)
        load(model, weights)


# over-budget, too-many-messages: One message for each parameter.
def a_message_for_each_parameter(model, batches, loss_of, h, inner, rate, momentum):
    optimizer = torch.optim.AdamW(model.parameters(), **inner)
    own = list(model.parameters())
    weights = [p.detach().clone() for p in own]
    velocity = [torch.zeros_like(p) for p in own]
    for first in range(0, len(batches), h):
        train(model, optimizer, loss_of, batches[first : first + h])
        for w, p, v in zip(weights, own, velocity):
            gradient = mean(w - p.detach())
            v.mul_(momentum).add_(gradient)
            w -= rate * (gradient + momentum * v)
            p.data.copy_(w)


# over-budget, too-many-bytes: Everybody hears of all ends, and takes their mean.
def gathers_all_models(model, batches, loss_of, h, inner, rate, momentum):
    n = dist.get_world_size()
    optimizer = torch.optim.AdamW(model.parameters(), **inner)
    weights = flat(model)
    velocity = torch.zeros_like(weights)
    for first in range(0, len(batches), h):
        train(model, optimizer, loss_of, batches[first : first + h])
        ends = [torch.empty_like(weights) for _ in range(n)]
        dist.all_gather(ends, flat(model))
        gradient = weights - sum(ends) / n
        velocity = momentum * velocity + gradient
        weights = weights - rate * (gradient + momentum * velocity)
        load(model, weights)


# over-budget, too-many-bytes: To be sure, the new weights are sent as well.
def sends_the_weights_too(model, batches, loss_of, h, inner, rate, momentum):
    optimizer = torch.optim.AdamW(model.parameters(), **inner)
    weights = flat(model)
    velocity = torch.zeros_like(weights)
    for first in range(0, len(batches), h):
        train(model, optimizer, loss_of, batches[first : first + h])
        gradient = mean(weights - flat(model))
        velocity = momentum * velocity + gradient
        weights = weights - rate * (gradient + momentum * velocity)
        dist.broadcast(weights, 0)
        load(model, weights)


# hazard, left-alone: Whoever leads takes the outer step.
def only_rank_0_meets(model, batches, loss_of, h, inner, rate, momentum):
    optimizer = torch.optim.AdamW(model.parameters(), **inner)
    weights = flat(model)
    velocity = torch.zeros_like(weights)
    for first in range(0, len(batches), h):
        train(model, optimizer, loss_of, batches[first : first + h])
        if dist.get_rank() == 0:
            gradient = mean(weights - flat(model))
            velocity = momentum * velocity + gradient
            weights = weights - rate * (gradient + momentum * velocity)
            load(model, weights)


# hazard, not-waited: Begun is as good as done.
def begins_and_goes_on(model, batches, loss_of, h, inner, rate, momentum):
    n = dist.get_world_size()
    optimizer = torch.optim.AdamW(model.parameters(), **inner)
    weights = flat(model)
    velocity = torch.zeros_like(weights)
    for first in range(0, len(batches), h):
        train(model, optimizer, loss_of, batches[first : first + h])
        gradient = weights - flat(model)
        dist.all_reduce(gradient, async_op=True)
        gradient = gradient / n
        velocity = momentum * velocity + gradient
        weights = weights - rate * (gradient + momentum * velocity)
        load(model, weights)
