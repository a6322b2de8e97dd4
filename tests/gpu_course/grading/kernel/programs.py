"""Random programs over the kernel vocabulary, for hypothesis: some tame, most of them wild."""

from __future__ import annotations

import io
import textwrap
import tokenize

from hypothesis import strategies as st

from simt.kernel import intrinsics

NAMES = ("i", "j", "x", "y", "size", "out", "a", "tile", "f", "TPB")
CONSTANTS = (
    "0", "1", "-1", "2", "7", "31", "0.5", "-2.5", "1e400", "1e-320", "True", "None", "'s'", "1j",
    "2147483648", "9223372036854775807", "9223372036854775808", "18446744073709551615", "...",
    "(1 << 40)", "math.pi", "math.inf", "0xFFFFFFFF", "()", "(1, 2)", "[]", "{}",
)  # fmt: skip
PLACES = tuple(
    f"cuda.{name}.{axis}"
    for name in ("threadIdx", "blockIdx", "blockDim", "gridDim")
    for axis in "xyz"
) + ("cuda.laneid", "cuda.warpsize", "cuda.grid(1)", "cuda.gridsize(1)", "cuda.grid(2)")
FUNCTIONS = tuple(sorted(name.removeprefix("builtin.") for name in intrinsics.NAMES)) + (
    "f", "float32", "int32", "int64", "np.float32", "np.int8", "open", "sum", "np.sin", "x",
)  # fmt: skip
BINARY = ("+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "@", "and", "or")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=", "is", "in", "not in")
UNARY = ("-", "+", "~", "not ")
TYPES = ("float32", "int32", "float64", "np.int8", "np.uint64", "np.bool_", "np.complex64", "x")


