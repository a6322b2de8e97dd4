"""copy_overlap: in which order, and in which streams, to ask for it.

    copy_overlap(chunks, needs, streams) -> list of calls

    chunks   list of (in_bytes, kernel_s, out_bytes), one for each:
             bytes to the device, seconds of its kernel, bytes back
    needs    for each chunk the number of an earlier chunk whose kernel
             has to be over before its own begins, or None
    streams  how many there are; 1, 2, ... are their numbers

Return the calls of the host, in order. Each is a tuple:

    ("H2D", chunk, stream)       copy the chunk to the device
    ("kernel", chunk, stream)    launch its kernel
    ("D2H", chunk, stream)       copy its result back
    ("record", event, stream)    mark this place in the stream
    ("wait", event, stream)      what follows in the stream waits for it
    ("synchronise", stream)      the host waits for the stream

`chunk` is a number from 0, `event` any number of yours. The copy, the
kernel and the copy back of a chunk happen in this order, once each. A
stream keeps its order; nothing orders two streams but events and the
host's waiting, and what merely happens to be over in time counts for
nothing. A stream has room for one chunk on the device: all three of a
chunk go into one stream, and a chunk's three calls come before those
of the next chunk in that stream.

Each direction has a copy engine of its own, kernels run one at a time,
and host memory is pinned. A schedule passes if it takes at most 2 %
longer than ours. There may be one chunk, or none.
"""


def copy_overlap(chunks, needs, streams):
    # your code here (about 11 lines)
    pass
