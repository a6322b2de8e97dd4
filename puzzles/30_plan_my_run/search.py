"""search: the fastest layout, with few runs.

    search(layouts, limit_bytes) -> a list of pairs

    layouts      list of dicts, one for each layout of a training: dp,
                 tp, pp, zero, recompute, microbatch; memory_bytes, what
                 its fullest GPU takes; and seconds, a dict: compute,
                 bubble, tp, pp and dp, each the least that this part of
                 a step can take
    limit_bytes  the memory of a GPU; a layout that takes more of it
                 dies when it is run
    return       pairs (number of a layout, floor), in the order in
                 which they are to be tried. The floor is in seconds,
                 and no step of this layout can be faster

A cluster tries your list from the front. It skips a layout if its floor
is as long as the fastest step so far, or longer. It runs all others,
and measures their step. What is not in the list is never run; each
layout stands there at most once.

Of a step this much is known. Computing and bubbles come one after the
other, so it takes as long as both together, or longer. What is sent
along tp, pp and dp may hide behind computing, and behind each other:
nothing of it, or all. But none of the three is faster than it says.

The fastest step of your runs may be at most 1 % longer than that of the
best layout that fits. And runs are expensive, those that die as well.
Those layouts have to run which by what is known might be the best. You
have a tenth more, and at least 3 more. Where no layout fits, nothing
may run: return an empty list. There are up to 600 layouts, or none.
"""


def search(layouts, limit_bytes):
    # your code here (about 11 lines)
    pass