def _joined(*parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(*parts).map("".join)


def _several(parts: st.SearchStrategy[str], least: int, most: int) -> st.SearchStrategy[str]:
    return st.lists(parts, min_size=least, max_size=most).map(", ".join)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    name = st.sampled_from(NAMES)
    index = inner | _several(inner, 2, 3) | _joined(inner, st.just(":"), inner) | st.just(":")
    keywords = st.sampled_from(("", ", size=1", ", 1, 2", ", *a", ", **a"))
    return st.one_of(
        _joined(st.just("("), inner, _around(BINARY), inner, st.just(")")),
        _joined(st.just("("), inner, _around(COMPARISONS), inner, st.just(")")),
        _joined(st.just("("), st.sampled_from(UNARY), inner, st.just(")")),
        _joined(inner, st.just(" < "), inner, st.just(" <= "), inner),
        _joined(
            st.just("("), inner, st.just(" if "), inner, st.just(" else "), inner, st.just(")")
        ),
        _joined(name, st.just("["), index, st.just("]")),
        _joined(st.sampled_from(FUNCTIONS), st.just("("), _several(inner, 0, 4), st.just(")")),
        _joined(st.sampled_from(FUNCTIONS), st.just("("), inner, keywords, st.just(")")),
        _joined(
            name, st.sampled_from((".shape", ".shape[0]", ".size", ".T", ".real", ".x", ".ndim"))
        ),
        _joined(st.just("("), _several(inner, 1, 3), st.just(",)")),
    )


def _around(operators: tuple[str, ...]) -> st.SearchStrategy[str]:
    return st.sampled_from(operators).map(lambda operator: f" {operator} ")


LEAVES = st.one_of(
    st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from(CONSTANTS),
    st.sampled_from(PLACES),
)  # fmt: skip
WILD = st.recursive(LEAVES, _larger, max_leaves=6)

_NUMBERS = st.sampled_from(("i", "j", "x", "y", "size", "0", "1", "3", "0.5", *PLACES[:3]))


def _number(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = _around(("+", "-", "*", "/", "//", "%", "**", "<", "==", "and", "or"))
    return st.one_of(
        _joined(st.just("("), inner, operators, inner, st.just(")")),
        _joined(st.just("a[int("), inner, st.just(") % size]")),
        _joined(
            st.sampled_from(("min", "max")), st.just("("), inner, st.just(", "), inner, st.just(")")
        ),
        _joined(
            st.sampled_from(("abs", "int", "float", "-", "f", "math.sqrt")),
            st.just("("),
            inner,
            st.just(")"),
        ),
        _joined(
            st.just("("), inner, st.just(" if "), inner, st.just(" else "), inner, st.just(")")
        ),
    )


TAME = st.recursive(_NUMBERS, _number, max_leaves=5)


MIXED = st.one_of(TAME, TAME, TAME, TAME, WILD)
"""Mostly sound, so that a program gets as far as running before its odd part is met."""

ODD = (
    "assert x > 0, 'no'", "print('x', x)", "del x", "import os", "x: int = 3", "x.y = 1",
    "lambda: 1", "yield 1", "def g(x):\n    return x", "with x:\n    pass", "'a docstring'",
    "try:\n    x = 1\nexcept Exception:\n    x = 2", "*x, y = 1, 2", "out[0].x = 1", "a = out",
    "cuda = 3", "i = j = x", "f(x)[0] = 1", "tile[:] = a[:]", "tile[0], x = 1, 2", "f = 3",
    "b = a[1:5]\nb[2] = x", "out[i] += f(a[i])", "x = (i, j)[0]", "i, j = cuda.grid(2)",
    "g = cuda.cg.this_grid()\ng.sync()", "assert False", "x = a.shape[0] + len(a)",
)  # fmt: skip
SOUND = ("assign", "cell", "update", "barrier", "if", "else", "range", "while", "each", "atomic")
UNSOUND = ("call", "leave", "array", "odd", "targets")
WITH_A_BLOCK = ("if", "else", "range", "while", "each")
BARRIERS = ("cuda.syncthreads()", "cuda.syncwarp()", "cuda.threadfence()", "pass")
ITEMS = ("a", "tile", "(1, 2, 3)", "zip(a, out)", "enumerate(a)", "enumerate(range(x))")
WORDS = ("return", "if x:\n    return", "break", "continue", "return x", "raise x")


@st.composite
def blocks(draw: st.DrawFn, expressions: st.SearchStrategy[str], depth: int = 2) -> str:
    """A few statements, as text that is not yet indented."""
    kinds = [kind for kind in SOUND if depth or kind not in WITH_A_BLOCK]
    if expressions is not TAME:
        kinds += UNSOUND
    return "\n".join(
        draw(_statement(draw(st.sampled_from(kinds)), expressions, depth))
        for _ in range(draw(st.integers(1, 4)))
    )


@st.composite
def _statement(draw: st.DrawFn, kind: str, expressions: st.SearchStrategy[str], depth: int) -> str:
    def some() -> str:
        return draw(expressions)

    def one_of(texts: tuple[str, ...]) -> str:
        return draw(st.sampled_from(texts))

    def index() -> str:
        return some() if expressions is WILD else f"int({some()}) % 8"

    name = one_of(("i", "j", "x", "y"))
    inside = ""
    if kind in WITH_A_BLOCK:
        inside = textwrap.indent(draw(blocks(expressions, depth - 1)), "    ")
    match kind:
        case "assign":
            return f"{name} = {some()}"
        case "cell":
            return f"{one_of(('out', 'out', 'a', 'tile'))}[{index()}] = {some()}"
        case "update":
            return f"{name} {one_of(('+', '-', '*', '//', '%', '/', '<<', '&', '**'))}= {some()}"
        case "barrier":
            return one_of(BARRIERS)
        case "if":
            return f"if {some()}:\n{inside}"
        case "else":
            other = textwrap.indent(draw(blocks(expressions, 0)), "    ")
            return f"if {some()}:\n{inside}\nelse:\n{other}"
        case "range":
            return f"for {name} in range(int({some()}), int({some()}), 2):\n{inside}"
        case "while":
            return f"while {some()}:\n{inside}\nelse:\n    x = 1"
        case "each":
            of = one_of(ITEMS)
            return f"for {'i, j' if of[0] in 'ze' else name} in {of}:\n{inside}"
        case "atomic":
            what = one_of(("add", "max", "min", "exch", "cas", "inc", "xor", "and_"))
            third = ", 1" if what == "cas" else ""
            return f"{name} = cuda.atomic.{what}(out, {index()}, {some()}{third})"
        case "call":
            return some()
        case "leave":
            return one_of(WORDS)
        case "array":
            shape = one_of(("8", "TPB", "(2, 3)", "0", "x", "-1", "(1 << 50)"))
            make = one_of(("shared", "local", "const"))
            return f"tile = cuda.{make}.array({shape}, {one_of(TYPES)})"
        case "targets":
            return f"{name}, {one_of(NAMES)} = {some()}, {some()}"
        case _:
            return one_of(ODD)


@st.composite
def programs(
    draw: st.DrawFn, kernel: str, parameters: tuple[str, ...], expressions: st.SearchStrategy[str]
) -> str:
    """An answer file: imports, a constant, a device function and the kernel.

    Args:
        kernel: the kernel's name.
        parameters: its parameters; names that the expressions use are better.
        expressions: WILD, MIXED or TAME.
    """
    start = "i = cuda.grid(1)\nj = 1\nx = 2\ny = 0.5\ntile = cuda.shared.array(8, float32)\n"
    start += "".join(f"{name} = 3\n" for name in ("size", "b") if name not in parameters)
    body = (start if expressions is not WILD else "") + draw(blocks(expressions))
    device = f"i = j = y = size = 3\na = (1, 2, 3, 4, 5)\nreturn {draw(expressions)}"
    return (
        "import math\nimport operator\n\nimport numpy as np\n"
        "from numba import cuda, float32, float64, int32, int64\n\n"
        f"TPB = {draw(st.sampled_from(('64', '64', '64', '64', '2.5', 'x', '(1, 2)')))}\n\n\n"
        f"@cuda.jit(device=True)\ndef f(x):\n{textwrap.indent(device, '    ')}\n\n\n"
        f"@cuda.jit\ndef {kernel}({', '.join(parameters)}):\n{textwrap.indent(body, '    ')}\n"
    )


@st.composite
def disturbed(draw: st.DrawFn, text: str) -> str:
    """A program with a few of its tokens dropped, doubled, exchanged or replaced."""
    tokens = [t.string for t in tokenize.generate_tokens(io.StringIO(text).readline)]
    lines = text.splitlines(keepends=True)
    for _ in range(draw(st.integers(1, 3))):
        number = draw(st.integers(0, len(lines) - 1))
        words = [w for w in tokenize_line(lines[number]) if w.strip()]
        if not words:
            continue
        word = draw(st.sampled_from(words))
        other = draw(st.sampled_from(("", word + word, word + " " + word, *tokens)))
        if draw(st.booleans()):
            lines[number] = lines[number].replace(word, other, 1)
        else:
            at = draw(st.integers(0, len(lines) - 1))
            lines[number], lines[at] = lines[at], lines[number]
    return "".join(lines)


def tokenize_line(line: str) -> list[str]:
    """The words and signs of one line, however broken it is."""
    words: list[str] = [""]
    for character in line:
        same = (character.isalnum() or character == "_") == (words[-1][-1:].isalnum())
        if same and not character.isspace():
            words[-1] += character
        else:
            words.append(character)
    return words
