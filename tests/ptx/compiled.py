"""A kernel of the course as PTX: as Numba ships it, and without fused products.

Numba's part is done once and NVVM's twice. What came out is kept between runs of the tests, by all
that it depends on.
"""

from __future__ import annotations

import hashlib
import json
import warnings
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpu_course.hardware.compiled.compiler import helpers_for
from gpu_course.hardware.compiled.toolchain import toolchain
from gpu_course.hardware.run import cuda_module, kernels_of
from gpu_course.puzzle import Launch

CAPABILITY = (8, 0)
SHIPPED: dict[str, Any] = {"opt": 3}
"""What `cuda.jit` and `cuda.compile_ptx` tell NVVM."""
UNFUSED: dict[str, Any] = {"opt": 3, "fma": False}
"""The same, and no product is fused with a sum."""
FORM = 1


@dataclass(frozen=True)
class Texts:
    """The PTX of one kernel.

    Attributes:
        shipped: as `cuda.jit` compiles it: products may be fused with sums.
        unfused: with `nvvm_options={"fma": False}`.
    """

    shipped: str
    unfused: str


def texts_of(file: Path, name: str, arguments: Sequence[Any], keep: Path | None) -> Texts:
    """Returns the PTX of a kernel in a file, which is executed.

    Args:
        file: a solution, or a file of mistakes.
        name: of the kernel.
        arguments: as the launch gets them; their types count.
        keep: a folder for what was compiled; None keeps nothing.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cuda = cuda_module()
        from numba import typeof

        types = tuple(map(typeof, arguments))
    parts = [FORM, name, str(types), file.read_text("utf-8"), toolchain().versions]
    key = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]
    kept = keep / key if keep else None
    if kept is not None and kept.is_file():
        return Texts(*zlib.decompress(kept.read_bytes()).decode().split("\0"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kernel = kernels_of(file, [Launch(name, 1, 1, ())], cuda)[name]
        found = compiled(kernel.py_func, types)
    if kept is not None:
        part = kept.with_name(f"{key}.{id(found)}")
        part.write_bytes(zlib.compress(f"{found.shipped}\0{found.unfused}".encode()))
        part.replace(kept)
    return found


def compiled(function: Any, types: tuple[Any, ...]) -> Texts:
    """Returns the PTX of a plain Python function for Numba's types of its arguments."""
    from numba import types as numba_types
    from numba.cuda.compiler import compile_cuda, kernel_fixup

    with helpers_for(CAPABILITY):
        made = compile_cuda(function, numba_types.void, types, nvvm_options=SHIPPED, cc=CAPABILITY)
    library = made.library
    kernel = library.get_function(made.fndesc.llvm_func_name)
    library._entry_name = made.fndesc.llvm_func_name
    kernel_fixup(kernel, False)
    shipped = library.get_asm_str(CAPABILITY)
    library._ptx_cache.clear()
    library._nvvm_options = UNFUSED
    return Texts(shipped, library.get_asm_str(CAPABILITY))
