"""The GPU that runs on a laptop: a kernel is read, typed and interpreted, with NumPy alone.

A kernel goes through these files in order. `source`, `live`: its text becomes a syntax tree, and it
is never executed. `legality`: what Numba would not compile is refused, with the line. `inference`:
every variable gets the type that Numba gives it. `launch`: the grid is cut into batches of blocks.
`interpreter`, `expressions`, `machine`: one method per kind of statement or expression, for all
lanes at once, under a mask. `access`: each access to memory is one event, handed to the observers.
`vocabulary` is what a kernel may say.
`strands`: where threads wait for each other, warps or threads run one at a time, and a `schedule`
says which is next. `report` is what a launch leaves behind.
"""
