"""Wrong answers to copy_overlap that learners give."""


def _calls(chunks, needs, streams, wait="kernel", record="kernel"):
    calls = []
    for chunk in range(len(chunks)):
        stream = chunk % streams + 1
        for work in ("H2D", "kernel", "D2H"):
            if work == wait and needs[chunk] is not None:
                calls.append(("wait", needs[chunk], stream))
            calls.append((work, chunk, stream))
            if work == record and chunk in needs:
                calls.append(("record", chunk, stream))
    return calls


# over-budget, one-stream: One stream keeps everything in order.
def all_in_one_stream(chunks, needs, streams):
    return [(work, chunk, 1) for chunk in range(len(chunks)) for work in ("H2D", "kernel", "D2H")]


# wrong-result, no-event: Streams run the chunks, and the kernels come in order anyway.
def no_events(chunks, needs, streams):
    return _calls(chunks, [None] * len(chunks), streams)


# over-budget, host-waits: Waits for each chunk before it goes on, to be safe.
def waits_for_each_chunk(chunks, needs, streams):
    calls = []
    for chunk in range(len(chunks)):
        stream = chunk % streams + 1
        calls += [(work, chunk, stream) for work in ("H2D", "kernel", "D2H")]
        calls.append(("synchronise", stream))
    return calls


# over-budget, host-waits: Lets the host wait for the kernel that is needed, in place of an event.
def the_host_orders_the_streams(chunks, needs, streams):
    calls = []
    for chunk in range(len(chunks)):
        stream = chunk % streams + 1
        calls.append(("H2D", chunk, stream))
        if needs[chunk] is not None:
            calls.append(("synchronise", needs[chunk] % streams + 1))
        calls += [("kernel", chunk, stream), ("D2H", chunk, stream)]
    return calls


# over-budget, waits-early: The chunk needs the other kernel, so the whole chunk waits.
def the_copy_waits_too(chunks, needs, streams):
    return _calls(chunks, needs, streams, wait="H2D")


# over-budget, records-late: Records when the chunk is through.
def records_after_the_copy_back(chunks, needs, streams):
    return _calls(chunks, needs, streams, record="D2H")


# over-budget, few-streams: Two buffers are enough: one is filled while the other is worked on.
def two_streams(chunks, needs, streams):
    return _calls(chunks, needs, min(2, streams))


# wrong-result, out-of-order: All copies first, then all kernels, then all copies back.
def breadth_first(chunks, needs, streams):
    calls = []
    for work in ("H2D", "kernel", "D2H"):
        for chunk in range(len(chunks)):
            stream = chunk % streams + 1
            if work == "kernel" and needs[chunk] is not None:
                calls.append(("wait", needs[chunk], stream))
            calls.append((work, chunk, stream))
            if work == "kernel":
                calls.append(("record", chunk, stream))
    return calls


# wrong-result, wait-first: Waits for an event before it is recorded.
def waits_for_what_is_not_recorded(chunks, needs, streams):
    calls = _calls(chunks, needs, streams)
    records = [call for call in calls if call[0] == "record"]
    return [call for call in calls if call[0] != "record"] + records
