"""The Triton program that lesson 08 shows beside a Numba kernel; `record_triton.py` compiles it."""

import triton
import triton.language as tl


# A lesson shows it as it stands, in 72 columns.
# fmt: off
@triton.jit
def matmul(
    out, a, b, n, k,
    tm: tl.constexpr, tn: tl.constexpr, tk: tl.constexpr,
):
    rows = tl.program_id(0) * tm + tl.arange(0, tm)
    cols = tl.program_id(1) * tn + tl.arange(0, tn)
    total = tl.zeros((tm, tn), dtype=tl.float32)
    for start in range(0, k, tk):
        step = start + tl.arange(0, tk)
        x = tl.load(a + rows[:, None] * k + step[None, :])
        y = tl.load(b + step[:, None] * n + cols[None, :])
        total = tl.dot(x, y, total)
    tl.store(out + rows[:, None] * n + cols[None, :], total)
