"""The Triton program that lesson 12 shows beside a Numba kernel; `record_fused.py` compiles it."""

import triton
import triton.language as tl


# A lesson shows it as it stands, in 72 columns.
# fmt: off
@triton.jit
def bias_gelu(out, x, bias, cols, block: tl.constexpr):
    row = tl.program_id(1)
    col = tl.program_id(0) * block + tl.arange(0, block)
    inside = col < cols
    v = tl.load(x + row * cols + col, mask=inside)
    v += tl.load(bias + col, mask=inside)
    v = 0.5 * v * (1 + tl.erf(v * 0.7071067811865476))
    tl.store(out + row * cols + col, v, mask=inside)
