"""The types of variables, and the refusals, against what Numba's CUDA target was recorded to say.

`python -m benchmarks.record_numba_types` makes the record anew. It needs no GPU.
"""

from __future__ import annotations

import functools
import json
import textwrap
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.record_numba_types import RECORD, entry, record, target
from simt.errors import KernelRefused
from simt.kernel import inference, legality, source
from simt.kernel.types import THREE_PARTS, ArrayType, DtypeType, TupleType
from tests.sampling import examples
from tests.simt.typed_kernels import KERNELS, source_of

# What Numba compiles and the simulator refuses.
OURS = [name for name in KERNELS if name.startswith("ours: ")]
RECORDED: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
KEPT: dict[str, Any] = RECORDED["kernels"]
ACCEPTED = [name for name in KERNELS if "variables" in KEPT[name] and name not in OURS]
REFUSED = [name for name in KERNELS if "refused" in KEPT[name]]


def _argument(text: str) -> Any:
    dtype, _, dimensions = text.partition("[")
    return ArrayType(np.dtype(dtype), dimensions.count(":")) if dimensions else np.dtype(dtype)


def infer_types(text: str, argument_types: Sequence[str], folder: Path) -> dict[str, set[str]]:
    """Variable -> the types the simulator gives to its versions."""
    path = folder / "kernel.py"
    path.write_text(text)
    program = legality.draft(source.load(path).kernel("kernel"))
    found: dict[str, set[str]] = {}
    for variable, type_ in inference.infer(
        program, [*map(_argument, argument_types)]
    ).types.items():
        found.setdefault(variable.partition("#")[0], set()).add(_shown(type_))
    return found


def _shown(type_: Any) -> str:
    if isinstance(type_, ArrayType) and type_.dtype.fields:
        fields = [(name, str(part)) for name, (part, *_) in type_.dtype.fields.items()]
        return f"array({fields}, {type_.ndim}d)" if type_.ndim else str(fields)
    if isinstance(type_, DtypeType):
        return f"class({type_.of})"
    if isinstance(type_, TupleType) and type_.names == THREE_PARTS:
        return "Dim3"
    return str(type_)


def _inferred(name: str, folder: Path) -> dict[str, set[str]]:
    return infer_types(source_of(name), KERNELS[name][0], folder)


def _join(types: list[str]) -> str:
    """The type that holds all of them."""
    if len(types) == 1:
        return types[0]
    return str(functools.reduce(np.promote_types, map(np.dtype, types)))


def test_the_record_is_of_these_kernels() -> None:
    assert set(KEPT) == set(KERNELS), "run `python -m benchmarks.record_numba_types`"
    assert len(ACCEPTED) >= 30
    assert len(REFUSED) >= 25
    named = {name for name in KERNELS if name.startswith("refused: ")}
    assert named == set(REFUSED)


@pytest.mark.parametrize("name", ACCEPTED)
def test_variables_have_numbas_types(name: str, tmp_path: Path) -> None:
    ours = _inferred(name, tmp_path)
    # A dtype and the class of its numbers are one thing here, and two for Numba.
    theirs = {
        variable: [text.replace("dtype(", "class(") for text in texts]
        for variable, texts in KEPT[name]["variables"].items()
    }
    assert set(ours) == set(theirs)
    different = {
        variable: (sorted(ours[variable]), theirs[variable])
        for variable in ours
        if not ours[variable] <= set(theirs[variable])
        or _join(sorted(ours[variable])) != _join(theirs[variable])
    }
    assert not different


@pytest.mark.parametrize("name", REFUSED)
def test_what_numba_refuses_is_refused_by_line(name: str, tmp_path: Path) -> None:
    with pytest.raises(KernelRefused) as caught:
        _inferred(name, tmp_path)
    body = source_of(name).splitlines()
    first = len(body) - body[::-1].index("@cuda.jit") + 1
    assert first <= caught.value.line <= len(body)
    assert not caught.value.fact.endswith("Numba does")


@pytest.mark.parametrize("name", OURS)
def test_what_numba_compiles_is_refused_in_the_simulators_own_name(
    name: str, tmp_path: Path
) -> None:
    assert "variables" in KEPT[name]
    with pytest.raises(KernelRefused) as caught:
        _inferred(name, tmp_path)
    assert caught.value.fact.startswith("the simulator does not know ")
    assert caught.value.hint


@pytest.mark.skipif(find_spec("numba_cuda") is None, reason="needs the extra compile")
@pytest.mark.filterwarnings("ignore:.*First-class function type")  # of kernels that name functions
def test_the_record_is_what_numba_says_today() -> None:
    made_with = RECORDED["target"]
    if target() != made_with:
        pytest.skip(f"the record was made with {made_with}, and this is {target()}")
    assert record()["kernels"] == KEPT


# Random kernels: after them, and in them, `r0 = x` tells the type that x has at that place

_ARGUMENTS = ("float32[:]", "int32[:]", "int64[:]", "uint8[:]", "float64[:]")
_leaves = st.sampled_from(
    ["f[0]", "n[0]", "m[0]", "u[0]", "d[0]", "x", "y", "z", "1", "2.5", "True"]
)
_expressions = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "/"]), inner).map(
            lambda e: f"({' '.join(e)})"
        ),
        st.tuples(inner, inner, inner).map(lambda e: f"({e[0]} if n[0] > {e[1]} else {e[2]})"),
    ),
    max_leaves=3,
)
_simple = st.one_of(
    st.tuples(st.sampled_from("xyz"), st.sampled_from(["=", "+=", "*="]), _expressions).map(
        " ".join
    ),
    st.sampled_from("xyz").map(lambda name: f"r@ = {name}"),
)


def _indent(body: str) -> str:
    return textwrap.indent(body, "    ")


_blocks = st.recursive(
    _simple,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=4).map("\n".join),
        # A test of constants alone would be decided by the compiler, and its branch not typed.
        st.tuples(_expressions, inner, inner).map(
            lambda t: f"if n[0] > {t[0]}:\n{_indent(t[1])}\nelse:\n{_indent(t[2])}"
        ),
        st.tuples(_expressions, inner).map(lambda t: f"if n[0] > {t[0]}:\n{_indent(t[1])}"),
        st.tuples(_expressions, inner).map(lambda t: f"while n[0] > {t[0]}:\n{_indent(t[1])}"),
        st.tuples(_expressions, inner, st.sampled_from(["break", "continue"])).map(
            lambda t: f"for k@ in range(3):\n    if n[0] > {t[0]}:\n        {t[2]}\n{_indent(t[1])}"
        ),
    ),
    max_leaves=7,
)


@settings(max_examples=examples(120, few=24), deadline=None)
@given(block=_blocks)
def test_a_name_has_numbas_type_at_every_place(
    block: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    body = f"x = 1\ny = f[0]\nz = n[0]\n{block}\nr@ = x\nr@ = y\nr@ = z"
    for number in range(body.count("@")):
        body = body.replace("@", str(number), 1)
    text = f"from numba import cuda\n\n@cuda.jit\ndef kernel(f, n, m, u, d):\n{_indent(body)}\n"
    theirs = entry(text, _ARGUMENTS)
    assert "variables" in theirs, text
    ours = infer_types(text, _ARGUMENTS, tmp_path_factory.mktemp("random"))
    told = {name for name in theirs["variables"] if name[0] == "r"}
    assert len(told) >= 3
    assert {n: ours[n] for n in told} == {n: set(theirs["variables"][n]) for n in told}, text
