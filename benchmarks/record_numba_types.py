"""Records the types Numba's CUDA target gives to the kernels of tests/simt/typed_kernels.py.

    python -m benchmarks.record_numba_types

It compiles each kernel as far as LLVM, which needs neither a GPU nor a driver, and writes the type
of every variable, or the name of the error with which Numba refuses, to
tests/simt/records/numba_types.json. With numba-cuda and the nvidia-cuda-runtime wheel installed the
compiler is numba-cuda's; without them it is the CUDA target that Numba itself carries.
"""

from __future__ import annotations

import importlib.metadata
import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from tests.simt.typed_kernels import KERNELS, source_of

RECORD = Path(__file__).parents[1] / "tests" / "simt" / "records" / "numba_types.json"
CAPABILITY = (8, 0)


def target() -> str:
    """Returns which CUDA target of Numba is installed here, with its version."""
    for package in ("numba-cuda", "numba"):
        try:
            return f"{package} {importlib.metadata.version(package)}"
        except importlib.metadata.PackageNotFoundError:
            continue
    return "none"


def record() -> dict[str, Any]:
    """Returns what Numba says of every kernel: {"target", "kernels": {name: entry}}.

    An entry is {"variables": {name: [types]}}, one type for each that an assignment of that name
    gets and in alphabetical order, or {"refused": name of the error}.
    """
    kernels = {name: entry(source_of(name), KERNELS[name][0]) for name in KERNELS}
    return {"target": target(), "kernels": kernels}


def entry(text: str, argument_types: Sequence[str]) -> dict[str, Any]:
    """Returns what Numba says of the function `kernel` of a file's text."""
    from numba.cuda.compiler import compile_cuda

    scope: dict[str, Any] = {"__name__": "kernel"}
    types, void = _types()
    arguments = tuple(_argument(types, each) for each in argument_types)
    try:
        # Device functions are compiled for the current device; without one, for this capability.
        device = SimpleNamespace(compute_capability=CAPABILITY)
        with (
            mock.patch("numba.cuda.dispatcher.get_current_device", return_value=device),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            exec(compile(text, "<kernel>", "exec"), scope)
            result = compile_cuda(scope["kernel"].py_func, void, arguments, cc=CAPABILITY)
    except Exception as error:  # a refusal, however the compiler comes to it
        return {"refused": type(error).__name__}
    found: dict[str, set[str]] = {}
    for variable, type_ in result.type_annotation.typemap.items():
        base = variable.partition(".")[0]
        # Nor what it has put in the place of a call.
        if not base.startswith("$") and base != "arg" and "__locals__" not in base:
            found.setdefault(base, set()).add(_name(types, type_))
    return {"variables": {base: sorted(found[base]) for base in sorted(found)}}


def _types() -> tuple[Any, Any]:
    from numba import cuda

    # numba-cuda has types of its own; the target inside Numba uses Numba's.
    types = getattr(cuda, "types", None)
    if types is None or not hasattr(types, "Array"):
        from numba import types
    return types, types.void


def _argument(types: Any, text: str) -> Any:
    dtype, _, dimensions = text.partition("[")
    scalar = types.boolean if dtype == "bool" else getattr(types, dtype)
    return types.Array(scalar, dimensions.count(":"), "C") if dimensions else scalar


def _name(types: Any, type_: Any) -> str:
    type_ = types.unliteral(type_)
    if isinstance(type_, types.Array):
        return f"array({_name(types, type_.dtype)}, {type_.ndim}d)"
    if isinstance(type_, types.Record):
        return str([(name, str(type_.typeof(name))) for name in type_.fields])
    if isinstance(type_, types.NoneType):
        return "None"
    if isinstance(type_, types.Dispatcher):
        return f"the function {type_.dispatcher.py_func.__name__}"
    if isinstance(type_, types.BaseTuple):
        return f"tuple({', '.join(_name(types, t) for t in type_)})"
    return str(type_)


def main() -> None:
    """Writes the record."""
    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text(json.dumps(record(), indent=1) + "\n", encoding="utf-8")
    print(f"{RECORD.name}: {len(KERNELS)} kernels, as {target()} types them")


if __name__ == "__main__":
    main()
