"""launch_overhead: how much of the bandwidth is left for a token.

    launch_overhead(kernels, bandwidth, launch_s, gap_s, barrier_s,
                    ahead) -> (float, float, float)

    kernels    list: the bytes that each kernel of a token moves, in
               order
    bandwidth  bytes/s that the memory can move
    launch_s   seconds the host takes for a launch, of a kernel or of a
               whole graph
    gap_s      seconds from the end of a kernel to the first byte of the
               next, on the GPU
    barrier_s  seconds of a barrier for all blocks of one kernel
    ahead      bytes that there is room for on the chip

A kernel takes its bytes over the bandwidth. A token is made in one of
three ways, each from 0 on until its last kernel has ended:

  launched  The host launches one kernel after the other and waits for
            none of them. A kernel begins when it is launched, and no
            sooner than gap_s after the end of the one before it.
  graph     One launch starts all of them. The first begins then, and
            each other gap_s after the end of the one before it.
  whole     They are parts of one kernel, which is launched once. Where
            one part ends and the next begins, all blocks meet at a
            barrier. While they wait, memory goes on: it brings bytes
            of the next part, as many as it can in that time, but no
            more than the part has, and no more than there is room for.
            Those need not be brought again.

Return for each way the share of the bandwidth that the token reaches:
the time its bytes take at full bandwidth, over the time it took.
Without kernels return (0.0, 0.0, 0.0). launch_s is above 0; a kernel
may move no bytes.
"""


def launch_overhead(
    kernels,
    bandwidth,
    launch_s,
    gap_s,
    barrier_s,
    ahead,
):
    # answer
    if not kernels:
        return 0.0, 0.0, 0.0
    work = sum(kernels) / bandwidth
    end = launch_s + kernels[0] / bandwidth
    whole = launch_s + work
    for count, moved in enumerate(kernels[1:], start=2):
        end = max(count * launch_s, end + gap_s) + moved / bandwidth
        early = min(barrier_s, moved / bandwidth, ahead / bandwidth)
        whole += barrier_s - early
    graph = launch_s + work + (len(kernels) - 1) * gap_s
    return work / end, work / graph, work / whole
    # end answer
