"""overlap_fraction: how much of the moving is hidden under compute?

    overlap_fraction(events) -> float or None

    events  list of (kind, start, end): "compute", "copy" or
            "communication", and when it ran on the device, in
            nanoseconds, whole numbers; start <= end

Events of several streams run at the same time, also several of one
kind. Take the time in which at least one copy or communication runs.
Return the share of that time in which at least one compute event runs
as well, from 0 to 1, and None if there is no such time.

The list is in no order, and may be empty. An event may have length 0,
and events may touch.
"""


def overlap_fraction(events):
    # answer
    def length(spans):
        total, until = 0, float("-inf")
        for start, end in sorted(spans):
            total += max(0, end - max(start, until))
            until = max(until, end)
        return total

    moving = [(s, e) for kind, s, e in events if kind != "compute"]
    compute = [(s, e) for kind, s, e in events if kind == "compute"]
    if not length(moving):
        return None
    both = length(moving) + length(compute) - length(moving + compute)
    return both / length(moving)
    # end answer
