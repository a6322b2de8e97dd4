"""More kernels for the record of Numba's types: dead branches, None, functions, tuples, slices.

name -> (argument types, body), as in typed_kernels.py, whose HEAD and these lines stand above each.
"""

from __future__ import annotations

_F = "float32[:]"
_I = "int32[:]"
_M = "float32[:, :]"

HEAD = """\
FLAG = True
OFF = False
ZERO = 0
NOTHING = None
MODE = "fast"
REC = np.dtype([("x", np.float32), ("k", np.int32)])
DIRS = ((0, 1), (1, 0), (0, -1))
MIXED = ((0, 1.5), (1, 0))
RAGGED = ((1, 2), (3,))
CUBE = (((1, 2), (3, 4)), ((5, 6), (7, 8)))
LISTED = [1, 2, 3]
Point = namedtuple("Point", "x y")
ORIGIN = Point(1, 2.5)
ENDS = (Point(1, 2), Point(3, 4))
TABLES = (np.array([1.0, 2.0]), np.array([3, 4]))
RECORDS = np.array([(1, 2), (3, 4)], dtype=REC)
PACKED = np.array([(1, 2.0)], dtype=[("x", np.int32), ("y", np.float64)])
KIND = np.dtype("float32")


@cuda.jit(device=True)
def apply(f, x):
    return f(x)


@cuda.jit(device=True)
def twice(x):
    return x * 2


@cuda.jit("float32(float32)", device=True)
def declared(x):
    return x * 2.5


@cuda.jit(["float32(float32)", "int32(int32)"], device=True)
def many(x):
    return x * 2


@cuda.jit((float32,), device=True)
def of_tuple(x):
    return x * 2


@cuda.jit("void(float32[:], float64)", device=True)
def store(a, x):
    a[0] = x


@cuda.jit(device=True)
def maybe(x, y=None):
    if y is None:
        return 2.5
    else:
        return 1


@cuda.jit(device=True)
def added(x, y=2.5):
    return x + y


@cuda.jit(device=True)
def pair_or_more(t):
    if len(t) == 2:
        return 1
    return 2.5


@cuda.jit(device=True)
def row_or_matrix(a):
    if a.ndim == 1:
        return a[0]
    return a[0, 0] * 2.5


"""


def _decided(*tests: str) -> dict[str, tuple[tuple[str, ...], str]]:
    """Kernels in which x is a float32 or a float64, as the compiler decides."""
    return {
        f"branch: {test}": (
            (_F, _I),
            f"{test}:\n    x = a0[0]\nelse:\n    x = 2.5\ny = x",
        )
        for test in tests
    }


