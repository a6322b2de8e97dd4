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
    # answer
    step = state.get("step", 0)
    if step % refresh == 0:
        state["basis"] = project(gradient)
    basis = state["basis"]
    wide = weight.shape[0] <= weight.shape[1]
    small = basis.T @ gradient if wide else gradient @ basis
    state["first"] = 0.9 * state.get("first", 0) + 0.1 * small
    state["second"] = 0.999 * state.get("second", 0) + 0.001 * small**2
    state["step"] = step + 1
    mean = state["first"] / (1 - 0.9 ** state["step"])
    spread = (state["second"] / (1 - 0.999 ** state["step"])).sqrt()
    change = mean / (spread + 1e-8)
    weight -= rate * scale * (basis @ change if wide else change @ basis.T)
    # end answer
