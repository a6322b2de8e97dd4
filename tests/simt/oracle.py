"""What a kernel computes: `simt.tiny`, with what it leaves out and random kernels use.

It shares nothing with the simulator but the kernel's text. Blocks run one after the other, so it is
right for kernels without races, and says so of others.
"""

from __future__ import annotations

import ast
import math
import operator
from typing import Any

import numpy as np

from simt import tiny
from simt.tiny import Shape

NAMES: dict[str, Any] = {
    "math": math,
    "np": np,
    "operator": operator,
    "float32": np.float32,
    "float64": np.float64,
    "int32": np.int32,
}


class Exchanging(tiny.Stopping):
    """Shuffles: every lane puts its value down, all meet, every lane takes another's, all meet."""

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        call = node.value
        name = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
        if not name.startswith("cuda.shfl"):
            return node
        assert isinstance(call, ast.Call)
        put = ast.parse(f"cuda.put({ast.unparse(call.args[1])})\nyield {node.lineno}").body
        take = ast.parse(f"cuda.take({name!r}, {ast.unparse(call.args[2])})", mode="eval").body
        return [
            *put,
            ast.copy_location(ast.Assign(node.targets, take), node),
            *ast.parse(f"yield {node.lineno}").body,
        ]


class Exchange(tiny.Gpu):
    """A GPU whose lanes exchange values."""

    def __init__(self, grid: Shape, block: Shape) -> None:
        super().__init__(grid, block)
        self.put_down: dict[int, Any] = {}

    @property
    def laneid(self) -> int:
        return self.thread.number % 32

    def put(self, value: Any) -> None:
        self.put_down[self.thread.number] = value

    def take(self, name: str, operand: int) -> Any:
        lane = self.laneid
        wanted = {
            "cuda.shfl_sync": operand % 32,
            "cuda.shfl_up_sync": lane - operand,
            "cuda.shfl_down_sync": lane + operand,
            "cuda.shfl_xor_sync": lane ^ operand,
        }[name]
        return self.put_down[self.thread.number - lane + (wanted if 0 <= wanted < 32 else lane)]


def run_serially(text: str, name: str, grid: Shape, block: Shape, *args: Any) -> None:
    """Runs the kernel `name` of a source text, which must be in order; arrays change in place."""
    code = tiny.compiled(text, name, stopping=Exchanging)
    found = tiny.launch(code, name, Exchange(grid, block), *args, names=NAMES)
    assert found == tiny.Found(), "\n".join(map(str, (*found.races, found.missed)))
