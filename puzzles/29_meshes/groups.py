"""groups: who is in a group with whom.

    groups(axes, order, sizes) -> a list of lists of ranks

    axes    names of the axes that a group goes along: one, or several,
            as ["dp", "cp"] for the sum of the gradients; in any order
    order   names of all axes, the innermost first
    sizes   dict: how many places there are along an axis, at least 1.
            An axis of the order that is not in it has one place

Two ranks are in the same group if they have the same place on every
axis that is not among `axes`. So each rank is in one group, maybe
alone. Within a group ranks rise: a rank's position there is its number
in the group, and all of the group must agree on it. The groups may come
in any order.

No axes at all are right, too, and so are all of them. There may be
16,384 ranks. Raise ValueError where there is no answer: one of the axes
is not in the order, an axis stands in the order or among `axes` twice,
or an axis of `sizes` is not in the order.
"""


def groups(axes, order, sizes):
    # your code here (about 14 lines)
    pass
