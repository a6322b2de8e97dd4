"""What is refused, by name and line, before anything runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simt.errors import KernelRefused
from simt.simulator import simulate

HEAD = """\
import os
import math
import numpy as np
from numba import cuda, float32

TPB = 32
TABLE = {"a": 1}
CONST = np.array([1.0, 2.0])


def plain(x):
    return x


@cuda.jit(device=True)
def device(x):
    return x


@cuda.jit(device=True)
def recursive(x):
    return recursive(x - 1)


@cuda.jit
def kernel(out, a, n):
    i = cuda.grid(1)
"""
LINE = HEAD.count("\n") + 1

REFUSED = {  # body -> (offset of the line, part of the fact)
    "d = {}": (0, "a dict cannot be used in a kernel"),
    "d = {1, 2}": (0, "a set cannot be used in a kernel"),
    "d = [1, 2]": (0, "a list cannot be used in a kernel"),
    "d = [x for x in range(3)]": (0, "a list comprehension cannot be used"),
    "d = sum(x for x in range(3))": (0, "a generator expression cannot be used"),
    "f = lambda x: x": (0, "a lambda cannot be used in a kernel: each function here has a name"),
    "f = lambda x: x\nf = 1": (0, "f is a lambda, and something else as well"),
    "yield i": (0, "yield cannot be used"),
    "try:\n    n = 1\nexcept Exception:\n    n = 2": (0, "try ... except cannot be used"),
    "with open('x') as f:\n    n = 1": (0, "with cannot be used"),
    "match n:\n    case 1:\n        n = 2": (0, "the simulator does not know match"),
    "n = a.var()": (0, "the simulator does not know the array method .var"),
    "import sys": (0, "an import inside the kernel cannot be used"),
    "global TPB\nTPB = 4": (0, "global TPB, which is assigned here, cannot be used"),
    "del n": (0, "del cannot be used"),
    "s = 'text'": (0, "the simulator does not know a string as a value"),
    "n = len('text')": (0, "the simulator does not know a string as a value"),
    # a function of the host is named before the text it is given
    "n = eval('1')": (0, "eval cannot be used in a kernel"),
    "exec('n = 1')": (0, "exec cannot be used in a kernel"),
    "n = compile('1', '', 'eval')": (0, "compile cannot be used in a kernel"),
    "n = __import__('os')": (0, "__import__ cannot be used in a kernel"),
    "n = open('x').read()": (0, "open cannot be used in a kernel"),
    "print(open('x'))": (0, "open cannot be used in a kernel"),
    "n = input('n?')": (0, "input cannot be used in a kernel"),
    "n = globals()['a']": (0, "globals cannot be used in a kernel"),
    "setattr(a, 'size', 1)": (0, "setattr cannot be used in a kernel"),
    "n = hasattr(a, 'size')": (0, "the simulator does not know hasattr in a kernel, Numba does"),
    "n = nothing('x')": (0, "the name nothing is not defined"),
    "n = np.load('x')": (0, "the simulator does not know np.load"),
    "s = f'{n}'": (0, "an f-string cannot be used"),
    "if (m := n) > 1:\n    n = m": (
        0,
        "the simulator does not know the walrus operator :=, Numba does",
    ),
    "class C:\n    pass": (0, "a class cannot be used"),
    "def inner(x):\n    return x\ndef inner(x):\n    return 1": (
        2,
        "inner is defined twice inside",
    ),
    "def inner(x):\n    return inner(x - 1)\nn = inner(1)": (1, "inner calls itself"),
    "def inner(x):\n    return x + n\nf = inner": (2, "inner reads n of the kernel around it"),
    "def inner(x):\n    yield x\nn = inner(1)": (1, "yield cannot be used"),
    "def inner(*x):\n    return 1\nn = inner(1)": (0, "inner takes *args or keyword-only"),
    "return i": (0, "a kernel returns nothing, and this one returns a value"),
    "n = i in (1, 2.5)": (0, "in takes a tuple of numbers of one type"),
    "n = i in a": (0, "the simulator does not know in for a whole array, Numba does"),
    "n = 1 < i in (1, 2)": (0, "in or is within a chain"),
    "n = a is a": (0, "only numbers can be compared"),
    "n = a @ a": (0, "the operator @ is not for kernels"),
    "for x in n:\n    n = 1": (0, "a loop over int64"),
    "for x in map(a):\n    n = 1": (0, "a loop over map cannot be used in a kernel"),
    "n = 2 ** 99999999999999999999": (0, "an integer literal beyond 64 bits"),
    "n = os.getpid()": (0, "os is the module os: a kernel cannot use it"),
    "n = TABLE": (0, "TABLE is not a constant"),
    "f = open": (0, "open cannot be used in a kernel"),
    "n = sorted(n)": (0, "sorted cannot be used in a kernel"),
    "n = np.argmax(a)": (0, "the simulator does not know np.argmax, Numba does"),
    "n = missing + 1": (0, "the name missing is not defined"),
    "n = plain(i)": (0, "plain is a plain Python function: a kernel cannot call it"),
    "f = device\nn = f + 1": (1, "the function device and int64"),
    "f = device\nf = 1\nn = f if n else device": (2, "int64 and the function device"),
    "f = device\nn = f(i, i)": (1, "device takes 1 argument (x), and this call gives 2"),
    "n = device(y=i)": (0, "device takes 1 argument (x), and this call gives y=..."),
    "x = None\nn = x + 1": (1, "nothing and int64"),
    "n = device(i, i)": (0, "device takes 1 argument (x), and this call gives 2"),
    "n = recursive(i)": (None, "recursive calls itself"),
    "(1, 2)[i] = 1": (0, "a tuple cannot be changed"),
    "out.shape[0] = 1": (0, "a tuple cannot be changed"),
    "cuda.atomic.mul(out, 0, 1)": (0, "the simulator does not know cuda.atomic.mul"),
    "cuda.atomic.and_(out, 0, 1)": (0, "combines bits, and this array is of float32"),
    "cuda.atomic.add(n, 0, 1)": (0, "updates a cell of an array, not of int64"),
    "cuda.atomic.inc(out, 0, 1)": (0, "counts in uint32 or uint64"),
    "n = cuda.shfl_sync(-1, True, 0)": (0, "moves 4 or 8 bytes, not bool"),
    "n = cuda.shfl_sync(-1, np.uint32(1), 0)": (0, "moves no uint32"),
    "n = cuda.shfl_xor_sync(-1, np.uint64(1), 1)": (0, "moves no uint64"),
    "cuda.nanosleep(a)": (0, "cuda.nanosleep: takes numbers, not array(float32, 1d)"),
    "n = cuda.fp16.hadd_sat(1, 2)": (0, "the simulator does not know cuda.fp16.hadd_sat"),
    "n = cuda.fp16.hadd(1, 2j)": (0, "takes numbers that become float16, not complex128"),
    "n = math.ldexp(a, 1)": (0, "math.ldexp: takes numbers, not array(float32, 1d)"),
    "n = divmod(1j, 2)": (0, "complex128 and int64"),
    "n = sum(a)": (0, "the simulator does not know sum of a whole array, Numba does"),
    "n = cuda.thredIdx.x": (0, "the simulator does not know cuda.thredIdx.x"),
    "n = math.erfinv(1.0)": (0, "there is no math.erfinv"),
    "print(a)": (0, "print: shows numbers and strings, not a"),
    "print(f'{n}')": (0, "an f-string cannot be used"),
    # what only types can tell
    "out[i] = a": (0, "array(float32, 1d) cannot be stored in one cell"),
    "out[0.5] = 1": (0, "an index must be a whole number, and 0.5 is float64"),
    "out[i, i] = 1": (0, "out[i, i] gives 2 of 1 index"),
    "out[1:3] = a[2:4]": (0, "out[1:3] = ..., cells from cells, cannot be used in a kernel"),
    "n = out[::0].size": (0, "a slice's step cannot be 0"),
    "for k in range(0, 5, 0):\n    n = 1": (
        0,
        "in 8 of the 8 threads that come here, the first of them thread (0,0,0) of block (0,0,0)",
    ),
    "for k in range(n, 0, n - 8):\n    out[0] = 1": (0, "the step of range is 0 in 8 of the 8"),
    "for k in range(5, i, i - 3):\n    out[0] = 1": (
        0,
        "in 1 of the 8 threads that come here, the first of them thread (3,0,0) of block (0,0,0)",
    ),
    "for k, j in enumerate(range(0, 5, i % 2)):\n    n = 1": (0, "the step of range is 0 in 4"),
    "r = range(1, 5, i // 4)\nif i > 5:\n    for k in r:\n        n = 1": (0, "is 0 in 4 of"),
    "while y:\n    y = y": (0, "y is read here, and nothing above assigns it"),
    "while y:\n    y = z\n    z = y": (0, "is read here, and nothing above assigns it"),
    "n = out[:: 2j].size": (0, "a slice is bounded by real numbers"),
    "n = out[: 2j].size": (0, "a slice is bounded by real numbers"),
    "n[i] = 1": (0, "n is int64, which has no cells"),
    "b = a\nif n:\n    b = 1\nout[0] = b[0]": (2, "b is array(float32, 1d) and int64"),
    "CONST[0] = 1": (0, "constant memory cannot be changed"),
    "n = a + 1": (0, "a is a whole array: a kernel computes with its cells"),
    "n = a.flat": (0, "the simulator does not know the array attribute .flat"),
    "if a:\n    n = 1": (0, "a condition must be a number or a bool"),
    "n = 1.5 & 2": (0, "& takes whole numbers, not float64"),
    "p, q = 1, 2, 3": (0, "cannot be unpacked into 2 names"),
    "t = (1, 2)\nn = t[5]": (1, "a tuple of 2 has no element 5"),
    "n = cuda.grid(n)": (0, "cuda.grid: takes 1, 2 or 3, written as a number"),
    "n = not a": (0, "a is a whole array: a kernel computes with its cells"),
    "if not (n, n):\n    n = 1": (0, "not takes a number, not tuple(int64, int64)"),
    "n = -a": (0, "a is a whole array: a kernel computes with its cells"),
    "n = ~0.5": (0, "~ takes a whole number, not float64"),
    "n = out[i, ()]": (0, "an index must be a whole number, and (i, ()) is tuple()"),
    "n = (1, 2)[()]": (0, "an index must be a whole number, and () is tuple()"),
    "n = (1, 2)[a]": (0, "an index must be a whole number, and a is array(float32, 1d)"),
    "n = (1, 2)[0.5]": (0, "an index must be a whole number, and 0.5 is float64"),
    # NumPy takes an array's type for that of its elements, and a reader should not.
    "c = cuda.local.array(3, np.int64)\nn = n if i else c": (1, "int64 and array(int64, 1d)"),
    "c = cuda.local.array(3, np.int64)\nn = (n, c)[i]": (1, "takes constant indices only"),
    "if n:\n    y = n\nelse:\n    y = cuda.local.array(3, np.int64)\nout[0] = y[0]": (
        3,
        "y is int64 and array(int64, 1d)",
    ),
    "n = math.sqrt(1, 2)": (0, "math.sqrt: takes 1 argument, not 2"),
    "n = later\nif n > 5:\n    x = y": (0, "the name later is not defined"),
    "n = y\ny = y + 1": (0, "y is read here, and nothing above assigns it"),
    "cuda = 1": (0, "cuda.grid"),
}


def _write(tmp_path: Path, body: str) -> str:
    path = tmp_path / "kernel.py"
    path.write_text(HEAD + "".join(f"    {line}\n" for line in body.splitlines()))
    return f"{path}:kernel"


@pytest.mark.parametrize("body", REFUSED)
def test_is_refused_with_line_and_reason(body: str, tmp_path: Path) -> None:
    offset, fact = REFUSED[body]
    out = np.zeros(8, np.float32)
    with pytest.raises(KernelRefused) as caught:
        simulate(_write(tmp_path, body))[1, 8](out, out.copy(), 8)
    assert fact in caught.value.fact
    if body != "cuda = 1" and offset is not None:
        assert caught.value.line == LINE + offset
    assert not out.any()


def test_the_text_of_a_refusal(tmp_path: Path) -> None:
    with pytest.raises(KernelRefused) as caught:
        simulate(_write(tmp_path, "n = cuda.thredIdx.x"))
    first, where, advice = str(caught.value).splitlines()
    assert first == "the simulator does not know cuda.thredIdx.x"
    assert where.startswith("  where:  kernel kernel, ")
    assert where.endswith(f"kernel.py:{LINE}    n = cuda.thredIdx.x")
    assert advice == "  try:    did you mean cuda.threadIdx.x?"


def test_what_the_file_holds_beside_the_kernel_is_not_run(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    path = tmp_path / "kernel.py"
    path.write_text(
        "import os, sys\nfrom numba import cuda\n"
        f"open({str(marker)!r}, 'w')\nsys.exit(3)\nos._exit(3)\n"
        "@cuda.jit\ndef kernel(out):\n    out[0] = 1\n"
    )
    out = np.zeros(1)
    assert simulate(f"{path}:kernel")[1, 1](out).ok
    assert out[0] == 1
    assert not marker.exists()


@pytest.mark.parametrize(
    "definition",
    ["def kernel(*out):", "def kernel(**out):", "def kernel(out, *, a):"],
)
def test_a_launch_cannot_pass_such_parameters(definition: str, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(f"from numba import cuda\n@cuda.jit\n{definition}\n    pass\n")
    with pytest.raises(KernelRefused, match="which the simulator does not know"):
        simulate(f"{path}:kernel")


@pytest.mark.parametrize(
    ("constant", "value"),
    [
        ("4 * (2 + 1)", 12), ("-3", -3), ("1 << 4", 16), ("7 // 2", 3), ("2 ** 5", 32),
        ("math.pi", np.pi), ("np.float32(0.1)", float(np.float32(0.1))), ("True", 1),
    ],
)  # fmt: skip
def test_constants_beside_the_kernel(constant: str, value: float, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        "import math\nimport numpy as np\nfrom numba import cuda\n"
        f"C = {constant}\n@cuda.jit\ndef kernel(out):\n    out[0] = C\n"
    )
    out = np.zeros(1)
    assert simulate(f"{path}:kernel")[1, 1](out).ok
    assert out[0] == value


@pytest.mark.parametrize("spelling", ["numba.cuda", "numba_cuda_mlir.cuda"])
def test_every_spelling_of_the_import(spelling: str, tmp_path: Path) -> None:
    home, _, name = spelling.partition(".")
    path = tmp_path / "kernel.py"
    for line in (f"from {home} import {name} as gpu", f"import {spelling} as gpu"):
        path.write_text(f"{line}\n@gpu.jit\ndef kernel(out):\n    out[gpu.grid(1)] = 1\n")
        assert simulate(f"{path}:kernel")[1, 4](np.zeros(4)).ok


SLIPS = {  # body -> (fact, hint): the commonest ones, each with a sentence of its own
    "i = cuda.threadIdx\nout[0] = i + 1": (
        "i, which is cuda.threadIdx, is no number: it has the parts .x, .y and .z",
        "write cuda.threadIdx.x, its place along x",
    ),
    "i = cuda.blockDim * 2": (
        "cuda.blockDim is no number: it has the parts .x, .y and .z",
        "write cuda.blockDim.x, its place along x",
    ),
    "i = cuda.threadIdx\nout[i] = 1": (
        "i, which is cuda.threadIdx, is no number: it has the parts .x, .y and .z",
        "write cuda.threadIdx.x, its place along x",
    ),
    **dict.fromkeys(
        (
            "out[cuda.threadIdx] = 1",
            "out[0] = cuda.threadIdx",
            "x = int(cuda.threadIdx)",
            "x = -cuda.threadIdx",
            "x = cuda.threadIdx[0]",
            "print(cuda.threadIdx)",
            "for k in range(cuda.threadIdx):\n    out[0] = 1",
            "if cuda.threadIdx:\n    out[0] = 1",
            "for k in cuda.threadIdx:\n    out[0] = 1",
            "if cuda.threadIdx == 0:\n    out[0] = 1",
        ),
        (
            "cuda.threadIdx is no number: it has the parts .x, .y and .z",
            "write cuda.threadIdx.x, its place along x",
        ),
    ),
    **dict.fromkeys(
        (
            "x = cuda.grid + 1",
            "out[cuda.grid] = 1",
            "x = int(cuda.grid)",
            "if cuda.grid < 3:\n    out[0] = 1",
        ),
        (
            "cuda.grid is a function, and gives a number only where it is called",
            "write cuda.grid(1), with its brackets",
        ),
    ),
    **{
        name: (
            f"this line names the function {name} and does not call it: it does nothing",
            f"write {name}(...), with its brackets",
        )
        for name in (
            "cuda.syncthreads",
            "cuda.threadfence",
            "cuda.syncwarp",
            "cuda.atomic.add",
            "device",
        )
    },
    "x = cuda.grid()": (
        "Numba finds no type for this line: cuda.grid: takes 1, 2 or 3, written as a number",
        "give it the dimensions of the grid, between its brackets: 1 for a place along x",
    ),
    "x = cuda.laneid()": (
        "Numba finds no type for this line: cuda.laneid cannot be called",
        "write cuda.laneid, without brackets",
    ),
    "x = cuda.blockIdx()": (
        "Numba finds no type for this line: cuda.blockIdx cannot be called",
        "write cuda.blockIdx.x, .y or .z, without brackets",
    ),
    "x = out[None, 0]": (
        (
            "the simulator does not know None as an index, which gives an array one more axis, "
            "Numba does"
        ),
        "give an index for each axis that there is",
    ),
    "np.sin(n, out)": (
        "the simulator does not know np.sin with an array for its results, Numba does",
        "store its result, cell by cell: out[i] = np.sin(n)",
    ),
    "x = cuda.clz(True)": (
        "the simulator does not know the leading zeros of a bool, Numba does",
        "count those of int32(x)",
    ),
    "for k, v in enumerate(a, start=2):\n    out[0] = k": (
        "the simulator does not know loops over enumerate with a keyword",
        "give its start by place: enumerate(a, 5)",
    ),
    "for k, v in enumerate(a, 1.5):\n    out[0] = k": (
        "Numba finds no type for this line: enumerate counts from a whole number, not float64",
        "check what each name is: an array, a number or a tuple",
    ),
    "i = cuda.threadIdx.w": (
        "cuda.threadIdx has the parts .x, .y and .z, and no .w",
        "write cuda.threadIdx.x, or .y or .z",
    ),
    "n = threadIdx.x": ("the name threadIdx is not defined", "write cuda.threadIdx"),
    "syncthreads()": ("the name syncthreads is not defined", "write cuda.syncthreads"),
    "x = sqrt(a[i])": ("the name sqrt is not defined", "write math.sqrt"),
    "x = int16(n)": (
        "the name int16 is not defined",
        "write np.int16, with `import numpy as np` at the top of the file",
    ),
    "i = cuda.grid\nout[i] = 1": (
        "i, which is cuda.grid, is a function, and gives a number only where it is called",
        "write cuda.grid(1), with its brackets",
    ),
    "n = math.fmin(1.0, 2.0)": ("there is no math.fmin", "write min(x, y)"),
    "n = math.gcd(n, 4)": (
        "math.gcd cannot be used in a kernel: Numba does not compile it",
        "",
    ),
    "n = np.clip(a[i], 0, 1)": (
        "np.clip cannot be used in a kernel: Numba does not compile it",
        "write min(max(x, low), high)",
    ),
    "n = np.sqrt(a[i])": (
        "np.sqrt cannot be used in a kernel: Numba does not compile it",
        "write math.sqrt(x)",
    ),
    "out[i] = a + 10": (
        "a is a whole array: a kernel computes with its cells, one by one",
        "index it, such as a[i]",
    ),
    "t = cuda.grid(2)\nout[t] = 1": (
        "out[t] gives 2 of 1 index, since t is a tuple of 2",
        "give 1 index, one per dimension",
    ),
    "out[n / 2] = 1": (
        "Numba finds no type for this line: an index must be a whole number, and n / 2 is float64",
        "divide by // where a whole number is meant, or write int(x)",
    ),
    "t = cuda.shared.array(3, np.int32)\ncuda.atomic.inc(t, 0, 9)": (
        (
            "Numba finds no type for this line: cuda.atomic.inc: counts in uint32 or uint64, and "
            "this array is of int32"
        ),
        "write cuda.atomic.add(array, index, 1) to count up",
    ),
    "n = a[i] ^ 2": (
        "Numba finds no type for this line: ^ takes whole numbers, not float32",
        "write x * x, or x ** 2, for a power",
    ),
    "n = cuda.syncthreads_count(i < 3)": (
        (
            "Numba finds no type for this line: cuda.syncthreads_count: takes a whole number, "
            "not bool"
        ),
        "write 1 if ... else 0",
    ),
    "c = cuda.local.array((2, 3), float32)\nn = c[i] + 1": (
        "c[i] is a whole array: a kernel computes with its cells, one by one",
        "index it, such as c[i, j]",
    ),
    "c = cuda.local.array((2, 3), float32)\nn = c[:, i] + 1": (
        "c[:, i] is a whole array: a kernel computes with its cells, one by one",
        "index it, such as c[:, i][j]",
    ),
    "out += 1": (
        "out is a whole array: a kernel computes with its cells, one by one",
        "index it, such as out[i]",
    ),
    "if a > 0:\n    n = 1": (
        "a is a whole array: a kernel computes with its cells, one by one",
        "index it, such as a[i]",
    ),
    "n = math.sqrt(a)": (
        "Numba finds no type for this line: math.sqrt: takes numbers, not array(float32, 1d)",
        "give it cells, such as a[i]",
    ),
    "n = max(a)": (
        "the simulator does not know max of a whole array, Numba does",
        "write the loop over its cells",
    ),
    "n = max(a[i])": (
        "Numba finds no type for this line: max: takes 2 to 64 arguments, not 1",
        "check what each name is: an array, a number or a tuple",
    ),
    "t = cuda.shared.array(n, float32)": (
        "cuda.shared.array: its shape must be constant, and n is not a constant",
        "write numbers, or names of numbers that never change",
    ),
    "t = cuda.shared.array((TPB, TPB + 1), float32)": (
        "cuda.shared.array: its shape computes TPB + 1: Numba takes numbers and names there",
        "give the result a name beside the kernel, such as PADDED = TILE + 1",
    ),
    "t = cuda.shared.array([2, 3], float32)": (
        "a list cannot be used in a kernel: Numba does not compile it",
        "use a tuple, such as (1, 2, 3), or cuda.local.array",
    ),
    "t = cuda.shared.array((2, -3), float32)": (
        "cuda.shared.array: a side of -3, and no array is so small",
        "write a number from 0 on",
    ),
    "t = cuda.shared.array(TPB, 'floaty')": (
        "cuda.shared.array: 'floaty' names no dtype",
        "write a type, such as float32 or dtype=np.float32",
    ),
}


@pytest.mark.parametrize("body", SLIPS)
def test_the_commonest_slips_have_sentences_of_their_own(body: str, tmp_path: Path) -> None:
    fact, hint = SLIPS[body]
    out = np.zeros(8, np.float32)
    with pytest.raises(KernelRefused) as caught:
        simulate(_write(tmp_path, body))[1, 8](out, out.copy(), 8)
    assert (caught.value.fact, caught.value.hint) == (fact, hint)


def test_a_function_with_a_signature_is_a_kernel_unless_it_says_device(tmp_path: Path) -> None:
    text = (
        "from numba import cuda\n@cuda.jit('float32(float32)'{})\ndef f(x):\n    return 2 * x\n"
        "@cuda.jit\ndef kernel(out):\n    out[0] = f(3)\n"
    )
    path, out = tmp_path / "kernel.py", np.zeros(1)
    path.write_text(text.format(""))
    with pytest.raises(KernelRefused, match="f has a signature, which makes it a kernel") as caught:
        simulate(f"{path}:kernel")
    assert (caught.value.line, caught.value.hint) == (
        7, "mark it with device=True beside the signature",
    )  # fmt: skip
    path.write_text(text.format(", device=True"))
    assert simulate(f"{path}:kernel")[1, 1](out).ok
    assert out[0] == 6


def test_a_list_beside_the_kernel_is_refused_alive_and_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    head = "import numpy as np\nfrom numba import cuda\n"
    head += "L = [1, 2]\nT = ((1, 2), [3])\nA = np.array(L)\n"
    for name in ("L", "T"):
        path.write_text(head + f"@cuda.jit\ndef kernel(out):\n    out[0] = len({name})\n")
        with pytest.raises(
            KernelRefused, match=f"{name}, a list beside the kernel, cannot be used"
        ):
            simulate(f"{path}:kernel")
    path.write_text(head + "@cuda.jit\ndef kernel(out):\n    out[0] = A[1]\n")
    out = np.zeros(1)
    assert simulate(f"{path}:kernel")[1, 1](out).ok
    assert out[0] == 2
