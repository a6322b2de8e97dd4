"""Wrong answers to adamw that learners give."""

import math

from numba import cuda, float32

TPB = 64
BETA_M = float32(0.9)
BETA_V = float32(0.95)
REST_M = float32(0.1)
REST_V = float32(0.05)


# wrong-result, no-correction: Leaves out the correction of the first steps.
@cuda.jit
def no_correction(w, m, v, grad, size, rate, decay, eps, fix_m, fix_v):
    i = cuda.grid(1)
    if i < size:
        g = grad[i]
        mean = BETA_M * m[i] + REST_M * g
        square = BETA_V * v[i] + REST_V * g * g
        m[i] = mean
        v[i] = square
        old = w[i]
        old -= rate * decay * old
        w[i] = old - rate * (mean) / (math.sqrt(square) + eps)


# wrong-result, decay-in-the-gradient: Adds the decay to the gradient, as Adam with L2 does.
@cuda.jit
def decay_in_the_gradient(w, m, v, grad, size, rate, decay, eps, fix_m, fix_v):
    i = cuda.grid(1)
    if i < size:
        old = w[i]
        g = grad[i] + decay * old
        mean = BETA_M * m[i] + REST_M * g
        square = BETA_V * v[i] + REST_V * g * g
        m[i] = mean
        v[i] = square
        w[i] = old - rate * (mean / fix_m) / (math.sqrt(square / fix_v) + eps)


# wrong-result, eps-inside: Puts eps under the root.
@cuda.jit
def eps_inside(w, m, v, grad, size, rate, decay, eps, fix_m, fix_v):
    i = cuda.grid(1)
    if i < size:
        g = grad[i]
        mean = BETA_M * m[i] + REST_M * g
        square = BETA_V * v[i] + REST_V * g * g
        m[i] = mean
        v[i] = square
        old = w[i]
        old -= rate * decay * old
        w[i] = old - rate * (mean / fix_m) / (math.sqrt(square / fix_v + eps))


# wrong-result, old-mean: Takes the step with m and v as they were.
@cuda.jit
def old_mean(w, m, v, grad, size, rate, decay, eps, fix_m, fix_v):
    i = cuda.grid(1)
    if i < size:
        g = grad[i]
        was_m = m[i]
        was_v = v[i]
        mean = BETA_M * was_m + REST_M * g
        square = BETA_V * was_v + REST_V * g * g
        m[i] = mean
        v[i] = square
        old = w[i]
        old -= rate * decay * old
        w[i] = old - rate * (was_m / fix_m) / (math.sqrt(was_v / fix_v) + eps)


# wrong-result, no-decay: Forgets the decay.
@cuda.jit
def no_decay(w, m, v, grad, size, rate, decay, eps, fix_m, fix_v):
    i = cuda.grid(1)
    if i < size:
        g = grad[i]
        mean = BETA_M * m[i] + REST_M * g
        square = BETA_V * v[i] + REST_V * g * g
        m[i] = mean
        v[i] = square
        old = w[i]
        w[i] = old - rate * (mean / fix_m) / (math.sqrt(square / fix_v) + eps)


# over-budget, over-budget: Reads back what it has just stored.
@cuda.jit
def reads_back(w, m, v, grad, size, rate, decay, eps, fix_m, fix_v):
    i = cuda.grid(1)
    if i < size:
        g = grad[i]
        mean = BETA_M * m[i] + REST_M * g
        square = BETA_V * v[i] + REST_V * g * g
        m[i] = mean
        v[i] = square
        old = w[i]
        old -= rate * decay * old
        w[i] = old - rate * (m[i] / fix_m) / (math.sqrt(v[i] / fix_v) + eps)


# over-budget, over-budget: Writes the parameter twice, once after the decay.
@cuda.jit
def writes_twice(w, m, v, grad, size, rate, decay, eps, fix_m, fix_v):
    i = cuda.grid(1)
    if i < size:
        g = grad[i]
        mean = BETA_M * m[i] + REST_M * g
        square = BETA_V * v[i] + REST_V * g * g
        m[i] = mean
        v[i] = square
        old = w[i]
        old -= rate * decay * old
        w[i] = old
        w[i] = old - rate * (mean / fix_m) / (math.sqrt(square / fix_v) + eps)


# over-budget, over-budget: Writes plain numbers, which are float64.
@cuda.jit
def in_float64(w, m, v, grad, size, rate, decay, eps, fix_m, fix_v):
    i = cuda.grid(1)
    if i < size:
        g = grad[i]
        mean = BETA_M * m[i] + 0.1 * g
        square = BETA_V * v[i] + 0.05 * g * g
        m[i] = mean
        v[i] = square
        old = w[i]
        old -= rate * decay * old
        w[i] = old - rate * (mean / fix_m) / (math.sqrt(square / fix_v) + eps)


# hazard, out-of-bounds: Forgets the threads without a parameter.
@cuda.jit
def no_guard(w, m, v, grad, size, rate, decay, eps, fix_m, fix_v):
    i = cuda.grid(1)
    if i < size + 1:
        g = grad[i]
        mean = BETA_M * m[i] + REST_M * g
        square = BETA_V * v[i] + REST_V * g * g
        m[i] = mean
        v[i] = square
        old = w[i]
        old -= rate * decay * old
        w[i] = old - rate * (mean / fix_m) / (math.sqrt(square / fix_v) + eps)


# over-budget, not-shared: The first thread of a block does all of its parameters.
@cuda.jit
def one_thread_of_a_block(w, m, v, grad, size, rate, decay, eps, fix_m, fix_v):
    first = cuda.grid(1)
    last = min(first + TPB, size)
    if cuda.threadIdx.x != 0:
        last = first
    for i in range(first, last):
        g = grad[i]
        mean = BETA_M * m[i] + REST_M * g
        square = BETA_V * v[i] + REST_V * g * g
        m[i] = mean
        v[i] = square
        old = w[i]
        old -= rate * decay * old
        w[i] = old - rate * (mean / fix_m) / (math.sqrt(square / fix_v) + eps)
