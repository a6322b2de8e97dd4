"""`cuda.reduce`: a binary function, made into a reduction of one-dimensional arrays."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

from simt.errors import UserError
from simt.foreign.device_array import host
from simt.foreign.device_memory import device_array
from simt.foreign.dispatcher import Dispatcher, jit
from simt.foreign.kernel_names import KernelName
from simt.text import source_lines

THREADS = 128
MAX_BLOCKS = 64

cuda: Any = KernelName("cuda")


class Reduce:
    """A reduction of arrays by a binary function that may be applied in any order.

    The kernels that do it run on the simulator like any other: each block folds its share of the
    array in shared memory, and a last block folds what they leave.

    Args:
        functor: takes two elements and returns one; a `def`, or a lambda without free variables.
    """

    def __init__(self, functor: Callable[[Any, Any], Any]) -> None:
        self._combine = jit(device=True)(_as_def(functor))
        self._kernel = functools.cache(functools.partial(_fold, self._combine))

    def __call__(
        self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0, stream: object = 0
    ) -> Any:
        """Returns `init` combined with all elements; or writes it to `res[0]` and returns None.

        Args:
            arr: one-dimensional, on the host or on the device.
            size: how many elements to take; all of them when None.
            res: a device array for the result.
            init: the value that begins the reduction.
            stream: ignored.
        """
        if np.ndim(host(arr)) != 1:
            raise TypeError("cuda.reduce takes arrays of one dimension")
        size = len(arr) if size is None else size
        dtype = arr.dtype
        start = dtype.type(init)
        total = device_array(1, dtype) if res is None else res
        if size < 1:
            total[0] = start
        else:
            kernel = self._kernel(dtype)
            blocks = min(-(-size // THREADS), MAX_BLOCKS)
            partials = device_array(blocks, dtype)
            kernel[blocks, THREADS](partials, arr, size, start, False)
            kernel[1, THREADS](total[:1], partials, blocks, start, True)
        return total.copy_to_host()[0] if res is None else None


def _fold(combine: Any, dtype: np.dtype[Any]) -> Dispatcher:
    @jit
    def fold(out, values, size, start, last):  # type: ignore[no-untyped-def]
        own = cuda.shared.array(THREADS, dtype)
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        if i < size:
            own[t] = values[i]
            k = i + cuda.gridsize(1)
            while k < size:
                own[t] = combine(own[t], values[k])
                k += cuda.gridsize(1)
        cuda.syncthreads()
        live = min(THREADS, size - cuda.blockIdx.x * THREADS)
        half = THREADS // 2
        while half > 0:
            if t < half and t + half < live:
                own[t] = combine(own[t], own[t + half])
            cuda.syncthreads()
            half //= 2
        if t == 0:
            if last:
                out[0] = combine(start, own[0])
            else:
                out[cuda.blockIdx.x] = own[0]

    return fold  # type: ignore[no-any-return]


def _as_def(functor: Callable[..., Any]) -> Callable[..., Any]:
    """A lambda as the `def` that says the same, which a kernel can call."""
    plain = functor.py_func if isinstance(functor, Dispatcher) else functor
    if getattr(plain, "__name__", "") != "<lambda>":
        return plain
    node = _lambda(plain)
    if node is None or plain.__code__.co_freevars:
        raise UserError(
            "cuda.reduce cannot read this lambda",
            "write the function with def, on lines of its own",
        )
    text = f"def combine({ast.unparse(node.args)}):\n    return {ast.unparse(node.body)}\n"
    file = f"{inspect.getsourcefile(plain)} (lambda of line {plain.__code__.co_firstlineno})"
    linecache.cache[file] = (len(text), None, [line + "\n" for line in source_lines(text)], file)
    space: dict[str, Any] = {}
    exec(compile(text, file, "exec"), plain.__globals__, space)
    return space["combine"]  # type: ignore[no-any-return]


def _lambda(function: Callable[..., Any]) -> ast.Lambda | None:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError):
        return None
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
    return found[0] if len(found) == 1 else None
