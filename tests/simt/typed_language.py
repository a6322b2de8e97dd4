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
}  # fmt: skip
