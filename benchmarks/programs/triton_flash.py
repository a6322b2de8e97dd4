"""Attention of one head in Triton: a program for each tile of queries; see record_triton_flash."""

import triton
import triton.language as tl


# fmt: off
@triton.jit
def flash_attention(
    out, lse, q, k, v, n, m, scale,
    d: tl.constexpr, tr: tl.constexpr, tk: tl.constexpr,
):
    rows = tl.program_id(0) * tr + tl.arange(0, tr)
    row, c = rows[:, None], tl.arange(0, d)
    x = tl.load(q + row * d + c, row < n, 0.0)
    most = tl.full((tr,), float("-inf"), tl.float32)
    total = tl.zeros((tr,), tl.float32)
    acc = tl.zeros((tr, d), tl.float32)
    for start in range(0, m, tk):
        keys = start + tl.arange(0, tk)
        key, across = keys[:, None], keys[None, :]
        y = tl.load(k + across * d + c[:, None], across < m, 0.0)
        s = tl.dot(x, y, input_precision="ieee") * scale
        s = tl.where(across < m, s, float("-inf"))
        new = tl.maximum(most, tl.max(s, 1))
        p = tl.exp(s - new[:, None])
        shrink = tl.exp(most - new)
        total = total * shrink + tl.sum(p, 1)
        z = tl.load(v + key * d + c, key < m, 0.0)
        acc = acc * shrink[:, None]
        acc += tl.dot(p.to(z.dtype), z, input_precision="ieee")
        most = new
    tl.store(out + row * d + c, acc / total[:, None], row < n)
    tl.store(lse + rows, most + tl.log(total), rows < n)
