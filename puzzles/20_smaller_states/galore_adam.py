"""galore_adam: an update of Adam in the gradient's main directions.

    galore_adam(
        weight, gradient, state, project, refresh, rate, scale
    ) -> None

    weight     float64 (rows, columns); change it in place
    gradient   float64 (rows, columns), finite; of a row or column it
               may be 0 throughout, or as small as epsilon
    state      a dict, empty before the first update and handed back in
               every later one
    project    project(gradient) returns the basis of that gradient:
               (rows, rank) where there are no more rows than columns,
               else (columns, rank)
    refresh    choose the basis in the first update, and after each
               `refresh` updates anew
    rate       the learning rate
    scale      what the step is multiplied by on its way back

Project the gradient, let Adam work on the small one, and bring its step
back. Adam has betas 0.9 and 0.999, epsilon 1e-8 added to the root, and
both moments corrected for their start at zero by the number of all
updates so far. The moments stay when the basis changes.

Measured: the weight after some updates, then a second weight with a
state of its own; how often `project` was called; the bytes of all
tensors in `state`: those of the basis and two moments of the small
gradient, and 64 more.
"""

import torch


def galore_adam(weight, gradient, state, project, refresh, rate, scale):
    # your code here (about 13 lines)
    pass
