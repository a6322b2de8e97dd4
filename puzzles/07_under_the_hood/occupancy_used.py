"""occupancy_used: what the compiler's registers leave room for.

    occupancy_used(limits, registers, shared_bytes, threads)
        -> (int, int)

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
    registers     int, of one thread, as the compiler reports them;
                  1 to 255
    shared_bytes  int, of one block; may be 0
    threads       int, in one block; 1 to 1024

Return two whole numbers: how many blocks one SM holds, 0 where not even
one fits; and the most registers a thread may have so that one block
more fits than that. The second is 0 where no number of registers lets
another block in.
"""


def occupancy_used(limits, registers, shared_bytes, threads):
    # your code here (about 13 lines)
    pass


def round_up(number, unit):
    return -(-number // unit) * unit
