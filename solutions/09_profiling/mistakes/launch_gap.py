"""Wrong answers to launch_gap that learners give."""


def _gaps(kernels):
    """(begin, end) of each time in which no kernel runs, between the first and the last."""
    found, until = [], None
    for _, start, end in sorted(kernels, key=lambda k: k[1]):
        if until is not None and start > until:
            found.append((until, start))
        until = end if until is None else max(until, end)
    return found


def _idle(kernels):
    return sum(end - begin for begin, end in _gaps(kernels))


def _right(kernels):
    spans = sorted([(s, e) for _, s, e in kernels] + [(a, s) for a, s, _ in kernels])
    if not spans:
        return 0, 0
    until, last = min(s for _, s, _ in kernels), max(e for _, _, e in kernels)
    left = 0
    for start, end in spans:
        left += max(0, min(start, last) - until)
        until = max(until, end)
    return _idle(kernels), left


# wrong-result, previous-end: A gap is from one kernel to the next.
def from_the_kernel_before(kernels):
    rows = sorted(kernels, key=lambda k: k[1])
    gaps = [(k[1] - p[2], k) for p, k in zip(rows, rows[1:])]
    idle = sum(max(0, gap) for gap, _ in gaps)
    bound = sum(max(0, min(k[0] - (k[1] - gap), gap)) for gap, k in gaps)
    return idle, bound


# wrong-result, all-launch-bound: A GPU that is idle waits for the host.
def every_gap_is_the_host(kernels):
    return _idle(kernels), _idle(kernels)


# wrong-result, next-alone: What matters is when the next one was launched.
def the_next_kernel_alone(kernels):
    bound = 0
    for begin, end in _gaps(kernels):
        launched = min(k[0] for k in kernels if k[1] == end)
        bound += max(0, min(launched, end) - begin)
    return _idle(kernels), bound


# wrong-result, launch-to-start: Launch overhead is the time from launch to start.
def from_launch_to_start(kernels):
    return _idle(kernels), sum(start - launched for launched, start, _ in kernels)


# wrong-result, in-the-order-given: A trace is in order.
def in_the_order_of_the_list(kernels):
    idle = bound = 0
    until = None
    for launched, start, end in kernels:
        if until is not None and start > until:
            idle += start - until
            bound += max(0, min(launched, start) - until)
        until = end if until is None else max(until, end)
    return idle, bound


# wrong-result, before-the-first: The host begins at the first launch.
def from_the_first_launch(kernels):
    if not kernels:
        return 0, 0
    idle, bound = _right(kernels)
    return idle + min(k[1] for k in kernels) - min(k[0] for k in kernels), bound


# wrong-result, by-launch: Kernels run in the order of their launches.
def in_the_order_of_launches(kernels):
    return in_the_order_of_the_list(sorted(kernels))


# wrong-result, exchanged: Gives what the device is to blame for.
def the_other_part(kernels):
    idle, bound = _right(kernels)
    return idle, idle - bound
