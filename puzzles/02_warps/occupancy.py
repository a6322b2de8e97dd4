"""occupancy: how many blocks of a kernel one SM holds at the same time.

    occupancy(limits, registers, shared_bytes, threads) -> int

    limits        dict of ints, what one SM of the GPU can hold:
                    "warp_size"        threads in a warp
                    "warps", "blocks"  resident at the same time
                    "quarters"         parts of the SM; a warp stays in
                                       one of them
                    "registers"        in the SM, the same number in
                                       each quarter
                    "register_unit"    a warp gets its registers in
                                       whole units
                    "shared_bytes"     shared memory of the SM
                    "shared_unit"      a block gets its shared memory in
                                       whole units
                    "shared_reserved"  bytes that each block takes on
                                       top of its own
    registers     int, of one thread; 1 to 255
    shared_bytes  int, of one block; may be 0
    threads       int, in one block; 1 to 1024

Return a whole number; 0 where not even one block fits. Warps are whole:
40 threads are two. The limits are those of compute capabilities 7.0 to
12.0, or less shared memory where caches take some of it.
"""


def occupancy(limits, registers, shared_bytes, threads):
    # your code here (about 12 lines)
    pass


def round_up(number, unit):
    return -(-number // unit) * unit
