"""diloco: many steps alone, one step together.

    diloco(model, batches, loss_of, h, inner, rate, momentum) -> None

    model     a torch.nn.Module in float64, the same on all ranks
    batches   of this rank; all ranks have equally many, or none
    loss_of   loss_of(model, batch) -> the loss, a scalar tensor
    h         inner steps in a round
    inner     what torch.optim.AdamW takes beside the parameters
    rate      of the outer optimizer
    momentum  of the outer optimizer; 0 for none

This runs on every rank at the same time. A round has two parts:

*  h inner steps: each rank trains on its next h batches, with an AdamW
   of its own that lives through all rounds. Where batches run out in a
   round, the round is shorter.
*  One outer step: the outer gradient is where the round began less
   where it ended, its mean over the ranks. PyTorch's SGD with
   nesterov=True takes one step with it, from where the round began:

       velocity = momentum * velocity + gradient
       weights -= rate * (gradient + momentum * velocity)

   velocity is 0 at first. The next round begins there on all ranks.

When it returns, model holds the weights after the last outer step. Each
parameter is trained, ranks may have different numbers of rows in a
batch, and all numbers are finite.

Measured: one dist.all_reduce of all parameters in each round, and
nothing else; the bytes that each rank sends, as in a ring.
"""

import torch
import torch.distributed as dist
from torch.nn.utils import parameters_to_vector, vector_to_parameters


def diloco(model, batches, loss_of, h, inner, rate, momentum):
    n = dist.get_world_size()
    # answer
    optimizer = torch.optim.AdamW(model.parameters(), **inner)
    weights = parameters_to_vector(model.parameters()).detach()
    velocity = torch.zeros_like(weights)
    for first in range(0, len(batches), h):
        for batch in batches[first : first + h]:
            optimizer.zero_grad()
            loss_of(model, batch).backward()
            optimizer.step()
        ended = parameters_to_vector(model.parameters()).detach()
        gradient = weights - ended
        dist.all_reduce(gradient)
        gradient /= n
        velocity = momentum * velocity + gradient
        weights = weights - rate * (gradient + momentum * velocity)
        vector_to_parameters(weights.clone(), model.parameters())
    # end answer
