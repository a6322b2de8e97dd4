"""Wrong answers to graph_breakeven that learners give."""

import math


def _single(kernels_ns, launch_ns):
    issued = end = 0
    for kernel_ns in kernels_ns:
        issued += launch_ns
        end = max(issued, end) + kernel_ns
    return end


# wrong-result, launches-alone: A graph saves the launches, so the launches are compared.
def compares_launches(kernels_ns, launch_ns, graph_launch_ns, make_ns):
    saved = len(kernels_ns) * launch_ns - graph_launch_ns
    return None if saved <= 0 else make_ns // saved + 1


# wrong-result, launches-alone: Launch, run, launch, run: as if each launch waited for its kernel.
def adds_everything(kernels_ns, launch_ns, graph_launch_ns, make_ns):
    saved = sum(launch_ns + k for k in kernels_ns) - graph_launch_ns - sum(kernels_ns)
    return None if saved <= 0 else make_ns // saved + 1


# wrong-result, no-running-ahead: Each kernel hides its own launch, and nothing more.
def hides_one_launch(kernels_ns, launch_ns, graph_launch_ns, make_ns):
    single = sum(max(launch_ns, k) for k in kernels_ns)
    saved = single - graph_launch_ns - sum(kernels_ns)
    return None if saved <= 0 else make_ns // saved + 1


# wrong-result, free-graph: The launch of a graph is nothing beside all those it replaces.
def launches_the_graph_for_nothing(kernels_ns, launch_ns, graph_launch_ns, make_ns):
    saved = _single(kernels_ns, launch_ns) - sum(kernels_ns)
    return None if saved <= 0 else make_ns // saved + 1


# wrong-result, as-much: Counts until the graph has cost as much, not less.
def as_much_is_enough(kernels_ns, launch_ns, graph_launch_ns, make_ns):
    saved = _single(kernels_ns, launch_ns) - graph_launch_ns - sum(kernels_ns)
    return None if saved <= 0 else max(1, math.ceil(make_ns / saved))


# wrong-result, never: Divides whatever comes out, and gets a number of steps for every graph.
def always_some_day(kernels_ns, launch_ns, graph_launch_ns, make_ns):
    saved = _single(kernels_ns, launch_ns) - graph_launch_ns - sum(kernels_ns)
    return make_ns // max(1, abs(saved)) + 1


# wrong-result, every-step: The graph is made anew for each step.
def makes_it_anew(kernels_ns, launch_ns, graph_launch_ns, make_ns):
    graph = make_ns + graph_launch_ns + sum(kernels_ns)
    return 1 if graph < _single(kernels_ns, launch_ns) else None
