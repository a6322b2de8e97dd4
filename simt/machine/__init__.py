"""What runs a typed tree: all lanes at once, on NumPy.

`launch`: the grid is cut into batches of blocks. `interpreter`: one method per kind of node, for
all lanes at once, under a mask. `memory_access`: each access is one event, handed to the observers.
`scheduler`: where threads wait for each other, warps or threads run one at a time; a `schedule`
says which is next, `barriers` where they meet, and the `watchdog` when they never will.
"""
