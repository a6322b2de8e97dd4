"""Wrong answers to launch_overhead that learners give."""


def _times(kernels, bandwidth, launch_s, gap_s, barrier_s, ahead):
    """The three times, and the work."""
    work = [moved / bandwidth for moved in kernels]
    issued, end = 0.0, -1.0
    for each in work:
        issued += launch_s
        end = max(issued, end + gap_s) + each
    graph = launch_s + sum(work) + (len(work) - 1) * gap_s
    early = [min(barrier_s, each, ahead / bandwidth) for each in work[1:]]
    whole = launch_s + sum(work) + sum(barrier_s - each for each in early)
    return [end, graph, whole], sum(work)


def _shares(times, work):
    return tuple(work / each for each in times)


def _changed(number, time, *given):
    if not given[0]:
        return 0.0, 0.0, 0.0
    times, work = _times(*given)
    times[number] = time
    return _shares(times, work)


# wrong-result, launches-alone: Launch, then run, for each of them.
def all_launches_count(kernels, bandwidth, launch_s, gap_s, barrier_s, ahead):
    time = sum(launch_s + moved / bandwidth for moved in kernels)
    time += (len(kernels) - 1) * gap_s
    return _changed(0, time, kernels, bandwidth, launch_s, gap_s, barrier_s, ahead)


# wrong-result, launches-alone: Launch, run, wait.
def launches_take_the_place_of_gaps(kernels, bandwidth, launch_s, gap_s, barrier_s, ahead):
    time = sum(launch_s + moved / bandwidth for moved in kernels)
    return _changed(0, time, kernels, bandwidth, launch_s, gap_s, barrier_s, ahead)


# wrong-result, hidden-launches: Launches are asynchronous, so only the first is seen.
def only_the_first_launch(kernels, bandwidth, launch_s, gap_s, barrier_s, ahead):
    time = launch_s + sum(kernels) / bandwidth + (len(kernels) - 1) * gap_s
    return _changed(0, time, kernels, bandwidth, launch_s, gap_s, barrier_s, ahead)


# wrong-result, no-gap-when-launched: The gap is the launch.
def no_gap_when_launched(kernels, bandwidth, launch_s, gap_s, barrier_s, ahead):
    end = 0.0
    for count, moved in enumerate(kernels, start=1):
        end = max(count * launch_s, end) + moved / bandwidth
    return _changed(0, end, kernels, bandwidth, launch_s, gap_s, barrier_s, ahead)


# wrong-result, gap-after-launch: Every kernel but the first begins with a gap.
def a_gap_after_every_wait(kernels, bandwidth, launch_s, gap_s, barrier_s, ahead):
    end = 0.0
    for count, moved in enumerate(kernels, start=1):
        end = max(count * launch_s, end) + gap_s * (count > 1) + moved / bandwidth
    return _changed(0, end, kernels, bandwidth, launch_s, gap_s, barrier_s, ahead)


# wrong-result, one-gap-more: A gap for each kernel.
def a_gap_for_each_kernel(kernels, bandwidth, launch_s, gap_s, barrier_s, ahead):
    time = launch_s + sum(kernels) / bandwidth + len(kernels) * gap_s
    return _changed(1, time, kernels, bandwidth, launch_s, gap_s, barrier_s, ahead)


# wrong-result, launch-for-each: A graph holds launches.
def the_graph_launches_each(kernels, bandwidth, launch_s, gap_s, barrier_s, ahead):
    time = len(kernels) * launch_s + sum(kernels) / bandwidth
    return _changed(1, time, kernels, bandwidth, launch_s, gap_s, barrier_s, ahead)


# wrong-result, free-graph: Recorded once, a graph costs nothing.
def the_graph_is_free(kernels, bandwidth, launch_s, gap_s, barrier_s, ahead):
    time = sum(kernels) / bandwidth + (len(kernels) - 1) * gap_s
    return _changed(1, time, kernels, bandwidth, launch_s, gap_s, barrier_s, ahead)


# wrong-result, free-graph: The one kernel is always there.
def the_kernel_is_free(kernels, bandwidth, launch_s, gap_s, barrier_s, ahead):
    if not kernels:
        return 0.0, 0.0, 0.0
    times, _ = _times(kernels, bandwidth, launch_s, gap_s, barrier_s, ahead)
    time = times[2] - launch_s
    return _changed(2, time, kernels, bandwidth, launch_s, gap_s, barrier_s, ahead)


# wrong-result, no-prefetch: At a barrier everything stands still.
def memory_rests(kernels, bandwidth, launch_s, gap_s, barrier_s, ahead):
    time = launch_s + sum(kernels) / bandwidth + (len(kernels) - 1) * barrier_s
    return _changed(2, time, kernels, bandwidth, launch_s, gap_s, barrier_s, ahead)


# wrong-result, free-barriers: One kernel has no gaps.
def barriers_are_free(kernels, bandwidth, launch_s, gap_s, barrier_s, ahead):
    time = launch_s + sum(kernels) / bandwidth
    return _changed(2, time, kernels, bandwidth, launch_s, gap_s, barrier_s, ahead)


# wrong-result, no-room: What the next part needs is fetched.
def fetches_without_a_limit(kernels, bandwidth, launch_s, gap_s, barrier_s, ahead):
    time = launch_s + sum(kernels) / bandwidth
    time += sum(barrier_s - min(barrier_s, moved / bandwidth) for moved in kernels[1:])
    return _changed(2, time, kernels, bandwidth, launch_s, gap_s, barrier_s, ahead)


# wrong-result, more-than-it-has: Room and time decide.
def fetches_more_than_there_is(kernels, bandwidth, launch_s, gap_s, barrier_s, ahead):
    early = min(barrier_s, ahead / bandwidth)
    time = launch_s + sum(kernels) / bandwidth + (len(kernels) - 1) * (barrier_s - early)
    return _changed(2, time, kernels, bandwidth, launch_s, gap_s, barrier_s, ahead)


# wrong-result, its-own-bytes: A part and its barrier belong together.
def fetches_its_own_bytes(kernels, bandwidth, launch_s, gap_s, barrier_s, ahead):
    early = [min(barrier_s, moved / bandwidth, ahead / bandwidth) for moved in kernels[:-1]]
    time = launch_s + sum(kernels) / bandwidth + sum(barrier_s - each for each in early)
    return _changed(2, time, kernels, bandwidth, launch_s, gap_s, barrier_s, ahead)


# wrong-result, seconds: Times are what there is to compare.
def in_seconds(kernels, bandwidth, launch_s, gap_s, barrier_s, ahead):
    if not kernels:
        return 0.0, 0.0, 0.0
    return tuple(_times(kernels, bandwidth, launch_s, gap_s, barrier_s, ahead)[0])


# wrong-result, inverse: How many times longer.
def upside_down(kernels, bandwidth, launch_s, gap_s, barrier_s, ahead):
    if not kernels or not any(kernels):
        return 0.0, 0.0, 0.0
    times, work = _times(kernels, bandwidth, launch_s, gap_s, barrier_s, ahead)
    return tuple(each / work for each in times)


# wrong-result, no-kernel: Nothing takes no time.
def nothing_is_perfect(kernels, bandwidth, launch_s, gap_s, barrier_s, ahead):
    if not kernels:
        return 1.0, 1.0, 1.0
    return _shares(*_times(kernels, bandwidth, launch_s, gap_s, barrier_s, ahead))
