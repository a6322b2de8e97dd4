"""elastic_restart: train, save in parts, go on with other ranks.

    elastic_restart(parameters, gradient, order, batch, steps, every,
                    save, checkpoint, group) -> parameters

    parameters  float64 (length,), with which training begins
    gradient    gradient(parameters, samples) -> float64 (length,): the
                sum of the gradients of a list of samples, maybe empty
    order       list of all samples, in the order in which they come
    batch       step k, from 0, takes order[k * batch : (k + 1) * batch]
    steps       train until so many steps are done, all in all
    every       save when so many are done, twice as many, and so on
    save        save(part): what this rank adds to a checkpoint, a dict
                of tensors and numbers
    checkpoint  None to begin anew; or the parts that the ranks of an
                earlier run have saved last, rank 0 first; there may
                have been fewer of these, or more
    group       the ranks that are there: all collectives get it, as in
                dist.all_reduce(x, group=group)

This runs on the n ranks of the group, of which this one is r. A step is
adam with the mean of the gradients of the batch, whose samples are
shared by the ranks: each is asked for once, by one of them. n may not
divide the batch, and there may be fewer samples than ranks.

Every rank returns the parameters after the last step. They are those of
one process, whatever happened on the way; and the same bits as without
a restart, where the number of ranks is what it was.

A part is written while training goes on: it must not change any more.
It may hold 3 * s numbers and 8 more, s being length / n rounded up; so
no rank writes everything. All numbers are finite.
"""

import torch
import torch.distributed as dist


def adam(weights, gradient, m, v, step):
    """Step is counted from 1."""
    m = 0.9 * m + 0.1 * gradient
    v = 0.99 * v + 0.01 * gradient**2
    m_hat, v_hat = m / (1 - 0.9**step), v / (1 - 0.99**step)
    return weights - 0.01 * m_hat / (v_hat.sqrt() + 0.01), m, v


def elastic_restart(
    parameters,
    gradient,
    order,
    batch,
    steps,
    every,
    save,
    checkpoint,
    group,
):
    n, r = dist.get_world_size(group), dist.get_rank(group)
    # answer
    done, weights = 0, parameters
    m, v = torch.zeros_like(weights), torch.zeros_like(weights)
    if checkpoint is not None:
        done = checkpoint[0]["done"]
        parts = [part["state"] for part in checkpoint]
        weights, m, v = torch.cat(parts, dim=1)

    size = -(-len(parameters) // n)
    while done < steps:
        samples = order[done * batch : (done + 1) * batch]
        total = gradient(weights, samples[r::n])
        dist.all_reduce(total, group=group)
        done += 1
        weights, m, v = adam(weights, total / batch, m, v, done)
        if done % every == 0:
            # torch.stack copies: no later step changes what is saved.
            state = torch.stack([weights, m, v])
            own = state[:, r * size : (r + 1) * size]
            save({"state": own, "done": done})
    return weights
    # end answer
