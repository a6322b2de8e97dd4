"""balance: cut a model into stages.

    balance(costs, ranks) -> a list of numbers

    costs  what each layer takes, in microseconds, in the order of the
           layers: whole numbers, each at least 1
    ranks  how many there are, at least one

Return how many layers each stage has, from the first to the last. There
is one stage for each rank, each has at least one layer, and a stage has
layers that are neighbours. The sum of the costs of the slowest stage
has to be as small as it can be. Several cuts may reach it, and any of
them will do. There may be more than a hundred layers: not all cuts can
be tried. With more ranks than layers, there is no cut that gives each a
layer: return an empty list. There may be no layer at all.
"""


def balance(costs, ranks):
    # your code here (about 24 lines)
    pass
