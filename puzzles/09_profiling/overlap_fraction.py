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
    # your code here (about 12 lines)
    pass
