"""Wrong answers to occupancy that learners give."""


# wrong-result, no-block-limit: Three resources run out visibly; the fourth is a plain number in a
# table.
def forgets_the_limit_on_blocks(limits, registers, shared_bytes, threads):
    warps = -(-threads // limits["warp_size"])
    per_warp = round_up(registers * limits["warp_size"], limits["register_unit"])
    quarter = limits["registers"] // limits["quarters"] // per_warp
    per_block = round_up(shared_bytes + limits["shared_reserved"], limits["shared_unit"])
    most = [limits["warps"] // warps, quarter * limits["quarters"] // warps]
    return min([*most, limits["shared_bytes"] // per_block] if per_block else most)


# wrong-result, one-pool: Rounds for each warp, and then lets every warp draw on the whole SM.
def registers_in_one_heap(limits, registers, shared_bytes, threads):
    warps = -(-threads // limits["warp_size"])
    per_warp = round_up(registers * limits["warp_size"], limits["register_unit"])
    per_block = round_up(shared_bytes + limits["shared_reserved"], limits["shared_unit"])
    most = [
        limits["blocks"],
        limits["warps"] // warps,
        limits["registers"] // (per_warp * warps),
    ]
    return min([*most, limits["shared_bytes"] // per_block] if per_block else most)


# wrong-result, not-rounded: 41 registers are 41 registers.
def registers_as_they_are_used(limits, registers, shared_bytes, threads):
    warps = -(-threads // limits["warp_size"])
    per_block = round_up(shared_bytes + limits["shared_reserved"], limits["shared_unit"])
    most = [
        limits["blocks"],
        limits["warps"] // warps,
        limits["registers"] // (registers * limits["warp_size"] * warps),
    ]
    return min([*most, limits["shared_bytes"] // per_block] if per_block else most)


# wrong-result, part-warps: An SM holds 1,536 threads, so a block of 136 fits eleven times.
def counts_threads_not_warps(limits, registers, shared_bytes, threads):
    per_block = round_up(shared_bytes + limits["shared_reserved"], limits["shared_unit"])
    most = [
        limits["blocks"],
        limits["warps"] * limits["warp_size"] // threads,
        limits["registers"] // (registers * threads),
    ]
    return min([*most, limits["shared_bytes"] // per_block] if per_block else most)


# wrong-result, unit-for-a-thread: Gives each thread a whole unit of registers.
def a_unit_for_each_thread(limits, registers, shared_bytes, threads):
    warps = -(-threads // limits["warp_size"])
    per_warp = round_up(registers, limits["register_unit"]) * limits["warp_size"]
    quarter = limits["registers"] // limits["quarters"] // per_warp
    per_block = round_up(shared_bytes + limits["shared_reserved"], limits["shared_unit"])
    most = [limits["blocks"], limits["warps"] // warps, quarter * limits["quarters"] // warps]
    return min([*most, limits["shared_bytes"] // per_block] if per_block else most)


# wrong-result, nothing-reserved: What the system keeps is easily overlooked.
def shared_memory_as_asked_for(limits, registers, shared_bytes, threads):
    warps = -(-threads // limits["warp_size"])
    per_warp = round_up(registers * limits["warp_size"], limits["register_unit"])
    quarter = limits["registers"] // limits["quarters"] // per_warp
    per_block = round_up(shared_bytes, limits["shared_unit"])
    most = [limits["blocks"], limits["warps"] // warps, quarter * limits["quarters"] // warps]
    return min([*most, limits["shared_bytes"] // per_block] if per_block else most)


# wrong-result, warps: Occupancy is told in warps, so it hands back warps.
def returns_warps(limits, registers, shared_bytes, threads):
    warps = -(-threads // limits["warp_size"])
    per_warp = round_up(registers * limits["warp_size"], limits["register_unit"])
    quarter = limits["registers"] // limits["quarters"] // per_warp
    per_block = round_up(shared_bytes + limits["shared_reserved"], limits["shared_unit"])
    most = [limits["blocks"], limits["warps"] // warps, quarter * limits["quarters"] // warps]
    return warps * min([*most, limits["shared_bytes"] // per_block] if per_block else most)


# wrong-result, wrong-type: Takes the smallest quotient as it comes.
def divides_with_a_slash(limits, registers, shared_bytes, threads):
    warps = -(-threads // limits["warp_size"])
    per_warp = round_up(registers * limits["warp_size"], limits["register_unit"])
    per_block = round_up(shared_bytes + limits["shared_reserved"], limits["shared_unit"])
    return min(
        limits["blocks"],
        limits["warps"] / warps,
        limits["registers"] / per_warp / warps,
        limits["shared_bytes"] / per_block if per_block else limits["blocks"],
    )


# wrong-result, reserved-everywhere: What CUDA keeps of shared memory is written down as it is
# from Ampere on.
def reserves_on_every_gpu(limits, registers, shared_bytes, threads):
    warps = -(-threads // limits["warp_size"])
    per_warp = round_up(registers * limits["warp_size"], limits["register_unit"])
    in_quarter = limits["registers"] // limits["quarters"] // per_warp
    most = [limits["blocks"], limits["warps"] // warps, in_quarter * limits["quarters"] // warps]
    per_block = round_up(shared_bytes + 1024, limits["shared_unit"])
    return min([*most, limits["shared_bytes"] // per_block])


# wrong-result, unit-of-today: The unit of shared memory is written down as it is on the GPU at
# hand.
def the_unit_of_today(limits, registers, shared_bytes, threads):
    warps = -(-threads // limits["warp_size"])
    per_warp = round_up(registers * limits["warp_size"], limits["register_unit"])
    in_quarter = limits["registers"] // limits["quarters"] // per_warp
    most = [limits["blocks"], limits["warps"] // warps, in_quarter * limits["quarters"] // warps]
    per_block = round_up(shared_bytes + limits["shared_reserved"], 128)
    if per_block:
        most.append(limits["shared_bytes"] // per_block)
    return min(most)


def round_up(number, unit):
    return -(-number // unit) * unit
