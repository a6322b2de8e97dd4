"""graph_breakeven: how often a graph has to run until it pays.

    graph_breakeven(kernels_ns, launch_ns, graph_launch_ns, make_ns)
        -> int or None

    kernels_ns       list of how long each kernel of a step runs
    launch_ns        what the host takes to launch one kernel
    graph_launch_ns  what the host takes to launch the whole graph
    make_ns          what the host takes once, to make the graph

All times are whole nanoseconds. A step runs its kernels in order, in
one stream, and ends when the last of them has ended. Then the host
begins the next step.

Without a graph the host launches the kernels one after the other, and
waits for none of them: a kernel begins once its launch is over and the
kernel before it has ended. With a graph one launch starts them all,
and each begins when the one before it ends; but first the graph has to
be made, once.

Return the fewest steps, 1 or more, for which the way with a graph
takes less time in all. Return None if it never does. A step may have
no kernel, and a graph may cost nothing to make.
"""


def graph_breakeven(kernels_ns, launch_ns, graph_launch_ns, make_ns):
    # your code here (about 8 lines)
    pass
