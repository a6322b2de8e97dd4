"""who_waits: what did the host really wait for?

    who_waits(events) -> dict

    events  list of (name, kind, stream, call, start, end), times in
            nanoseconds, whole numbers

kind is "launch" or "sync" for a call of the host, which has one
thread, and "device" for a kernel or a copy on the device. `call` is the
number of the host's call, counted up; device work has that of the
launch that asked for it. Each stream works through what is asked of it
in order, one thing at a time.

A "sync" waits for all work of its stream that was asked for before it;
with stream None, for that of all streams. Of this work, take what ends
last, and if two end at one moment, the one with the larger call. The
host waits for that, and for what runs before it in the same stream.

Split the time from the start of each sync to that end over the work of
this stream by when it runs, and give what is left to "idle". A sync
whose work was over when it began waits for nothing. Return {name:
nanoseconds waited for}, added up over all syncs, without names that
get 0. The list is in no order, and may be empty.
"""


def who_waits(events):
    # your code here (about 18 lines)
    pass
