"""time_floor: how soon a sequence of kernels can be over.

    time_floor(kernels, peak, bandwidth, launch_s) -> float

    kernels    list of (flop, bytes), in the order of their launches
    peak       FLOP/s that the GPU can do
    bandwidth  bytes/s that its memory can move
    launch_s   seconds the host takes to launch a kernel

The host begins at 0 and launches one kernel after the other; it waits
for none of them. A kernel can begin once its launch is over and the
kernel before it has ended. While it runs, arithmetic and memory are
busy at the same time. Return when the last kernel has ended, in
seconds: 0 if there is none.

A kernel may have no FLOP, or no bytes, or neither: it is launched all
the same. The result is not rounded.
"""


def time_floor(kernels, peak, bandwidth, launch_s):
    # your code here (about 6 lines)
    pass
