"""A GPU as one Python generator per thread: it stops at barriers, and knows nothing else.

It shares nothing with the simulator but the kernel's text. Threads of a block take turns from
barrier to barrier, blocks run one after the other, so it is right for kernels without races.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

Shape = tuple[int, int, int]


def _dim(x: int, y: int, z: int) -> types.SimpleNamespace:
    return types.SimpleNamespace(x=x, y=y, z=z)


def _places(shape: Shape) -> Iterator[Shape]:
    for z, y, x in itertools.product(range(shape[2]), range(shape[1]), range(shape[0])):
        yield x, y, z


class _Threads(ast.NodeTransformer):
    """Barriers become `yield`; each call that makes an array says which call it is."""

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        self.generic_visit(node)
        if ast.unparse(node.value) == "cuda.syncthreads()":
            return ast.copy_location(ast.Expr(ast.Yield()), node)
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        """A shuffle: every lane puts its value down, all meet, every lane takes another's."""
        self.generic_visit(node)
        call = node.value
        name = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
        if not name.startswith("cuda.shfl"):
            return node
        assert isinstance(call, ast.Call)
        put = ast.parse(f"cuda.put({ast.unparse(call.args[1])})\nyield").body
        take = ast.parse(f"cuda.take({name!r}, {ast.unparse(call.args[2])})", mode="eval").body
        return [
            *put,
            ast.copy_location(ast.Assign(node.targets, take), node),
            *ast.parse("yield").body,
        ]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if ast.unparse(node.func) in ("cuda.shared.array", "cuda.local.array"):
            node.args.insert(0, ast.Constant(f"{node.lineno}:{node.col_offset}"))
        return node


class _Atomic:
    """Threads run one at a time here, so every update is atomic."""

    def __getattr__(self, name: str) -> Any:
        def update(array: np.ndarray, index: Any, *given: Any) -> Any:
            old = array[index]
            new = {
                "add": lambda: old + given[0],
                "sub": lambda: old - given[0],
                "max": lambda: max(old, given[0]),
                "min": lambda: min(old, given[0]),
                "exch": lambda: given[0],
                "and_": lambda: old & given[0],
                "or_": lambda: old | given[0],
                "xor": lambda: old ^ given[0],
                "cas": lambda: given[-1] if old == given[0] else old,
            }[name]()
            array[index] = new
            return old

        return update


def _give_lanes(cuda: types.SimpleNamespace, thread: int, lanes: dict[int, Any]) -> None:
    def put(value: Any) -> None:
        lanes[thread] = value

    def take(name: str, operand: int) -> Any:
        lane = thread % 32
        wanted = {
            "cuda.shfl_sync": operand % 32,
            "cuda.shfl_up_sync": lane - operand,
            "cuda.shfl_down_sync": lane + operand,
            "cuda.shfl_xor_sync": lane ^ operand,
        }[name]
        return lanes[thread - lane + (wanted if 0 <= wanted < 32 else lane)]

    cuda.put, cuda.take, cuda.laneid = put, take, thread % 32


def _compile(text: str, name: str) -> Any:
    tree = _Threads().visit(ast.parse(text))
    for function in tree.body:
        if isinstance(function, ast.FunctionDef) and function.name == name:
            never = ast.parse("if False:\n    yield").body
            function.body = never + function.body
    return compile(ast.fix_missing_locations(tree), "oracle", "exec")


def run_serially(text: str, name: str, grid: Shape, block: Shape, *args: Any) -> None:
    """Runs the kernel `name` of a source text; arrays change in place."""
    code = _compile(text, name)
    sizes = [g * b for g, b in zip(grid, block, strict=True)]
    for block_index in _places(grid):
        shared: dict[str, np.ndarray] = {}
        threads: list[Iterator[Any]] = []
        lanes: dict[int, Any] = {}
        for thread_index in _places(block):
            here = [b * n + t for b, n, t in zip(block_index, block, thread_index, strict=True)]
            cuda = types.SimpleNamespace(
                threadIdx=_dim(*thread_index),
                blockIdx=_dim(*block_index),
                blockDim=_dim(*block),
                gridDim=_dim(*grid),
                grid=lambda n, here=here: here[0] if n == 1 else tuple(here[:n]),
                gridsize=lambda n: sizes[0] if n == 1 else tuple(sizes[:n]),
                jit=lambda f=None, device=False: f if f else (lambda g: g),
                atomic=_Atomic(),
                shared=types.SimpleNamespace(
                    array=lambda key, shape, dtype, shared=shared: shared.setdefault(
                        key, np.zeros(shape, dtype)
                    )
                ),
                local=types.SimpleNamespace(array=lambda key, shape, dtype: np.zeros(shape, dtype)),
            )
            _give_lanes(cuda, len(threads), lanes)
            scope: dict[str, Any] = {"cuda": cuda, "math": math, "np": np, "operator": operator}
            scope["float32"], scope["float64"], scope["int32"] = np.float32, np.float64, np.int32
            exec(code, scope)
            threads.append(scope[name](*args))
        while threads:
            threads = [t for t in threads if next(t, "done") != "done"]
