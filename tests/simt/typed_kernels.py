"""Kernels whose variables' types are recorded from Numba: name -> (argument types, body).

They need no GPU and are never run. `HEAD` stands above each body.
"""

from __future__ import annotations

import textwrap

from tests.simt import typed_language

HEAD = """\
import math
from collections import namedtuple
import numpy as np
from numba import cuda, float32, float64, int8, int16, int32, int64, uint8, uint32, uint64

TPB = 32
HALF = 0.5
SHAPE = (3, 4)
WEIGHTS = np.array([[1.0, 2.0, 4.0], [0.5, 0.25, 8.0]])


@cuda.jit(device=True)
def bigger(p, q):
    if p > q:
        return p
    return q


@cuda.jit(device=True)
def both(p, q):
    return p + q, p


"""

_F = "float32[:]"
_D = "float64[:]"
_I = "int32[:]"
_L = "int64[:]"

KERNELS: dict[str, tuple[tuple[str, ...], str]] = {
    **typed_language.LANGUAGE,
    "indices": (
        (_F,),
        """
        t = cuda.threadIdx.x
        b = cuda.blockIdx.y
        n = cuda.blockDim.x
        g = cuda.gridDim.z
        i = cuda.grid(1)
        x, y = cuda.grid(2)
        p = cuda.grid(3)
        s = cuda.gridsize(1)
        u, v = cuda.gridsize(2)
        w = cuda.warpsize
        k = cuda.laneid
        own = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
        """,
    ),
    "literals and constants": (
        (_F,),
        """
        a = 3
        b = 0.5
        c = True
        d = TPB
        e = HALF
        f = SHAPE
        g = SHAPE[1]
        h = -1
        j = 2 * TPB + 1
        k = TPB / 2
        m = TPB // 2
        n = a0[0]
        """,
    ),
    "float32 meets literals": (
        (_F,),
        """
        x = a0[0]
        y = x * 2
        z = x * 2.0
        u = x + x
        v = x / 2
        w = x ** 2
        p = x ** 0.5
        q = -x
        r = x // x
        s = x % x
        t = x // 2
        """,
    ),
    "float32 meets integers": (
        (_F, _I, "int8[:]", "int16[:]", "uint8[:]", "uint16[:]", "uint32[:]", "bool[:]"),
        """
        x = a0[0]
        i = x * a1[0]
        j = x * a2[0]
        k = x * a3[0]
        m = x * a4[0]
        n = x * a5[0]
        p = x * a6[0]
        q = x * a7[0]
        """,
    ),
    "integers meet": (
        (_I, _L, "uint32[:]", "uint64[:]", "int8[:]", "uint8[:]"),
        """
        a = a0[0] + a0[1]
        b = a0[0] * a1[0]
        c = a2[0] + a2[1]
        d = a1[0] + a3[0]
        e = a2[0] - 1
        f = a4[0] * a5[0]
        g = a5[0] // a5[1]
        h = a0[0] / a0[1]
        j = a4[0] & a5[0]
        k = a0[0] << 2
        m = a5[0] >> a5[1]
        n = a0[0] ** 2
        p = ~a5[0]
        q = -a5[0]
        r = -a4[0]
        """,
    ),
    "comparisons and logic": (
        (_F, _I),
        """
        a = a0[0] < a1[0]
        b = a1[0] == 3
        c = not a
        d = a and b
        e = a1[0] or 2
        f = 0 < a1[0] < 5
        g = a ^ b
        h = a + b
        """,
    ),
    "conditional expressions": (
        (_F, _I),
        """
        a = a0[0] if a1[0] > 0 else 0
        b = a0[0] if a1[0] > 0 else 0.0
        c = a1[0] if a1[0] > 0 else 0
        d = 1 if a1[0] > 0 else 2.5
        """,
    ),
    "min, max, abs, round": (
        (_F, _I, "int8[:]", "uint32[:]"),
        """
        a = min(a0[0], a0[1])
        b = min(a0[0], 1)
        c = max(a0[0], 0.0)
        d = max(a1[0], 0)
        e = max(a1[0], a1[1])
        f = min(a2[0], a3[0])
        g = abs(a2[0])
        h = abs(a0[0])
        j = round(a0[0])
        k = min(a0[0], a0[1], a1[0])
        """,
    ),
    "conversions": (
        (_F, _I, _D),
        """
        a = float32(a1[0])
        b = np.float32(1.5) * a0[0]
        c = int(a0[0])
        d = int32(a0[0]) + 1
        e = float(a1[0])
        f = float(a0[0])
        g = np.int8(3)
        h = bool(a0[0])
        j = uint8(a1[0]) + uint8(1)
        k = float32(a2[0]) * float32(2)
        m = int(a1[0])
        n = np.float64(a0[0])
        """,
    ),
    "math of float32": (
        (_F,),
        """
        a = math.sqrt(a0[0])
        b = math.exp(a0[0])
        c = math.floor(a0[0])
        d = math.ceil(a0[0])
        e = math.pow(a0[0], 2)
        f = math.pow(a0[0], a0[1])
        g = math.fabs(a0[0])
        h = math.isnan(a0[0])
        j = math.atan2(a0[0], a0[1])
        k = math.trunc(a0[0])
        m = math.tanh(a0[0]) * a0[0]
        """,
    ),
    "math of integers": (
        (_I, _L, "int8[:]", "uint64[:]"),
        """
        a = math.sqrt(a0[0])
        b = math.log(a1[0])
        c = math.floor(a0[0])
        d = math.sin(a2[0])
        e = math.pow(a0[0], 2)
        f = math.hypot(a0[0], a1[0])
        g = math.fabs(a0[0])
        h = math.sqrt(a3[0])
        """,
    ),
    "math constants": ((_F,), "a = math.pi * a0[0]\nb = math.inf\nc = a0[0] * np.float32(math.e)"),
    "accumulators": (
        (_F, _I),
        """
        s = 0.0
        n = 0
        t = 0
        u = float32(0)
        for k in range(4):
            s += a0[k]
            n += a1[k]
            t += a0[k]
            u += a0[k]
        """,
    ),
    "loops": (
        (_F, _I),
        """
        for i in range(a0.size):
            pass
        for j in range(cuda.threadIdx.x):
            pass
        for k in range(cuda.threadIdx.x, a0.shape[0], cuda.blockDim.x):
            pass
        for m in range(a1[0]):
            pass
        for n in range(10, 0, -1):
            pass
        for p in range(cuda.threadIdx.x, a1[0]):
            pass
        """,
    ),
    "a while loop halves": (
        (_F,),
        """
        step = cuda.blockDim.x // 2
        while step > 0:
            step //= 2
        width = 1
        while width < a0.size:
            width *= 2
        """,
    ),
    "shapes and sizes": (
        ("float32[:, :]", "int8[:, :, :]"),
        """
        s = a0.shape
        n = a0.shape[0]
        m = a0.size
        d = a1.ndim
        k = len(a0)
        h, w = a0.shape
        t = a1.shape[2] // 2
        """,
    ),
    "rows and slices": (
        ("float32[:, :]", _D),
        """
        row = a0[1]
        cell = a0[1, 2]
        column = a0[:, 1]
        part = a1[2:5]
        one = row[0]
        two = part[0]
        tile = a0[0:2, 1:3]
        step = a1[::2]
        n = part.size
        """,
    ),
    "shared and local arrays": (
        (_F,),
        """
        s = cuda.shared.array(TPB, float32)
        t = cuda.shared.array((4, 5), dtype=np.float64)
        m = cuda.local.array(8, int32)
        d = cuda.shared.array(0, int8)
        x = s[0]
        y = t[1, 2] + x
        z = m[0] + m[1]
        w = d[0]
        """,
    ),
    "constant arrays": (
        (_F,),
        """
        w = cuda.const.array_like(WEIGHTS)
        x = w[0, 1]
        y = WEIGHTS[1, 2] * a0[0]
        """,
    ),
    "tuples": (
        (_F, _I),
        """
        t = (1, a0[0], a1[0])
        p, q = a0[0], 2
        x = t[1]
        y = t[2] + t[0]
        n = len(t)
        u = (1, 2) + (a0[0],)
        """,
    ),
    "device functions": (
        (_F, _I),
        """
        a = bigger(a0[0], a0[1])
        b = bigger(a0[0], 1)
        c = bigger(a1[0], a1[1])
        d = bigger(1, 2)
        e, f = both(a0[0], a1[0])
        g = both(a1[0], 1)
        """,
    ),
    "atomics": (
        (_F, _I, _D, "uint32[:]"),
        """
        a = cuda.atomic.add(a0, 0, 1)
        b = cuda.atomic.add(a1, 0, 1)
        c = cuda.atomic.max(a2, 0, 1.0)
        d = cuda.atomic.cas(a1, 0, 1, 2)
        e = cuda.atomic.exch(a1, 0, 1)
        f = cuda.atomic.and_(a3, 0, 1)
        g = cuda.atomic.inc(a3, 0, uint32(5))
        """,
    ),
    "warp operations": (
        (_F, _I, _L),
        """
        a = cuda.shfl_sync(-1, a0[0], 0)
        b = cuda.shfl_down_sync(-1, a1[0], 1)
        c = cuda.shfl_xor_sync(-1, a2[0], 1)
        d = cuda.ballot_sync(-1, True)
        e = cuda.all_sync(-1, a1[0] > 0)
        f = cuda.any_sync(-1, True)
        g = cuda.activemask()
        h = cuda.lanemask_lt()
        j = cuda.shfl_up_sync(-1, a0[0], 1) + a0[0]
        """,
    ),
    "barriers that answer": (
        (_I,),
        """
        a = cuda.syncthreads_count(a0[0])
        b = cuda.syncthreads_and(a0[0])
        c = cuda.syncthreads_or(a0[0])
        """,
    ),
    "bits": (
        (_I, "uint32[:]", _L, "uint64[:]"),
        """
        a = cuda.popc(a0[0])
        b = cuda.clz(a1[0])
        c = cuda.ffs(a2[0])
        d = cuda.brev(a3[0])
        e = cuda.popc(a3[0])
        f = cuda.brev(a1[0])
        g = cuda.brev(a0[0])
        h = cuda.brev(a2[0])
        """,
    ),
    "fma, selp, cbrt": (
        (_F, _D, _I),
        """
        a = cuda.fma(a0[0], a0[1], a0[2])
        b = cuda.fma(a1[0], a1[1], a1[2])
        c = cuda.cbrt(a0[0])
        d = cuda.selp(a2[0] > 0, a2[0], a2[1])
        e = cuda.selp(True, a0[0], a0[1])
        """,
    ),
    "a kernel's numbers": (
        ("float32", "int32", "int64", "float64", "bool"),
        """
        a = a0 * a0
        b = a1 + 1
        c = a2 * a0
        d = a3 * a0
        e = a4
        f = a0 / a1
        """,
    ),
    "half precision": (
        ("float16[:]", _F, _I),
        """
        a = a0[0]
        b = a + a
        c = a * a1[0]
        d = -a
        e = a < a0[1]
        f = np.float16(a1[0])
        g = float32(a)
        h = abs(a)
        j = a / a
        """,
    ),
    "complex numbers": (
        ("complex64[:]", "complex128[:]", _F, _D, _I),
        """
        a = a0[0]
        b = a * a
        c = a * a1[0]
        d = a.real
        e = a1[0].imag
        f = a + a2[0]
        g = a * a3[0]
        h = abs(a)
        j = a * a4[0]
        k = a * 2
        m = -a
        n = a == a0[1]
        """,
    ),
    "loops over values": (
        (_F, _I),
        """
        for k, v in enumerate(a0):
            w = v * k
        for p, q in zip(a0, a1):
            r = p + q
        for u in a1:
            x = u
        for y in (1, 2):
            z = y
        """,
    ),
    "powers": (
        (_F, _I, _D, "uint8[:]"),
        """
        a = a0[0] ** 2
        b = a0[0] ** a0[1]
        c = a1[0] ** a1[1]
        d = a0[0] ** 0.5
        e = 2 ** a1[0]
        f = a2[0] ** 3
        g = a3[0] ** 2
        h = pow(a0[0], 2)
        j = 2.0 ** a1[0]
        k = a0[0] ** -1
        """,
    ),
    "branches join": (
        (_F, _I),
        """
        if a1[0] > 0:
            x = a0[0]
            y = a1[0]
            z = 1
        else:
            x = 1
            y = 2
            z = 2
        w = x + y
        """,
    ),
    "an index from a float32 sum": (
        (_F, _I),
        """
        k = int(a0[0] * 4)
        a1[k] += 1
        m = int32(a0[0])
        x = a0[m]
        """,
    ),
    "dot product": (
        ("float32[:, :]", "float32[:, :]", "float32[:, :]"),
        """
        x, y = cuda.grid(2)
        s = float32(0.0)
        for k in range(a1.shape[1]):
            s += a1[y, k] * a2[k, x]
        a0[y, x] = s
        """,
    ),
    "softmax of a row": (
        ("float32[:, :]",),
        """
        r = cuda.grid(1)
        m = a0[r, 0]
        for k in range(a0.shape[1]):
            m = max(m, a0[r, k])
        total = 0.0
        for k in range(a0.shape[1]):
            total += math.exp(a0[r, k] - m)
        scale = 1 / total
        """,
    ),
    "Welford's update": (
        (_F,),
        """
        mean = float32(0)
        m2 = float32(0)
        for k in range(a0.size):
            delta = a0[k] - mean
            mean += delta / (k + 1)
            m2 += delta * (a0[k] - mean)
        """,
    ),
    # A name used again for another type: Numba keeps one type for each assignment.
    "a name used again": ((_F, _I), "x = a1[0]\ny = x // 2\nx = a0[0]\nz = x"),
    "a literal replaced": ((_F,), "x = 0\nx = a0[0]\ny = x * x"),
    # What Numba refuses
    "refused: a float as an index": ((_F,), "a0[a0[0]] = 1"),
    "refused: a division as an index": ((_F,), "i = cuda.grid(1)\na0[i / 2] = 1"),
    "refused: floor as an index": ((_F,), "a0[math.floor(a0[0])] = 1"),
    "refused: too many indices": ((_F,), "a0[0, 1] = 1"),
    "refused: an array and a number join": (
        (_F, _F),
        "if a1[0] > 0:\n    x = a0\nelse:\n    x = 1\ny = x",
    ),
    "refused: an unknown member": ((_F,), "x = cuda.threadIdx.w"),
    "refused: float bits": ((_F,), "x = a0[0] & 1"),
    "refused: float shift": ((_F,), "x = a0[0] << 1"),
    "refused: a shape that varies": (
        (_F,),
        "n = a0.size\ns = cuda.shared.array(n, float32)\ns[0] = 1",
    ),
    "refused: an undefined name": ((_F,), "x = nothing + 1"),
    "refused: an array made by NumPy": ((_F,), "x = np.zeros(3)\na0[0] = x[0]"),
    "refused: a string in an array": ((_F,), 'a0[0] = "x"'),
    "refused: a dict": ((_F,), "x = {1: 2}\na0[0] = x[1]"),
    "refused: an array in a cell": ((_F, _F), "a0[0] = a1"),
    "refused: too many values": ((_F,), "x, y = (1, 2, 3)"),
    "refused: too few arguments": ((_F,), "x = bigger(a0[0])"),
    "refused: four dimensions of grid": ((_F,), "x = cuda.grid(4)"),
    "refused: a returned value": ((_F,), "return a0[0]"),
    "refused: a tuple changed": ((_F,), "t = (1, 2)\nt[0] = 3"),
    "refused: an attribute of a number": ((_F,), "x = a0[0]\ny = x.shape"),
    "refused: an atomic of a number": ((_F,), "cuda.atomic.add(a0[0], 0, 1)"),
    "refused: counting bools at a barrier": ((_F,), "n = cuda.syncthreads_count(a0[0] > 0)"),
    "refused: a list of arrays": ((_F,), "x = [a0, a0]\na0[0] = x[0][0]"),
    "refused: an unknown keyword": ((_F,), "x = cuda.grid(ndim=1, more=2)"),
    "refused: exponent of an array": ((_F,), "x = math.exp(a0)"),
    "refused: comparing an array": ((_F,), "if a0 > 0:\n    a0[0] = 1"),
    "refused: len of a number": ((_F,), "x = len(a0[0])"),
    "refused: an array shuffled": ((_F,), "x = cuda.shfl_sync(-1, a0, 0)"),
    "range of floats": ((_F,), "for k in range(a0[0]):\n    pass"),
}  # fmt: skip


def source_of(name: str) -> str:
    """Returns the whole file of one kernel of the table."""
    arguments, body = KERNELS[name]
    parameters = ", ".join(f"a{k}" for k in range(len(arguments)))
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    head = HEAD + (typed_language.HEAD if name in typed_language.LANGUAGE else "")
    return f"{head}@cuda.jit\ndef kernel({parameters}):\n{lines}\n"
