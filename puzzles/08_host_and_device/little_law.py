"""little_law: how many bytes are on their way, and how many must be.

    little_law(grid, block, room, loads, width, latency_ns, gb_per_s)
        -> (in_flight_bytes, reached, least_loads)

    grid        blocks of the launch
    block       threads in a block
    room        blocks that the GPU can hold at the same time
    loads       loads that a thread issues before it waits for the first
    width       bytes that one load brings a thread
    latency_ns  nanoseconds from a load to its data
    gb_per_s    GB/s that the memory delivers: bytes in a nanosecond

All are whole numbers, and the last two are 1 or more. Every thread
does nothing but load neighbouring numbers. Return three numbers:

    in_flight_bytes  bytes on their way while the GPU is as full as it
                     gets with this launch
    reached          the GB/s that these bytes bring, by Little's law;
                     never more than the memory delivers
    least_loads      how many loads each thread would have to issue
                     before it waits, for the memory to be fully busy;
                     None where no thread is there, or none loads bytes
"""


def little_law(grid, block, room, loads, width, latency_ns, gb_per_s):
    # your code here (about 7 lines)
    pass
