"""The GPU that runs on a laptop: a kernel is read, lowered and interpreted, on NumPy.

A kernel goes through these files in order. `source`: its text becomes a syntax tree, and is never
executed. `legality`: what Numba would not compile is refused, with the line. `inference`: every
variable gets the type that Numba gives it. `lower`: all of that becomes a tree of small nodes,
`ir`, made once for a kernel and the types of its arguments. `launch`: the grid is cut into batches
of blocks. `interpreter`: one method per kind of node, for all lanes at once, under a mask.
`memory_access`: each access is one event, handed to the observers. `vocabulary` is what a kernel
may say. `scheduler`: where threads wait for each other, warps or threads run one at a time; a
`schedule` says which is next, `barriers` where they meet, and the `watchdog` when they never will.
`report` is what a launch leaves behind.
"""
