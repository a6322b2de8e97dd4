"""in_flight: what a rank holds at most.

    in_flight(orders, activations, kept) -> a list of numbers

    orders       for each rank a list of actions, as strings
    activations  for each stage what its forward pass leaves behind for
                 one microbatch, in MB
    kept         for each stage what of it W still needs after I, in MB

Actions are strings of a stage, a letter and a microbatch: "2F5" is the
forward pass of microbatch 5 through stage 2. Return for each rank the
most it ever holds, in MB:

    F   adds activations[stage]
    B   the whole backward pass: gives all of it back
    I   the gradient to the input: gives back all but kept[stage]
    W   the gradients of the weights, after I: gives back kept[stage]

An action that gives back does so when it is over. Orders may follow no
rule, may be broken off before all is given back, and may be empty.
"""


def in_flight(orders, activations, kept):
    # your code here (about 15 lines)
    pass
