"""launch_gap: the device has nothing to do; whose fault is it?

    launch_gap(kernels) -> (idle, launch_bound)

    kernels  list of (launched, start, end) in nanoseconds, whole
             numbers: when the host's launch was over, and when the
             kernel ran; launched <= start <= end

The kernels are those of all streams of one device, and some run at the
same time. Between the first start and the last end, the device is idle
while no kernel runs. A kernel waits from its launch to its start. Idle
time in which no kernel waits is launch-bound: the host has not asked
for anything. In the rest of it, something else holds a kernel back.

Return both times in nanoseconds, whole numbers: all idle time, and
what of it is launch-bound. The list is in no order; without kernels
both are 0. A kernel may have length 0, and kernels may touch.
"""


def launch_gap(kernels):
    # your code here (about 12 lines)
    pass
