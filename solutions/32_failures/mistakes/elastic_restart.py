"""Wrong answers to elastic_restart that people give."""

import torch
import torch.distributed as dist


def adam(weights, gradient, m, v, step):
    m = 0.9 * m + 0.1 * gradient
    v = 0.99 * v + 0.01 * gradient**2
    m_hat, v_hat = m / (1 - 0.9**step), v / (1 - 0.99**step)
    return weights - 0.01 * m_hat / (v_hat.sqrt() + 0.01), m, v


def all_there(part):
    return part


def run(
    parameters,
    gradient,
    order,
    batch,
    steps,
    every,
    save,
    checkpoint,
    group,
    restored=all_there,
    share="turns",
    mean="batch",
    saves="slice",
    ahead=0,
    first_batch=0,
):
    n, r = dist.get_world_size(group), dist.get_rank(group)
    done, weights = 0, parameters.clone()
    m, v = torch.zeros_like(weights), torch.zeros_like(weights)
    count, skipped = 0, 0
    if checkpoint is not None:
        state = [part["state"].double() for part in checkpoint]
        weights, m, v = torch.cat(state, dim=1) if len(state[0]) == 3 else [*torch.cat(state, 1), m]
        done = count = int(checkpoint[0]["done"])
        weights, m, v, count, skipped = restored((weights, m, v, count, skipped))
    size = -(-len(parameters) // n)
    while done < steps:
        at = done - skipped
        samples = order[at * batch : (at + 1) * batch]
        mine = samples[r::n]
        if share == "equal":
            mine = samples[r * (batch // n) : (r + 1) * (batch // n)]
        total = gradient(weights, mine)
        by = batch
        if mean == "means":
            total, by = total / max(1, len(mine)), n
        elif mean == "sum":
            by = 1
        dist.all_reduce(total, group=group)
        done, count = done + 1, count + 1
        weights, m, v = adam(weights, total / by, m, v, count)
        if done % every == 0:
            state = torch.stack([weights, m, v])
            own = state[:, r * size : (r + 1) * size].clone()
            if saves == "float32":
                own = own.float()
            save({"state": own, "done": done + ahead})
    return weights


# wrong-result, moments-lost: The parameters are the model.
def saves_the_parameters(parameters, gradient, order, batch, steps, every, save, checkpoint, group):
    def restored(state):
        weights, m, v, count, skipped = state
        return weights, 0 * m, 0 * v, count, skipped

    return run(parameters, gradient, order, batch, steps, every, save, checkpoint, group, restored)


# wrong-result, count-lost: Counts the steps of this process.
def counts_from_one(parameters, gradient, order, batch, steps, every, save, checkpoint, group):
    def restored(state):
        weights, m, v, _, skipped = state
        return weights, m, v, 0, skipped

    return run(parameters, gradient, order, batch, steps, every, save, checkpoint, group, restored)


# wrong-result, data-again: A loader begins at its beginning.
def the_loader_begins_anew(
    parameters, gradient, order, batch, steps, every, save, checkpoint, group
):
    def restored(state):
        weights, m, v, count, _ = state
        return weights, m, v, count, count

    return run(parameters, gradient, order, batch, steps, every, save, checkpoint, group, restored)


# wrong-result, own-place: Each rank has its share of the data, and keeps its place in it.
def a_place_of_its_own(parameters, gradient, order, batch, steps, every, save, checkpoint, group):
    n, r = dist.get_world_size(group), dist.get_rank(group)
    done, weights = 0, parameters
    m, v = torch.zeros_like(weights), torch.zeros_like(weights)
    at = 0
    own = [order[k * batch : (k + 1) * batch][r::n] for k in range(steps)]
    own = [sample for each in own for sample in each]
    if checkpoint is not None:
        weights, m, v = torch.cat([part["state"] for part in checkpoint], dim=1)
        done, at = checkpoint[0]["done"], checkpoint[min(r, len(checkpoint) - 1)]["at"]
    size = -(-len(parameters) // n)
    while done < steps:
        number = len(order[done * batch : (done + 1) * batch][r::n])
        total = gradient(weights, own[at : at + number])
        dist.all_reduce(total, group=group)
        done, at = done + 1, at + number
        weights, m, v = adam(weights, total / batch, m, v, done)
        if done % every == 0:
            mine = torch.stack([weights, m, v])[:, r * size : (r + 1) * size].clone()
            save({"state": mine, "done": done, "at": at})
    return weights


# wrong-result, rest-left-out: Cuts a batch into equal shares.
def equal_shares(parameters, gradient, order, batch, steps, every, save, checkpoint, group):
    return run(
        parameters, gradient, order, batch, steps, every, save, checkpoint, group, share="equal"
    )


# wrong-result, mean-of-means: Takes the mean on each rank, and then of the ranks.
def mean_of_the_means(parameters, gradient, order, batch, steps, every, save, checkpoint, group):
    return run(
        parameters, gradient, order, batch, steps, every, save, checkpoint, group, mean="means"
    )


# wrong-result, summed: An all-reduce adds up, and nobody divides.
def takes_the_sum(parameters, gradient, order, batch, steps, every, save, checkpoint, group):
    return run(
        parameters, gradient, order, batch, steps, every, save, checkpoint, group, mean="sum"
    )


# wrong-result, seven-digits: Half as much to write.
def saves_in_float32(parameters, gradient, order, batch, steps, every, save, checkpoint, group):
    return run(
        parameters, gradient, order, batch, steps, every, save, checkpoint, group, saves="float32"
    )


# wrong-result, step-again: Saves the number of the step that was just taken.
def saves_the_last_step(parameters, gradient, order, batch, steps, every, save, checkpoint, group):
    return run(parameters, gradient, order, batch, steps, every, save, checkpoint, group, ahead=-1)


# wrong-result, still-changing: A slice is small, and nothing is copied.
def saves_a_view(parameters, gradient, order, batch, steps, every, save, checkpoint, group):
    n, r = dist.get_world_size(group), dist.get_rank(group)
    done, state = 0, torch.stack([parameters, 0 * parameters, 0 * parameters])
    if checkpoint is not None:
        done = checkpoint[0]["done"]
        state = torch.cat([part["state"] for part in checkpoint], dim=1)
    size = -(-len(parameters) // n)
    while done < steps:
        total = gradient(state[0], order[done * batch : (done + 1) * batch][r::n])
        dist.all_reduce(total, group=group)
        done += 1
        state[:] = torch.stack(adam(*state[:1], total / batch, *state[1:], done))
        if done % every == 0:
            save({"state": state[:, r * size : (r + 1) * size], "done": done})
    return state[0].clone()


# hazard, without-group: All ranks are all ranks.
def adds_up_without_the_group(
    parameters, gradient, order, batch, steps, every, save, checkpoint, group
):
    return run(parameters, gradient, order, batch, steps, every, save, checkpoint, None)


def whole(parameters, gradient, order, batch, steps, every, save, checkpoint, group, twice=False):
    n, r = dist.get_world_size(group), dist.get_rank(group)
    done, state = 0, (parameters, 0 * parameters, 0 * parameters)
    if checkpoint is not None:
        done, state = checkpoint[0]["done"], checkpoint[0]["state"]
    while done < steps:
        samples = order[done * batch : (done + 1) * batch]
        total = gradient(state[0], samples if twice else samples[r::n])
        if not twice:
            dist.all_reduce(total, group=group)
        done += 1
        state = adam(state[0], total / batch, state[1], state[2], done)
        if done % every == 0:
            own = torch.stack(state) if r == 0 else torch.zeros(0)
            save({"state": own, "done": done})
    return state[0]


# over-budget, saves-everything: All ranks have the same state, so rank 0 saves it.
def rank_0_saves_all(parameters, gradient, order, batch, steps, every, save, checkpoint, group):
    return whole(parameters, gradient, order, batch, steps, every, save, checkpoint, group)


# wrong-result, seen-twice: Each rank works out the whole batch, so nothing has to be added up.
def each_takes_the_whole_batch(
    parameters, gradient, order, batch, steps, every, save, checkpoint, group
):
    return whole(parameters, gradient, order, batch, steps, every, save, checkpoint, group, True)
