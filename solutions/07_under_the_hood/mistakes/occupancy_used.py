"""Wrong answers to occupancy_used that learners give."""


def found(limits, registers, shared_bytes, threads, units=True, pool=False, kept=True):
    """(what registers let in, what the rest lets in, warps of a block)"""
    warps = -(-threads // limits["warp_size"])
    rest = [limits["blocks"], limits["warps"] // warps]
    reserved = limits["shared_reserved"] if kept else 0
    taken = round_up(shared_bytes + reserved, limits["shared_unit"])
    if taken:
        rest.append(limits["shared_bytes"] // taken)
    unit = limits["register_unit"] if units else 1
    per_warp = round_up(registers * limits["warp_size"], unit)
    quarters = 1 if pool else limits["quarters"]
    by_registers = limits["registers"] // quarters // per_warp * quarters // warps
    return by_registers, min(rest), warps


def one_more(limits, blocks, warps):
    in_quarter = -(-(blocks + 1) * warps // limits["quarters"])
    room = limits["registers"] // limits["quarters"] // in_quarter
    return room // limits["register_unit"] * limits["register_unit"] // limits["warp_size"]


def round_up(number, unit):
    return -(-number // unit) * unit


# wrong-result, not-rounded: 121 registers are 121 registers.
def registers_as_reported(limits, registers, shared_bytes, threads):
    mine, rest, warps = found(limits, registers, shared_bytes, threads, units=False)
    blocks = min(mine, rest)
    return blocks, 0 if blocks == rest else one_more(limits, blocks, warps)


# wrong-result, one-pool: An SM has 65,536 registers, so it divides those.
def registers_in_one_heap(limits, registers, shared_bytes, threads):
    mine, rest, warps = found(limits, registers, shared_bytes, threads, pool=True)
    blocks = min(mine, rest)
    room = limits["registers"] // ((blocks + 1) * warps)
    fewer = room // limits["register_unit"] * limits["register_unit"] // limits["warp_size"]
    return blocks, 0 if blocks == rest else fewer


# wrong-result, nothing-reserved: What the system keeps is easily overlooked.
def shared_memory_as_asked_for(limits, registers, shared_bytes, threads):
    mine, rest, warps = found(limits, registers, shared_bytes, threads, kept=False)
    blocks = min(mine, rest)
    return blocks, 0 if blocks == rest else one_more(limits, blocks, warps)


# wrong-result, something-else: Looks at the registers alone for the second number.
def forgets_the_other_limits(limits, registers, shared_bytes, threads):
    mine, rest, warps = found(limits, registers, shared_bytes, threads)
    blocks = min(mine, rest)
    return blocks, one_more(limits, blocks, warps)


# wrong-result, most-of-all: Fewer registers are for more occupancy, so for all there is.
def goes_for_full_occupancy(limits, registers, shared_bytes, threads):
    mine, rest, warps = found(limits, registers, shared_bytes, threads)
    blocks = min(mine, rest)
    return blocks, 0 if blocks == rest else one_more(limits, rest - 1, warps)


# wrong-result, next-unit: A unit is 8 registers of a thread, so 8 fewer make a step.
def takes_one_unit_off(limits, registers, shared_bytes, threads):
    mine, rest, _ = found(limits, registers, shared_bytes, threads)
    blocks = min(mine, rest)
    step = limits["register_unit"] // limits["warp_size"]
    return blocks, 0 if blocks == rest else round_up(registers, step) - step


# wrong-result, not-in-units: Divides what a quarter has by its warps and by 32.
def divides_to_the_last_register(limits, registers, shared_bytes, threads):
    mine, rest, warps = found(limits, registers, shared_bytes, threads)
    blocks = min(mine, rest)
    in_quarter = -(-(blocks + 1) * warps // limits["quarters"])
    room = limits["registers"] // limits["quarters"] // in_quarter // limits["warp_size"]
    return blocks, 0 if blocks == rest else room


# wrong-result, part-warps: 72 threads take the registers of 72 threads.
def counts_threads_not_warps(limits, registers, shared_bytes, threads):
    _, rest, warps = found(limits, registers, shared_bytes, threads)
    blocks = min(rest, limits["registers"] // (round_up(registers, 8) * threads))
    return blocks, 0 if blocks == rest else one_more(limits, blocks, warps)


# wrong-result, one-number: The number of blocks is what occupancy is about.
def returns_the_blocks_alone(limits, registers, shared_bytes, threads):
    mine, rest, _ = found(limits, registers, shared_bytes, threads)
    return min(mine, rest)
