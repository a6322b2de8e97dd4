"""Wrong answers to little_law that learners give."""


def _told(threads, loads, width, latency_ns, gb_per_s):
    in_flight = threads * loads * width
    reached = min(gb_per_s, in_flight / latency_ns)
    if not threads * width:
        return in_flight, reached, None
    return in_flight, reached, -(-latency_ns * gb_per_s // (threads * width))


# wrong-result, whole-grid: All blocks of the launch are on their way at once.
def counts_the_whole_grid(grid, block, room, loads, width, latency_ns, gb_per_s):
    return _told(grid * block, loads, width, latency_ns, gb_per_s)


# wrong-result, full-gpu: The GPU is always full.
def always_full(grid, block, room, loads, width, latency_ns, gb_per_s):
    return _told(room * block, loads, width, latency_ns, gb_per_s)


# wrong-result, blocks: Counts blocks where threads load.
def blocks_for_threads(grid, block, room, loads, width, latency_ns, gb_per_s):
    return _told(min(grid, room), loads, width, latency_ns, gb_per_s)


# wrong-result, one-load: Each thread has one load on its way.
def one_load_each(grid, block, room, loads, width, latency_ns, gb_per_s):
    return _told(min(grid, room) * block, 1, width, latency_ns, gb_per_s)


# wrong-result, no-ceiling: More in flight is more, for ever.
def beyond_the_memory(grid, block, room, loads, width, latency_ns, gb_per_s):
    found = _told(min(grid, room) * block, loads, width, latency_ns, gb_per_s)
    return found[0], found[0] / latency_ns, found[2]


# wrong-result, rounded-down: A part of a load is no load.
def rounds_down(grid, block, room, loads, width, latency_ns, gb_per_s):
    threads = min(grid, room) * block
    found = _told(threads, loads, width, latency_ns, gb_per_s)
    if found[2] is None:
        return found
    return found[0], found[1], latency_ns * gb_per_s // (threads * width)


# wrong-result, beside: Takes the loads that are there already off those that are needed.
def how_many_more(grid, block, room, loads, width, latency_ns, gb_per_s):
    found = _told(min(grid, room) * block, loads, width, latency_ns, gb_per_s)
    if found[2] is None:
        return found
    return found[0], found[1], max(0, found[2] - loads)


# wrong-result, divided: The latency over what is in flight, as if time were asked for.
def upside_down(grid, block, room, loads, width, latency_ns, gb_per_s):
    found = _told(min(grid, room) * block, loads, width, latency_ns, gb_per_s)
    return found[0], latency_ns / max(1, found[0]), found[2]
