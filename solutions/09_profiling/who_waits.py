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
    # answer
    device = [e for e in events if e[1] == "device"]
    blamed = {}
    for _, kind, stream, call, start, _ in events:
        asked = [e for e in device if e[3] < call]
        if stream is not None:
            asked = [e for e in asked if e[2] == stream]
        if kind != "sync" or not asked:
            continue
        last = max(asked, key=lambda e: (e[5], e[3]))
        left = max(0, last[5] - start)
        for name, _, lane, _, began, ended in asked:
            took = ended - max(began, start)
            if lane == last[2] and took > 0:
                blamed[name] = blamed.get(name, 0) + took
                left -= took
        if left:
            blamed["idle"] = blamed.get("idle", 0) + left
    return blamed
    # end answer
