"""classify: what does an operation wait for?

    classify(runs) -> list of str, one for each run

    runs  list of (seconds, with_twice_the_flop, with_twice_the_data)

Each run was timed three times: as it is; with twice the arithmetic on
the same data; and with twice the data, each number treated as before,
so that arithmetic and bytes both double. A time has grown if it is more
than half as long again as `seconds`.

"overhead"   neither has grown
"bandwidth"  only the time with twice the data has grown
"compute"    both have grown
"unclear"    only the time with twice the arithmetic has grown: the
             measurements contradict each other

Times are positive and finite, of any size, and are not rounded: a time
that is more by a hair is more. There may be no run at all.
"""


def classify(runs):
    # your code here (about 9 lines)
    pass
