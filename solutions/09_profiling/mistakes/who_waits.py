"""Wrong answers to who_waits that learners give."""


def _split(events, clip=True, lanes=True, later=False, idle=True, tie=True):
    device = [e for e in events if e[1] == "device"]
    blamed = {}
    for _, kind, stream, call, start, _ in events:
        asked = [e for e in device if (later or e[3] < call) and stream in (None, e[2])]
        if kind != "sync" or not asked:
            continue
        last = max(asked, key=lambda e: (e[5], e[3] if tie else -e[3]))
        left = max(0, last[5] - start)
        for name, _, lane, _, began, ended in asked:
            took = min(ended, last[5]) - max(began, start)
            if took > 0 and (lane == last[2] or not lanes):
                took = took if clip else ended - began
                blamed[name] = blamed.get(name, 0) + took
                left -= took
        if left > 0 and idle:
            blamed["idle"] = blamed.get("idle", 0) + left
    return blamed


# wrong-result, call-blamed: The table says that cudaDeviceSynchronize is slow.
def the_call_itself(events):
    blamed = {}
    for name, kind, _, _, start, end in events:
        if kind == "sync" and end > start:
            blamed[name] = blamed.get(name, 0) + end - start
    return blamed


# wrong-result, last-alone: It waits for the kernel before it.
def the_last_kernel_alone(events):
    blamed = {}
    for _, kind, stream, call, start, _ in events:
        asked = [e for e in events if e[1] == "device" and e[3] < call and stream in (None, e[2])]
        if kind == "sync" and asked:
            last = max(asked, key=lambda e: (e[5], e[3]))
            if last[5] > start:
                blamed[last[0]] = blamed.get(last[0], 0) + last[5] - start
    return blamed


# wrong-result, from-its-start: Whoever runs during the wait is blamed for all of its time.
def whole_kernels(events):
    return _split(events, clip=False)


# wrong-result, all-streams: Who runs meanwhile is waited for.
def every_stream(events):
    blamed = {}
    for _, kind, _, call, start, end in events:
        if kind != "sync":
            continue
        for name, what, _, asked, began, ended in events:
            took = min(ended, end) - max(began, start)
            if what == "device" and asked < call and took > 0:
                blamed[name] = blamed.get(name, 0) + took
    return blamed


# wrong-result, later-work: Looks at all work of the stream, whenever it was asked for.
def work_of_later_calls(events):
    return _split(events, later=True)


# wrong-result, no-idle: Only kernels take time.
def without_gaps(events):
    return _split(events, idle=False)


# wrong-result, whole-call: The last kernel before it, however long ago, has the whole call.
def never_asks_whether_it_is_over(events):
    blamed = {}
    for _, kind, stream, call, start, _ in events:
        asked = [e for e in events if e[1] == "device" and e[3] < call and stream in (None, e[2])]
        if kind != "sync" or not asked:
            continue
        last = max(asked, key=lambda e: (e[5], e[3]))
        for name, _, lane, _, began, ended in asked:
            if lane == last[2] and min(ended, last[5]) > max(began, start):
                took = min(ended, last[5]) - max(began, start)
                blamed[name] = blamed.get(name, 0) + took
        left = abs(last[5] - start) - sum(
            max(0, min(e[5], last[5]) - max(e[4], start)) for e in asked if e[2] == last[2]
        )
        if left:
            blamed["idle"] = blamed.get("idle", 0) + left
    return blamed


# wrong-result, tie: Of two that end together, the one that was asked for first.
def the_earlier_call_of_a_tie(events):
    return _split(events, tie=False)


# wrong-result, with-zeros: Begins with a 0 for every name.
def a_zero_for_every_name(events):
    return {e[0]: 0 for e in events if e[1] == "device"} | _split(events)