LANGUAGE: dict[str, tuple[tuple[str, ...], str]] = {
    **_decided(
        "if FLAG", "if not FLAG", "if OFF", "if ZERO", "if HALF", "if HALF > 0", "if ZERO == 0",
        "if 0 == ZERO", "if ZERO + 1 == 1", "if 1", "if True", "if FLAG and FLAG",
        "if FLAG and a1[0]", "if OFF and a1[0]", "if OFF or a1[0]", "if FLAG or a1[0]",
        "if a1[0] and OFF", "if a1[0] or FLAG", "if not (FLAG and a1[0])", "if NOTHING is None",
        "if NOTHING is not None", "if NOTHING", "if MODE == 'fast'", "if MODE != 'fast'",
        "if SHAPE[0] == 3", "if SHAPE == (3, 4)", "if ZERO in (0, 1)", "if a0.ndim == 1",
        "if a0.ndim > 1", "if a0.ndim", "if a0.ndim - 1", "if a1[0] == ZERO", "if FLAG & FLAG",
        "if FLAG == True", "if FLAG is True", "if -1 < ZERO < 3", "if ZERO < -1", "if bool(FLAG)",
        "if math.pi > 3", "if -ZERO == 0", "if 1 + 1 == 2", "if 0 < 1 < a1[0]",
        "if 2 < ZERO < a1[0]", "if a0[0] is None", "if a0 is None", "if a0 is not None",
        "if a0 == None", "if (FLAG if OFF else ZERO)", "if not (ZERO == 0)", "if TPB % 32",
        "if TPB % 5 == 2", "if ZERO or OFF", "if FLAG and not OFF",
    ),
    **_decided(
        "f = True\nif f", "f = FLAG\nif f", "f = 1\nf = 2\nif f", "b = not FLAG\nif b",
        "b = ZERO == 0\nif b", "f = int32(1)\nif f", "f, g = 1, 0\nif f", "f = g = 1\nif g",
        "f = 1\nf += 0\nif f", "n = a0.ndim\nif n == 1", "b = a0\nif b.ndim == 2",
        "n = None\nif n is None", "if FLAG:\n    f = 1\nelse:\n    f = 0\nif f",
        "if FLAG:\n    f = 1\nelse:\n    f = 0\nif f:\n    g = 1\nelse:\n    g = 0\nif g",
        "f = 0\nfor k in range(3):\n    f = 0\nif f",
    ),
    "branch: a chain of elif": (
        (_F, _I),
        """
        if ZERO == 1:
            x = 2.5
        elif ZERO == 2:
            x = 3.5
        else:
            x = a0[0]
        y = x
        """,
    ),
    "branch: values": (
        (_F,),
        """
        a = FLAG and a0[0]
        b = OFF and a0[0]
        c = OFF or a0[0]
        d = FLAG or 2.5
        e = a0[0] if FLAG else 2.5
        f = a0[0] if not FLAG else 2.5
        g = a0[0] if ZERO else (1 if FLAG else 2.5)
        """,
    ),
    "branch: a loop that never runs": ((_F,), "x = 0\nwhile OFF:\n    x = 2.5\ny = x"),
    "branch: a constant in a loop": (
        (_F, _I),
        """
        f = 0
        while a1[0] > 1:
            if f:
                x = 2.5
            else:
                x = a0[0]
            y = x
        """,
    ),
    "branch: dead code is not looked at": (
        (_F,),
        """
        if OFF:
            x = a0.nosuch
            z = nothing_here
            d = {1: 2}
        else:
            x = 2.5
        y = x
        """,
    ),
    "branch: after a return": ((_F,), "x = a0[0]\nif FLAG:\n    return\ny = a0.nosuch"),
    "branch: both return": (
        (_F,), "if a0[0] > 0:\n    return\nelse:\n    return\ny = a0.nosuch",
    ),
    "branch: after a loop without an end": (
        (_F,), "while True:\n    x = a0[0]\n    if x:\n        return\ny = a0.nosuch",
    ),
    "branch: assertions": ((_F,), "assert FLAG\nx = 1\nassert OFF, 'no'\ny = a0.nosuch"),
    "branch: None handed on": (
        (_F, _I),
        """
        k = 3
        a = maybe(a0[0])
        b = maybe(a0[0], None)
        c = maybe(a0[0], 3)
        d = maybe(a0[0], a1[0])
        e = maybe(a0[0], ZERO)
        f = maybe(a0[0], 1.5)
        g = maybe(a0[0], k)
        """,
    ),
    "branch: what an argument is": (
        (_F, _M),
        """
        a = pair_or_more((1, 2))
        b = pair_or_more((1, 2, 3))
        c = row_or_matrix(a0)
        d = row_or_matrix(a1)
        e = row_or_matrix(a1[0])
        """,
    ),
    # None
    "None": (
        (_F, _I),
        """
        n = None
        a = n is None
        b = a0 is None
        c = a1[0] == None
        d = a1[0] is a1[1]
        e = a1[0] is not a0[0]
        t = (None, 1)
        f = t[1]
        """,
    ),
    "refused: arithmetic with None": ((_F,), "n = None\nx = n + 1"),
    "refused: not None": ((_F,), "n = None\nx = not n"),
    # Signatures
    "signatures of device functions": (
        (_F, _I, "float64[:]", "uint8[:]", "int64[:]"),
        """
        a = declared(a0[0])
        b = declared(a1[0])
        c = declared(2.5)
        d = declared(True)
        e = many(a0[0])
        f = many(a1[0])
        g = many(a2[0])
        h = many(a3[0])
        i = many(a4[0])
        j = of_tuple(a1[0])
        store(a0, 1)
        """,
    ),
    "refused: an array for a declared number": ((_F,), "x = declared(a0)"),
    "refused: a complex number for a real one": (("complex64[:]",), "x = declared(a0[0])"),
    "refused: another array than declared": ((_I,), "store(a0, 1)"),
    # Calls
    "default values and keywords": (
        (_F,),
        "a = added(a0[0])\nb = added(1, 1)\nc = added(y=a0[0], x=1)\nd = added(1, y=a0[0])",
    ),
    "refused: an unknown keyword of a function": ((_F,), "x = added(a0[0], q=3)"),
    "refused: a missing argument": ((_F,), "x = added(y=3)"),
    "refused: an argument too many": ((_F,), "x = added(1, 2, 3)"),
    "functions handed on": (
        (_F, _I),
        """
        a = apply(twice, a0[0])
        b = apply(twice, a1[0])
        g = twice
        c = g(a0[0])
        h = twice if a1[0] > 0 else twice
        d = h(1)
        t = (twice, 1)
        e = t[0](2.5)
        f = apply(lambda v: v + 1, a0[0])
        """,
    ),
    "refused: one of two functions": ((_F, _I), "f = twice if a1[0] else declared\nx = f(a0[0])"),
    "inner functions": (
        (_F, _I),
        """
        k = a1[0]
        def inner(x):
            return x * k
        def other(x, z=3):
            if x > z:
                return inner(x)
            return 1
        y = inner(a0[0])
        z = other(a0[0])
        w = other(a0[0], 2.5)
        f = lambda v: v + k
        u = f(1)
        v = (lambda v: v / 2)(a0[0])
        a0[0] = y + z + w + u + v
        """,
    ),
    "refused: an inner function that calls itself": (
        (_F,), "def inner(v):\n    return inner(v - 1)\ny = inner(a0[0])\na0[0] = y",
    ),
    "refused: a lambda that reads a variable handed on": (
        (_F, _I), "k = a1[0]\nx = apply(lambda v: v * k, a0[0])",
    ),
    # Tuples
    "tuples compared and sliced": (
        (_I, "float32[:, :, :]"),
        """
        a = a0[0] in (1, 2, 3)
        b = a0[0] not in (1, 2)
        c = a1.shape == (3, 4, 5)
        d = (1, 2) < (1, a0[0])
        t = (1, 2.5, a0[0])
        e = t[1:]
        f = a1.shape[1:]
        g = t[::2]
        h = t[-1]
        p, (q, r) = 1, (2.5, a0[0])
        s = divmod(a0[0], 3)
        u = divmod(2.5, 1)
        v = sum((1, 2, 3))
        w = min((1, 2, a0[0]))
        x = max(a1.shape)
        """,
    ),
    "refused: in a mixed tuple": ((_I,), "x = a0[0] in (1, 2.5)"),
    # Slices
    "slices of every step": (
        (_F, _I),
        """
        a = a0[::-1]
        b = a0[5:1:-2]
        c = a0[:: a1[0]]
        d = a0[None:3]
        x = a[0] + b[0]
        n = c.size
        """,
    ),
    "loops over rows": (
        (_M,),
        "for row in a0:\n    x = row[0]\nfor k, r in enumerate(a0):\n    y = r[k]",
    ),
    # Numbers
    "modf and its like": (
        (_F, _I, "float64[:]", "int64[:]", "float16[:]"),
        """
        a = math.modf(a0[0])
        b, c = math.modf(a1[0])
        d = math.frexp(a0[0])
        e = math.frexp(a1[0])
        f = math.ldexp(a0[0], a1[0])
        g = math.ldexp(a2[0], a3[0])
        h = math.ldexp(a1[0], 2)
        j = math.remainder(a0[0], a0[1])
        k = math.remainder(a0[0], 2)
        m = math.remainder(a1[0], 2)
        n = math.nextafter(a0[0], a0[1])
        p = math.nextafter(a1[0], 2)
        r = math.exp2(a0[0])
        s = math.exp2(a1[0])
        t = math.modf(a4[0])
        """,
    ),
    "half precision by name": (
        ("float16[:]", _F, _I, "bool[:]"),
        "\n".join(
            [f"x_{n} = cuda.fp16.{n}(a0[0])" for n in (
                "hneg habs hsin hcos hlog hlog10 hlog2 hexp hexp10 hexp2 hfloor hceil hsqrt hrsqrt "
                "hrcp hrint htrunc".split()
            )]
            + [f"x_{n} = cuda.fp16.{n}(a0[0], a1[0])" for n in (
                "hadd hsub hmul hdiv heq hne hge hgt hle hlt hmax hmin".split()
            )]
            + ["a = cuda.fp16.hfma(a0[0], a2[0], 2.5)", "b = cuda.fp16.hneg(a3[0])"]
        ),
    ),
    "refused: half precision of a complex number": (("complex64[:]",), "x = cuda.fp16.hneg(a0[0])"),
    "refused: gcd": ((_I,), "x = math.gcd(a0[0], a0[1])"),
    "refused: cbrt of math": ((_F,), "x = math.cbrt(a0[0])"),
    "waiting": ((_F,), "cuda.nanosleep(100)\nx = 1"),
    # Structures
    "structures of a kernel's own": (
        (_F,),
        """
        s = cuda.shared.array(4, REC)
        m = cuda.local.array(4, REC)
        s[0].x = 1
        m[0]["k"] = 2
        x = s[0].x
        k = m[0]["k"]
        f = s.x[1]
        g = s["k"][1]
        """,
    ),
    # Constants
    "tuples in tuples": (
        (_I,),
        """
        x = DIRS[a0[0]][1]
        d = DIRS[a0[0] % 2]
        p, q = DIRS[1]
        n = len(DIRS)
        last = DIRS[-1][0]
        part = DIRS[0:2][1][0]
        m = MIXED[0][1]
        k = MIXED[ZERO][1]
        h = CUBE[a0[0]][a0[1]][1]
        for e in DIRS:
            y = e[0]
        for dx, dy in DIRS:
            z = dx + dy
        for j, g in enumerate(DIRS):
            w = j + g[1]
        """,
    ),
    "named tuples beside the kernel": ((_I,), "x = ORIGIN.y\ny = ORIGIN.x + ENDS[a0[0]].x"),
    "arrays in tuples": ((_I,), "x = TABLES[0][a0[0]] + TABLES[1][0]\nn = TABLES[1].size"),
    "structures beside the kernel": (
        (_I,),
        """
        x = RECORDS[a0[0]].x
        k = RECORDS[0]["k"]
        f = RECORDS.x[1]
        c = cuda.const.array_like(RECORDS)
        y = c[1].x
        """,
    ),
    "refused: tuples of different types by a variable": ((_I,), "x = MIXED[a0[0]][0]"),
    "refused: a loop over tuples of different types": ((_I,), "for d in MIXED:\n    x = d[0]"),
    "refused: a loop over numbers of different types": ((_I,), "for d in (1, 2.5):\n    x = d"),
    "refused: tuples of different lengths by a variable": ((_I,), "x = RAGGED[a0[0]][0]"),
    "refused: a list beside the kernel": ((_I,), "x = LISTED[0]"),
    "refused: a loop over a list beside the kernel": ((_I,), "for x in LISTED:\n    y = x"),
    "refused: the length of a list beside the kernel": ((_I,), "x = len(LISTED)"),
    "refused: packed structures": ((_I,), "x = PACKED[0].y"),
    "const of an argument": ((_F,), "c = cuda.const.array_like(a0)\nx = c[0]"),
    # Numbers and their methods
    "conjugates and parts": (
        ("complex64[:]", _F, "int64"),
        """
        z = a0[0].conjugate()
        x = a1[0].conjugate()
        n = a2.conjugate()
        y = a0[0].conjugate().imag
        u = abs(a0[0])
        v = a2.imag + a2.real
        w = a1[0].real
        c = complex(1, 2).conjugate()
        """,
    ),
    "round to digits": (
        (_F, "float64[:]", "int64"),
        """
        x = round(a0[0], 2)
        y = round(a1[0], a2)
        z = round(a2, -1)
        u = round(a1[0], 1.0)
        """,
    ),
    "float of text": ((_F,), 'x = float("inf")\ny = -float("inf") + float("1.5")'),
    "refused: float of a bool": ((_I,), "x = float(a0[0] > 1)"),
    "refused: float32 of text": ((_I,), 'x = float32("inf")'),
    "refused: the conjugate of a bool": ((_I,), "x = (a0[0] > 1).conjugate()"),
    "refused: the real part of a bool": ((_I,), "x = (a0[0] > 1).real"),
    "refused: is_integer": ((_F,), "x = a0[0].is_integer()"),
    "refused: max of one number": ((_I,), "x = max(a0[0])"),
    "refused: max of an array and a number": ((_I,), "x = max(a0, 3)"),
    "refused: sum of a number": ((_I,), "x = sum(a0[0])"),
    # NumPy's functions of one number or two
    "functions of NumPy": (
        (_F, "float64[:]", "int64", "int32", "int16", "complex64[:]", "uint8[:]", "uint64[:]"),
        """
        a = np.sin(a0[0]) + np.cos(a0[0])
        b = np.sin(a2)
        c = np.sin(a4)
        d = np.sin(a5[0])
        e = np.arctan2(a0[0], a0[1])
        f = np.hypot(a2, a0[0])
        g = np.maximum(a0[0], a0[1])
        h = np.minimum(a1[0], a2)
        j = np.minimum(a2, 3)
        k = np.fmax(a2, a0[0])
        m = np.isnan(a0[0])
        n = np.logical_and(a2 > 1, a2 < 3)
        o = np.bitwise_and(a3, a3)
        p = np.left_shift(a3, a3)
        q = np.invert(a6[0])
        r = np.divide(a2, 3)
        s = np.log2(a3)
        t = np.degrees(a0[0])
        u = np.conj(a5[0])
        v = np.less(a0[0], a2)
        w = np.sin(a2 > 3)
        x = np.conj(a2 > 3)
        y = np.maximum(a7[0], a2)
        z = np.tanh(a6[0])
        """,
    ),
    "refused: np.sqrt": ((_F,), "x = np.sqrt(a0[0])"),
    "refused: np.exp": ((_F,), "x = np.exp(a0[0])"),
    "refused: np.abs": ((_F,), "x = np.abs(a0[0])"),
    "refused: np.power": ((_F,), "x = np.power(a0[0], 2)"),
    "refused: np.add": ((_F,), "x = np.add(a0[0], 2)"),
    "refused: np.clip": ((_F,), "x = np.clip(a0[0], 0, 1)"),
    "refused: np.where": ((_F,), "x = np.where(a0[0] > 1, 2, 3)"),
    "refused: np.zeros": ((_F,), "x = np.zeros(3)"),
    "refused: np.sort": ((_F,), "x = np.sort(a0)"),
    "refused: np.max": ((_F,), "x = np.max(a0)"),
    "refused: bits of floats": ((_F,), "x = np.bitwise_and(a0[0], 1)"),
    "refused: an angle of complex numbers": (("complex64[:]",), "x = np.hypot(a0[0], 1)"),
    "refused: a function of NumPy of a whole array": ((_F,), "x = np.sin(a0)"),
    "refused: dist of math": ((_F,), "x = math.dist((a0[0],), (a0[1],))"),
    # Ranges and lists
    "ranges of whole floats": (
        (_F, "float64[:]", "int64"),
        """
        for a in range(math.ceil(a0[0])):
            b = a
        for c in range(math.floor(a1[0])):
            d = c
        for e in range(a2, math.trunc(a1[0])):
            f = e
        """,
    ),
    "refused: ranges of complex numbers": (("complex64[:]",), "for k in range(a0[0]):\n    x = k"),
    "lists of loops and of in": (
        (_I, "int64"),
        """
        for a in [1, 2, 3]:
            b = a
        for c, d in [(0, 1), (1, 0)]:
            e = c + d
        for f in [a1, 2]:
            g = f
        h = a1 in [1, 2]
        j = a1 not in [1, 2]
        """,
    ),
    "refused: a list held by a name": ((_I,), "t = [1, 2]\nx = t[0]"),
    "refused: the length of a list": ((_I,), "x = len([1, 2])"),
    "refused: a loop over a mixed list": ((_I,), "for d in [1, 2.5]:\n    x = d"),
    "refused: a loop over no list at all": ((_I,), "for d in []:\n    x = d"),
    "refused: enumerate of a list": ((_I,), "for k, d in enumerate([1, 2]):\n    x = d"),
    "refused: zip of lists": ((_I,), "for k, d in zip([1, 2], [3, 4]):\n    x = d"),
    "refused: the greatest of a list": ((_I,), "x = max([1, 2])"),
    # Shapes and dtypes of a kernel's own arrays
    "shapes by names of the kernel": (
        (_F,),
        """
        N = 100
        K = N
        both = (4, 5)
        a = cuda.shared.array(N, float32)
        b = cuda.shared.array((N, 2), float32)
        c = cuda.local.array(K, float32)
        d = cuda.shared.array(both, float32)
        e = cuda.shared.array(2 * 8, float32)
        """,
    ),
    "dtypes by text and of arrays": (
        (_F,),
        """
        part = a0[1:]
        a = cuda.shared.array(4, dtype="float64")
        b = cuda.local.array(4, "i4")
        c = cuda.shared.array(4, a0.dtype)
        d = cuda.shared.array(4, dtype=part.dtype)
        e = cuda.shared.array(4, dtype=TABLES[0].dtype)
        f = cuda.shared.array(4, KIND)
        g = cuda.shared.array(4, dtype="bool")
        """,
    ),
    "refused: a shape as a list": ((_F,), "s = cuda.shared.array([4, 4], float32)"),
    "refused: a length as a shape": ((_F,), "s = cuda.shared.array(len(DIRS), float32)"),
    "refused: a part of a tuple as a shape": ((_F,), "s = cuda.shared.array(DIRS[0][1], float32)"),
    "refused: arithmetic with a name of the kernel": (
        (_F,), "N = 4\nM = N * 2\ns = cuda.shared.array(M, float32)",
    ),
    "refused: a shape with two values": (
        (_F, "int64"), "N = 4\nif a1 > 3:\n    N = 8\ns = cuda.shared.array(N, float32)",
    ),
    "refused: a counter as a shape": (
        (_F,), "for N in range(3):\n    s = cuda.shared.array(N, float32)",
    ),
    "refused: a float as a shape": ((_F,), "s = cuda.shared.array(3.0, float32)"),
    "refused: a dtype of no name": ((_F,), 's = cuda.shared.array(4, "nonsense")'),
    "refused: an array as a dtype": ((_F,), "s = cuda.shared.array(4, a0)"),
    "refused: float as a dtype": ((_F,), "s = cuda.shared.array(4, float)"),
    # Indices, masks and whole arrays
    "refused: a bool as an index": ((_I,), "x = a0[a0[1] > 0]"),
    "refused: a bool as the index of a store": ((_I,), "a0[a0[1] > 0] = 1"),
    "refused: True as an index": ((_I,), "x = a0[True]"),
    "refused: a bool as one of two indices": ((_M,), "x = a0[0, a0[0, 0] > 0]"),
    "refused: a bool as the index of a tuple": ((_I,), "x = (1, 2)[a0[0] > 0]"),
    "refused: a vote with a float mask": ((_F,), "x = cuda.any_sync(a0[0], True)"),
    "refused: a vote with a bool mask": ((_F,), "x = cuda.all_sync(True, True)"),
    "refused: a ballot with a float mask": ((_F,), "x = cuda.ballot_sync(1.5, True)"),
    "refused: a vote on a float": ((_F,), "x = cuda.any_sync(-1, a0[0])"),
    "refused: eq_sync of floats": ((_F,), "x = cuda.eq_sync(-1, a0[0])"),
    "refused: a match of complex numbers": (
        ("complex64[:]",), "x = cuda.match_any_sync(-1, a0[0])",
    ),
    "refused: an array and a number": ((_F,), "x = a0 + 10"),
    "refused: an array compared with a number": ((_F,), "x = a0 == 3"),
    "refused: minus a whole array": ((_F,), "x = -a0"),
    "refused: the absolute value of an array": ((_F,), "x = abs(a0)"),
    "refused: a whole array changed in place": ((_F,), "a0 += 1"),
    # What Numba compiles and the simulator does not
    "ours: match": (("int64",), "match a0:\n    case 1:\n        x = 1"),
    "raise": ((_F,), "if a0[0] > 1:\n    raise ValueError"),
    "ours: walrus": ((_I,), "x = (y := 3)"),
    "ours: a starred argument": ((_I,), "x = twice(*(1,))"),
    "ours: a starred tuple": ((_I,), "x = (*DIRS, 1)"),
    "ours: a string": ((_I,), "x = 'text'"),
    "ours: bytes": ((_I,), "x = b'text'"),
    "an ellipsis": ((_M,), "x = a0[..., 0]"),
    "transposed": ((_M,), "x = a0.T"),
    "reshape": ((_F,), "x = a0.reshape((2, 2))"),
    "sum of an array by its method": ((_F,), "x = a0.sum()"),
    "reshape to sides": ((_M,), "n = 2\nx = a0.reshape(n, -1)[1, 0]"),
    "mean of an array": ((_F,), "x = a0.mean()"),
    "mean of whole numbers": ((_I,), "x = a0.mean()\ny = np.mean(a0)"),
    "product of an array": ((_I,), "x = a0.prod()\ny = np.prod(a0)"),
    "any and all of an array": ((_F,), "x = a0.any()\ny = np.all(a0)"),
    "refused: a sum along an axis": ((_M,), "x = a0.sum(axis=0)"),
    "refused: max of an array by its method": ((_F,), "x = a0.max()"),
    "cells of another type": ((_F,), "x = a0.view(np.int32)[0]"),
    "bytes of an array": ((_M,), "x = a0.nbytes\ny = a0.itemsize"),
    "a conversion to an array's type": ((_F,), "x = a0.dtype.type(2.5)"),
    "range of a float64": (("float64",), "for k in range(a0):\n    x = k"),
    "range of floats and whole numbers": (("float32",), "for k in range(0, a0, 1):\n    x = k"),
    "range from a float": (("float64",), "for k in range(a0, 3):\n    x = k"),
    "fill": ((_F,), "a0.fill(0)"),
    "strides": ((_F,), "x = a0.strides"),
    "ours: max of a whole array": ((_F,), "x = max(a0)"),
    "ours: sum of a whole array": ((_F,), "x = sum(a0)"),
    "np.sum": ((_F,), "x = np.sum(a0)"),
    "ours: np.argmax": ((_F,), "x = np.argmax(a0)"),
    "ours: np.round": ((_F,), "x = np.round(a0[0])"),
    "ours: np.real": ((_F,), "x = np.real(a0[0])"),
    "ours: np.finfo": ((_F,), "x = np.finfo(np.float32).eps"),
    "ours: np.ndindex": ((_F,), "for k in np.ndindex(3, 2):\n    x = k[0]"),
    "ours: tuple": ((_F,), "x = tuple(DIRS)"),
    "ours: isinstance": (("int64",), "x = isinstance(a0, int)"),
    "ours: type": (("int64",), "x = type(a0)"),
    "bit_count": (("int64",), "x = a0.bit_count()"),
    "threadIdx as a value": ((_F,), "t = cuda.threadIdx\nx = t.x"),
    "a dtype held by a name": ((_F,), "D = float32\nx = D(3)"),
    "the dtype of an array held by a name": (
        (_F,), "D = a0.dtype\ns = cuda.shared.array(4, D)",
    ),
    "a type by a name of the kernel": (
        (_F,), "D = float32\ns = cuda.shared.array(4, D)",
    ),
    "ours: an array of no dimension": ((_F,), "s = cuda.shared.array((), float32)"),
    "ours: shared and global memory under one name": (
        (_F, "int64"), "s = cuda.shared.array(4, float32)\nb = a0\nif a1:\n    b = s\nx = b[0]",
    ),
    "many cells at once": ((_F,), "a0[1:3] = 0"),
    "a structure held by a name": ((_I,), "r = RECORDS[a0[0]]\nx = r.x"),
    "ours: a shuffle with a float mask": ((_F,), "x = cuda.shfl_sync(a0[0], 1, 0)"),
    "ours: a shuffle from a float lane": ((_F,), "x = cuda.shfl_sync(-1, 1, a0[0])"),
    "ours: a match with a float mask": ((_F,), "x = cuda.match_any_sync(a0[0], 1)"),
    "ours: in an array": ((_I,), "x = 3 in a0"),
    "ours: in a range": (("int64",), "x = 3 in range(a0)"),
    "ours: the length of a range": (("int64",), "x = len(range(a0))"),
    "libdevice": ((_F,), "x = cuda.libdevice.sinf(a0[0])"),
    "ours: vector types": ((_F,), "x = cuda.float32x4(1, 2, 3, 4)"),
    "a range of any float": ((_F,), "for k in range(a0[0]):\n    x = k"),
}  # fmt: skip
