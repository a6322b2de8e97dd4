"""A kernel as the interpreter runs it: a tree of small nodes in which everything is settled.

`lower.lower` makes it, once for a kernel and the types of its arguments. Each name is resolved,
each expression has its type, the branches that Numba leaves out are gone. What Python says in two
ways is said in one: a `for` is a loop with a test, `a[i] += x` a load and a store, `x, y = y, x`
two assignments.

Every node knows its line. A statement knows what it costs of the step budget; one that costs
nothing belongs to the statement before it: a line of the source can become several.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simt.kernel.source import Kernel
from simt.kernel.types import ArrayType, Type


@dataclass(frozen=True, eq=False, slots=True)
class Site:
    """A place of the source that touches memory, and what messages say of it.

    Attributes:
        number: counts the sites of a kernel and the functions it calls.
        line, column: where it stands.
        written: the expression: a subscript, a call, or what a loop goes over.
        index: the part of it that says which cell.
        names: per axis, the variables in the index: (name, version).
    """

    number: int
    line: int
    column: int
    written: ast.expr
    index: ast.expr
    names: tuple[tuple[tuple[str, str], ...], ...]

    def names_along(self, axis: int) -> tuple[tuple[str, str], ...]:
        """Returns the variables in the index along one axis."""
        return self.names[axis if len(self.names) > 1 else 0]

    def expression(self, axis: int) -> str:
        """Returns the index along one axis as it is written."""
        index = self.index if isinstance(self.written, ast.Subscript) else None
        if isinstance(index, ast.Tuple):
            index = index.elts[axis]
        elif axis or index is None:
            return "the index"
        return ast.unparse(index)


@dataclass(frozen=True)
class Function:
    """A function a kernel can call, or a value that every thread can read.

    Attributes:
        type: (argument types, argument nodes) -> result type; raises NoSuchType.
        run: (machine, call, arguments, result type) -> value.
    """

    type: Callable[[Sequence[Type], Sequence[ast.expr]], Type]
    run: Callable[[Any, Call, Sequence[Any], Type], Any]


@dataclass(frozen=True)
class Request:
    """What one call in a kernel asks for.

    Attributes:
        space: "shared" or "local".
        shape: its shape; (0,) asks for the launch's dynamic shared memory.
        dtype: its element type.
        offset: its first byte within the block's shared memory, or the thread's local memory.
    """

    space: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int = 0

    @property
    def dynamic(self) -> bool:
        """True for the launch's dynamic shared memory."""
        return self.space == "shared" and self.shape == (0,)

    @property
    def size(self) -> int:
        """Its bytes."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def type(self) -> ArrayType:
        """The type of the variable that holds it."""
        return ArrayType(self.dtype, len(self.shape), self.space)


@dataclass(frozen=True, eq=False, slots=True)
class Expression:
    """Has a value: a NumPy scalar where all lanes agree, else one per lane, or a tuple of them.

    Attributes:
        line: its line.
        type: the type of its value.
    """

    line: int
    type: Type


@dataclass(frozen=True, eq=False, slots=True)
class Constant(Expression):
    """A number, an array beside the kernel, a function, a string, None, or a tuple of them."""

    value: Any


@dataclass(frozen=True, eq=False, slots=True)
class Read(Expression):
    """A variable.

    Attributes:
        variable: its version: one name may stand for several variables.
        name: the name, for messages.
    """

    variable: str
    name: str


@dataclass(frozen=True, eq=False, slots=True)
class Temporary(Expression):
    """What an earlier part of the statement has put aside, by its number."""

    number: int


@dataclass(frozen=True, eq=False, slots=True)
class Tuple(Expression):
    """(a, b)"""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Element(Expression):
    """t[0], t[1:] or t[k] of a tuple.

    Attributes:
        owner: the tuple.
        index: a place or a slice that is known, or an expression.
        written: the whole, for messages.
    """

    owner: Expression
    index: int | slice | Expression
    written: ast.expr


@dataclass(frozen=True, eq=False, slots=True)
class Load(Expression):
    """a[i, j], or a field of it where `field` is not empty; the index may be a tuple."""

    array: Expression
    index: Expression
    field: str
    site: Site


@dataclass(frozen=True, slots=True)
class Span:
    """low:high:step, each None where it is left out."""

    low: Expression | None = None
    high: Expression | None = None
    step: Expression | None = None
    line: int = 0


@dataclass(frozen=True, eq=False, slots=True)
class View(Expression):
    """a[i], a[2:], a[:, j]: an array that is part of another; one part per axis of that."""

    array: Expression
    parts: tuple[Expression | Span, ...]
    site: Site


@dataclass(frozen=True, eq=False, slots=True)
class Unary(Expression):
    """-a, ~a, not a; the operator is the name of its class in `ast`."""

    operator: str
    operand: Expression


@dataclass(frozen=True, eq=False, slots=True)
class Binary(Expression):
    """a + b, worked out in the node's own type.

    Attributes:
        operator: the name of its class in `ast`.
        left, right: the operands.
        counted: "float32" or "float64" where it counts as a floating-point operation, else "".
        narrowed: it goes straight to a float32 store, and so may be done in float32.
        fused: a sum of which one part is a product: the compiler makes it one instruction.
    """

    operator: str
    left: Expression
    right: Expression
    counted: str = ""
    narrowed: bool = False
    fused: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Compare(Expression):
    """a < b < c.

    Attributes:
        operators: the names of their classes in `ast`, one between each two operands.
        operands: the operands.
        wide: True for a comparison in float64. One with a number that is written down is none: the
            compiler makes it one of the other operand's own width.
    """

    operators: tuple[str, ...]
    operands: tuple[Expression, ...]
    wide: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Logical(Expression):
    """a and b, a or b: a part is worked out where those before it leave the matter open.

    Attributes:
        conjunction: True for `and`.
        parts: the parts.
        branches: per part, True where reaching it is a branch, since it touches memory.
    """

    conjunction: bool
    parts: tuple[Expression, ...]
    branches: tuple[bool, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Select(Expression):
    """a if test else b; `branches` is True where it is a branch, since it touches memory."""

    test: Expression
    yes: Expression
    no: Expression
    branches: bool
    written: ast.expr


@dataclass(frozen=True, eq=False, slots=True)
class Call(Expression):
    """A word of the vocabulary: cuda.grid(1), math.sqrt(x), cuda.threadIdx.x, a.shape.

    Attributes:
        path: its dotted name.
        function: how it is computed.
        arguments: its arguments.
        written: the call, for messages.
        used: whether anybody asks for its value.
        site: of an atomic, the memory it updates.
    """

    path: str
    function: Function
    arguments: tuple[Expression, ...]
    written: ast.expr
    used: bool = True
    site: Site | None = None

    @property
    def column(self) -> int:
        """The column where it begins."""
        return self.written.col_offset

    @property
    def text(self) -> str:
        """What is called, as it is written."""
        return ast.unparse(
            self.written.func if isinstance(self.written, ast.Call) else self.written
        )


@dataclass(frozen=True, eq=False, slots=True)
class DeviceCall(Expression):
    """A call of a device function, which gets a frame of its own."""

    code: Code
    arguments: tuple[Expression, ...]
    written: ast.expr


@dataclass(frozen=True, eq=False, slots=True)
class NewArray(Expression):
    """cuda.shared.array(shape, dtype) or cuda.local.array(shape, dtype).

    Attributes:
        number: its place in `Code.arrays` of the kernel.
        name: what messages call the array.
    """

    number: int
    name: str


@dataclass(frozen=True, eq=False, slots=True)
class Statement:
    """Does something.

    Attributes:
        line: its line.
        steps: what it costs; 0 for a part of the statement before it.
    """

    line: int
    steps: int


@dataclass(frozen=True, eq=False, slots=True)
class Assign(Statement):
    """x = value, in the lanes that are here.

    Attributes:
        target: a variable's version; a temporary, which all lanes set alike; None for a value that
            nobody keeps.
        value: the value.
        type: the variable's type, to which the value is cast.
        everywhere: a variable that all lanes set alike: the name of an array.
    """

    target: str | int | None
    value: Expression
    type: Type = None
    everywhere: bool = False

    @property
    def empty(self) -> bool:
        """True for `pass`, a docstring, or a number on a line of its own."""
        return self.target is None and isinstance(self.value, Constant)


@dataclass(frozen=True, eq=False, slots=True)
class Store(Statement):
    """a[i, j] = value, or a field of it where `field` is not empty."""

    array: Expression
    index: Expression
    field: str
    value: Expression
    site: Site


@dataclass(frozen=True, eq=False, slots=True)
class If(Statement):
    """if test: ... else: ...

    Attributes:
        test: the condition.
        body, orelse: its arms.
        branches: False where the compiler makes selects of it: it only changes a few variables.
    """

    test: Expression
    body: Block
    orelse: Block
    branches: bool = True


@dataclass(frozen=True, eq=False, slots=True)
class Loop(Statement):
    """while test: ... else: ..., and every `for`.

    Attributes:
        before: what is done once, before the first turn.
        test: asked at the start of each turn.
        most: of a loop over an array or a tuple: no lane makes more turns; after so many of them
            the loop ends untested.
        body: what is repeated.
        after: what is done at the end of each turn, for lanes that came to a `continue` as well.
        orelse: for the lanes that left it by its test.
        waits: what its end depends on: legality.ATOMIC, MEMORY or NOTHING.
        hopeless: nothing in its body can make the test come out differently.
        column: where it begins.
        written: the test of a `while` as it is written, else None.
        names: the variables in that test: (name, version).
    """

    before: Block
    test: Expression
    most: Expression | None
    body: Block
    after: Block
    orelse: Block
    waits: str
    hopeless: bool
    column: int
    written: ast.expr | None
    names: tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False, slots=True)
class Leave(Statement):
    """break, continue or return; or "end", which ends the thread where an assertion fails."""

    how: str
    value: Expression | None = None


Block = tuple[Statement, ...]


@dataclass(frozen=True, eq=False)
class Code:
    """A kernel or device function, lowered for the types of its arguments.

    Attributes:
        kernel: the function as it is written, less the branches that its compiler leaves out.
        parameters: name -> (the type its argument is converted to, the type of the variable).
        body: its statements.
        result: the type that a device function returns; None for a kernel.
        temporaries: how many it needs.
        types: the type of each variable.
        arrays: of a kernel, the shared and local arrays that it and the functions it calls make.
        static_shared_bytes: of a kernel, what a block needs before any dynamic shared memory.
        stored: of a kernel, the parameters it may write through.
        names: of a kernel, the words of the vocabulary in it and in the functions it calls.
        captured: of a kernel, arrays on the device that it finds beside itself.
        partial_warps: of a kernel, whether a warp barrier may be one of some lanes only.
        mixed_widths: of a kernel, whether the width of an operation may hang on the value that all
            lanes have in common.
    """

    kernel: Kernel
    parameters: Mapping[str, tuple[Type, Type]]
    body: Block = field(repr=False)
    result: Type = None
    temporaries: int = 0
    types: Mapping[str, Type] = field(default_factory=dict, repr=False)
    arrays: tuple[Request, ...] = ()
    static_shared_bytes: int = 0
    stored: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    partial_warps: bool = False
    mixed_widths: bool = False
    captured: tuple[Any, ...] = ()
