"""Wrong answers to rope that learners give."""

from numba import cuda, uint32

TPB = 64


# wrong-result, neighbours: Pairs each number with its neighbour.
@cuda.jit
def neighbours(q, k, position, cos, sin, heads, kv_heads, half):
    token = uint32(cuda.blockIdx.x)
    i = uint32(cuda.blockIdx.y * TPB + cuda.threadIdx.x)
    head = uint32(i // uint32(half))
    pair = uint32(i - head * half)
    if head < heads + kv_heads:
        at = uint32(position[token])
        c = cos[at, pair]
        s = sin[at, pair]
        if head < heads:
            a = q[token, head, 2 * pair]
            b = q[token, head, 2 * pair + 1]
            q[token, head, 2 * pair] = a * c - b * s
            q[token, head, 2 * pair + 1] = b * c + a * s
        else:
            head = uint32(head - heads)
            a = k[token, head, 2 * pair]
            b = k[token, head, 2 * pair + 1]
            k[token, head, 2 * pair] = a * c - b * s
            k[token, head, 2 * pair + 1] = b * c + a * s


# wrong-result, token-for-position: Takes the token's number for its position.
@cuda.jit
def token_for_position(q, k, position, cos, sin, heads, kv_heads, half):
    token = uint32(cuda.blockIdx.x)
    i = uint32(cuda.blockIdx.y * TPB + cuda.threadIdx.x)
    head = uint32(i // uint32(half))
    pair = uint32(i - head * half)
    if head < heads + kv_heads:
        at = token
        c = cos[at, pair]
        s = sin[at, pair]
        if head < heads:
            a = q[token, head, pair]
            b = q[token, head, half + pair]
            q[token, head, pair] = a * c - b * s
            q[token, head, half + pair] = b * c + a * s
        else:
            head = uint32(head - heads)
            a = k[token, head, pair]
            b = k[token, head, half + pair]
            k[token, head, pair] = a * c - b * s
            k[token, head, half + pair] = b * c + a * s


# wrong-result, turned-back: Turns the other way.
@cuda.jit
def turned_back(q, k, position, cos, sin, heads, kv_heads, half):
    token = uint32(cuda.blockIdx.x)
    i = uint32(cuda.blockIdx.y * TPB + cuda.threadIdx.x)
    head = uint32(i // uint32(half))
    pair = uint32(i - head * half)
    if head < heads + kv_heads:
        at = uint32(position[token])
        c = cos[at, pair]
        s = sin[at, pair]
        if head < heads:
            a = q[token, head, pair]
            b = q[token, head, half + pair]
            q[token, head, pair] = a * c + b * s
            q[token, head, half + pair] = b * c - a * s
        else:
            head = uint32(head - heads)
            a = k[token, head, pair]
            b = k[token, head, half + pair]
            k[token, head, pair] = a * c + b * s
            k[token, head, half + pair] = b * c - a * s


# wrong-result, second-of-the-new: Works the second number out from the new first.
@cuda.jit
def from_the_new(q, k, position, cos, sin, heads, kv_heads, half):
    token = uint32(cuda.blockIdx.x)
    i = uint32(cuda.blockIdx.y * TPB + cuda.threadIdx.x)
    head = uint32(i // uint32(half))
    pair = uint32(i - head * half)
    if head < heads + kv_heads:
        at = uint32(position[token])
        c = cos[at, pair]
        s = sin[at, pair]
        if head < heads:
            a = q[token, head, pair] * c - q[token, head, half + pair] * s
            b = q[token, head, half + pair]
            q[token, head, pair] = a
            q[token, head, half + pair] = b * c + a * s
        else:
            head = uint32(head - heads)
            a = k[token, head, pair] * c - k[token, head, half + pair] * s
            b = k[token, head, half + pair]
            k[token, head, pair] = a
            k[token, head, half + pair] = b * c + a * s


# wrong-result, k-left-out: Turns the queries alone.
@cuda.jit
def queries_alone(q, k, position, cos, sin, heads, kv_heads, half):
    token = uint32(cuda.blockIdx.x)
    i = uint32(cuda.blockIdx.y * TPB + cuda.threadIdx.x)
    head = uint32(i // uint32(half))
    pair = uint32(i - head * half)
    if head < heads:
        at = uint32(position[token])
        c = cos[at, pair]
        s = sin[at, pair]
        if head < heads:
            a = q[token, head, pair]
            b = q[token, head, half + pair]
            q[token, head, pair] = a * c - b * s
            q[token, head, half + pair] = b * c + a * s
        else:
            head = uint32(head - heads)
            a = k[token, head, pair]
            b = k[token, head, half + pair]
            k[token, head, pair] = a * c - b * s
            k[token, head, half + pair] = b * c + a * s


# wrong-result, one-angle: Turns all pairs of a head by the first angle.
@cuda.jit
def one_angle(q, k, position, cos, sin, heads, kv_heads, half):
    token = uint32(cuda.blockIdx.x)
    i = uint32(cuda.blockIdx.y * TPB + cuda.threadIdx.x)
    head = uint32(i // uint32(half))
    pair = uint32(i - head * half)
    if head < heads + kv_heads:
        at = uint32(position[token])
        c = cos[at, 0]
        s = sin[at, 0]
        if head < heads:
            a = q[token, head, pair]
            b = q[token, head, half + pair]
            q[token, head, pair] = a * c - b * s
            q[token, head, half + pair] = b * c + a * s
        else:
            head = uint32(head - heads)
            a = k[token, head, pair]
            b = k[token, head, half + pair]
            k[token, head, pair] = a * c - b * s
            k[token, head, half + pair] = b * c + a * s


# wrong-result, swapped: Takes the sine for the cosine.
@cuda.jit
def sine_for_cosine(q, k, position, cos, sin, heads, kv_heads, half):
    token = uint32(cuda.blockIdx.x)
    i = uint32(cuda.blockIdx.y * TPB + cuda.threadIdx.x)
    head = uint32(i // uint32(half))
    pair = uint32(i - head * half)
    if head < heads + kv_heads:
        at = uint32(position[token])
        c = sin[at, pair]
        s = cos[at, pair]
        if head < heads:
            a = q[token, head, pair]
            b = q[token, head, half + pair]
            q[token, head, pair] = a * c - b * s
            q[token, head, half + pair] = b * c + a * s
        else:
            head = uint32(head - heads)
            a = k[token, head, pair]
            b = k[token, head, half + pair]
            k[token, head, pair] = a * c - b * s
            k[token, head, half + pair] = b * c + a * s


# hazard, out-of-bounds: Forgets that the last block may have threads to spare.
@cuda.jit
def no_guard(q, k, position, cos, sin, heads, kv_heads, half):
    token = uint32(cuda.blockIdx.x)
    i = uint32(cuda.blockIdx.y * TPB + cuda.threadIdx.x)
    head = uint32(i // uint32(half))
    pair = uint32(i - head * half)
    if True:
        at = uint32(position[token])
        c = cos[at, pair]
        s = sin[at, pair]
        if head < heads:
            a = q[token, head, pair]
            b = q[token, head, half + pair]
            q[token, head, pair] = a * c - b * s
            q[token, head, half + pair] = b * c + a * s
        else:
            head = uint32(head - heads)
            a = k[token, head, pair]
            b = k[token, head, half + pair]
            k[token, head, pair] = a * c - b * s
            k[token, head, half + pair] = b * c + a * s


# hazard, race: Gives each number a thread, which reads both.
@cuda.jit
def a_thread_for_each_number(q, k, position, cos, sin, heads, kv_heads, half):
    token = uint32(cuda.blockIdx.x)
    for i in range(
        cuda.blockIdx.y * TPB + cuda.threadIdx.x,
        (heads + kv_heads) * 2 * half,
        cuda.gridDim.y * TPB,
    ):
        head = uint32(i // (2 * half))
        j = uint32(i - head * 2 * half)
        at = uint32(position[token])
        pair = uint32(j % half)
        c = cos[at, pair]
        s = sin[at, pair] if j >= half else -sin[at, pair]
        other = uint32((j + half) % (2 * half))
        if head < heads:
            q[token, head, j] = q[token, head, j] * c + q[token, head, other] * s
        else:
            own = uint32(head - heads)
            k[token, own, j] = k[token, own, j] * c + k[token, own, other] * s


# over-budget, not-shared: Gives each head a single thread.
@cuda.jit
def a_thread_for_each_head(q, k, position, cos, sin, heads, kv_heads, half):
    token = uint32(cuda.blockIdx.x)
    head = uint32(cuda.blockIdx.y * TPB + cuda.threadIdx.x)
    if head < heads + kv_heads:
        at = uint32(position[token])
        for pair in range(half):
            c = cos[at, pair]
            s = sin[at, pair]
            if head < heads:
                a = q[token, head, pair]
                b = q[token, head, half + pair]
                q[token, head, pair] = a * c - b * s
                q[token, head, half + pair] = b * c + a * s
            else:
                own = uint32(head - heads)
                a = k[token, own, pair]
                b = k[token, own, half + pair]
                k[token, own, pair] = a * c - b * s
                k[token, own, half + pair] = b * c + a * s


# over-budget, over-budget: Gives neighbouring threads neighbouring heads.
@cuda.jit
def heads_side_by_side(q, k, position, cos, sin, heads, kv_heads, half):
    token = uint32(cuda.blockIdx.x)
    i = uint32(cuda.blockIdx.y * TPB + cuda.threadIdx.x)
    pair = uint32(i // uint32(heads + kv_heads))
    head = uint32(i - pair * (heads + kv_heads))
    if pair < half:
        at = uint32(position[token])
        c = cos[at, pair]
        s = sin[at, pair]
        if head < heads:
            a = q[token, head, pair]
            b = q[token, head, half + pair]
            q[token, head, pair] = a * c - b * s
            q[token, head, half + pair] = b * c + a * s
        else:
            head = uint32(head - heads)
            a = k[token, head, pair]
            b = k[token, head, half + pair]
            k[token, head, pair] = a * c - b * s
            k[token, head, half + pair] = b * c + a * s
