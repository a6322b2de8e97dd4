"""Wrong answers to soa_from_aos that learners give."""

from numba import cuda

TPB = 64
FIELDS = 4


# over-budget, over-budget: A thread for a particle: the obvious kernel.
@cuda.jit
def a_thread_for_a_particle(out, a, size):
    i = cuda.grid(1)
    if i < size:
        for field in range(FIELDS):
            out[field, i] = a[i, field]


# over-budget, over-budget: Shares out the numbers field after field: the lanes of a load are all
# on one field.
@cuda.jit
def field_after_field(out, a, size):
    field = cuda.threadIdx.x // (TPB // FIELDS)
    first = cuda.blockIdx.x * TPB + cuda.threadIdx.x % (TPB // FIELDS)
    for k in range(FIELDS):
        i = first + k * (TPB // FIELDS)
        if i < size:
            out[field, i] = a[i, field]


# over-budget, over-budget: Four neighbouring particles for each thread, of one field.
@cuda.jit
def four_particles_in_a_row(out, a, size):
    field = cuda.threadIdx.x % FIELDS
    first = cuda.blockIdx.x * TPB + cuda.threadIdx.x // FIELDS * FIELDS
    for k in range(FIELDS):
        i = first + k
        if i < size:
            out[field, i] = a[i, field]


# wrong-result, transposed: Copies number after number: the order stays what it was.
@cuda.jit
def copied_in_order(out, a, size):
    first = cuda.blockIdx.x * TPB * FIELDS + cuda.threadIdx.x
    for k in range(FIELDS):
        number = first + k * TPB
        if number < FIELDS * size:
            out[number // size, number % size] = a[number // FIELDS, number % FIELDS]


# hazard, race: Leaves out the block's 64 particles to four threads of it each, but counts blocks
# by threads.
@cuda.jit
def blocks_too_close(out, a, size):
    field = cuda.grid(1) % FIELDS
    first = cuda.grid(1) // FIELDS
    for k in range(FIELDS):
        i = first + k * (TPB // FIELDS)
        if i < size:
            out[field, i] = a[i, field]


# hazard, out-of-bounds: Guards the first particle of a thread and trusts the others.
@cuda.jit
def guards_the_first_alone(out, a, size):
    field = cuda.threadIdx.x % FIELDS
    first = cuda.blockIdx.x * TPB + cuda.threadIdx.x // FIELDS
    if first < size:
        for k in range(FIELDS):
            i = first + k * (TPB // FIELDS)
            out[field, i] = a[i, field]


# hazard, out-of-bounds: Exchanges the indices of the output as well.
@cuda.jit
def indices_not_exchanged(out, a, size):
    i = cuda.grid(1)
    if i < size:
        for field in range(FIELDS):
            out[i, field] = a[i, field]


# wrong-result, tail-unwritten: Leaves the mass behind: a position has three numbers.
@cuda.jit
def without_the_mass(out, a, size):
    i = cuda.grid(1)
    if i < size:
        for field in range(3):
            out[field, i] = a[i, field]


# over-budget, not-shared: One thread of the block moves all of its particles.
@cuda.jit
def one_thread_moves_all(out, a, size):
    if cuda.threadIdx.x == 0:
        start = cuda.blockIdx.x * TPB
        for i in range(start, min(start + TPB, size)):
            for field in range(FIELDS):
                out[field, i] = a[i, field]
