"""stash_bug: the weights a gradient belongs to.

    stash_bug(order, weight, inputs, gradients, rate)
        -> outputs, input_gradients, weight, versions

    order      list of strings: "F2" sends microbatch 2 forward through
               this stage, "B2" takes it back
    weight     float64 (m, n) array
    inputs     for each microbatch what comes in, float64 (rows, m)
    gradients  for each microbatch the gradient of the stage's output,
               float64 (rows, n)
    rate       float

A stage of PipeDream, which never drains: each B changes the weights at
once, while other microbatches are under way. F returns input @ weight,
with the newest weights. B returns gradient @ weight.T, with the weights
that the F of its microbatch used, and then takes rate * input.T @
gradient from the newest weights.

Return all outputs in the order of the Fs, all gradients to the input in
the order of the Bs, the last weights, and the most versions of the
weights that have to be held at a time: the newest, and every other one
that a microbatch under way has used.

What stands below is wrong: it takes the newest weights for both ways,
and holds one version. Leave the arrays you are given as they are. There
may be no microbatch; all numbers are finite.
"""


def stash_bug(order, weight, inputs, gradients, rate):
    # mend what follows
    outputs, input_gradients = [], []
    for action in order:
        each = int(action[1:])
        if action[0] == "F":
            outputs.append(inputs[each] @ weight)
        else:
            input_gradients.append(gradients[each] @ weight.T)
            step = inputs[each].T @ gradients[each]
            weight = weight - rate * step
    return outputs, input_gradients, weight, 1
