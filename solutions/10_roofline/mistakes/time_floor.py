"""Wrong answers to time_floor that learners give."""


def _play(busy, launch_s):
    issued = end = 0.0
    for each in busy:
        issued += launch_s
        end = max(issued, end) + each
    return end


def _busy(kernels, peak, bandwidth):
    return [max(flop / peak, moved / bandwidth) for flop, moved in kernels]


# wrong-result, no-overlap: First load, then compute, as one thread does.
def computes_and_then_moves(kernels, peak, bandwidth, launch_s):
    return _play([f / peak + m / bandwidth for f, m in kernels], launch_s)


# wrong-result, quicker: A floor is the smaller one, it thinks.
def over_when_one_is_done(kernels, peak, bandwidth, launch_s):
    return _play([min(f / peak, m / bandwidth) for f, m in kernels], launch_s)


# wrong-result, flop-alone: A GPU is there to compute.
def only_flop(kernels, peak, bandwidth, launch_s):
    return _play([flop / peak for flop, _ in kernels], launch_s)


# wrong-result, bytes-alone: Everything is bandwidth-bound.
def only_bytes(kernels, peak, bandwidth, launch_s):
    return _play([moved / bandwidth for _, moved in kernels], launch_s)


# wrong-result, in-all: The roofline of the whole sequence, and the launches as a third roof.
def everything_in_one_kernel(kernels, peak, bandwidth, launch_s):
    flop = sum(flop for flop, _ in kernels)
    moved = sum(moved for _, moved in kernels)
    return max(flop / peak, moved / bandwidth, launch_s * len(kernels))


# wrong-result, in-all: The same, with the launches on top.
def all_added_up_and_launched(kernels, peak, bandwidth, launch_s):
    flop = sum(flop for flop, _ in kernels)
    moved = sum(moved for _, moved in kernels)
    return max(flop / peak, moved / bandwidth) + launch_s * len(kernels)


# wrong-result, waits: Launch, wait, launch, wait: what a timing loop with a synchronize does.
def waits_for_each_kernel(kernels, peak, bandwidth, launch_s):
    return sum(launch_s + busy for busy in _busy(kernels, peak, bandwidth))


# wrong-result, no-running-ahead: Launch and work overlap, kernel by kernel.
def never_runs_ahead(kernels, peak, bandwidth, launch_s):
    return sum(max(launch_s, busy) for busy in _busy(kernels, peak, bandwidth))


# wrong-result, free-launches: Launches are asynchronous, so they cost nothing.
def launches_cost_nothing(kernels, peak, bandwidth, launch_s):
    return sum(_busy(kernels, peak, bandwidth))


# wrong-result, one-launch: Only the first launch is seen; the others are hidden behind the work.
def one_launch_for_all(kernels, peak, bandwidth, launch_s):
    return launch_s * bool(kernels) + sum(_busy(kernels, peak, bandwidth))


# wrong-result, first-free: The clock starts when the first kernel does.
def the_first_is_there_already(kernels, peak, bandwidth, launch_s):
    issued = end = 0.0
    for busy in _busy(kernels, peak, bandwidth):
        end = max(issued, end) + busy
        issued += launch_s
    return end
