"""A live function, or a Numba dispatcher, as a Kernel: its source is read, and it is not called.

A function is read once. As long as every global and closure value that its Kernel has looked up is
what it was, the same Kernel stands for it, with all that has been found out about it since.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import textwrap
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.simt.constants import MAX_CELLS, NamedTuple, Symbol, cells
from gpu_course.simt.kernels import MODULES, Kernel, Unknown, parse, show_path
from gpu_course.simt.signatures import Signature, signatures

MOST_KEPT = 256
MOST_KEPT_PER_CODE = 8
MOST_CONSTANT_BYTES = 1 << 16
"""Of an array of the host that a kernel reads; with a larger one it is read anew each time."""


def from_function(function: Any) -> Kernel:
    """Returns a live function or a Numba dispatcher as a Kernel; it is not called.

    Raises:
        CourseError: its source cannot be found, or it is no plain function.
    """
    plain = getattr(function, "py_func", function)
    if not inspect.isfunction(plain):
        raise CourseError(
            f"{function!r} is not a kernel",
            "pass a function, or the result of cuda.jit",
        )
    code, shape = plain.__code__, (plain is not function, _declared(function), _is_device(function))
    with _one_at_a_time:
        kept = _kept(code)
        for scope, known in kept:
            same = (known.decorated, known.declared, known.device) == shape
            if same and scope.holds_for(plain):
                return known
        read, scope = _read(_Identity(code)), LiveScope(plain)
        kernel = Kernel(read.tree.name, read.tree, read.file, read.lines, scope, *shape)
        kept.insert(0, (scope, kernel))
        del kept[MOST_KEPT_PER_CODE:]
        return kernel


@dataclass(frozen=True)
class _Read:
    """The text of a function, read."""

    tree: ast.FunctionDef
    file: str
    lines: dict[int, str]


_Kept = list[tuple["LiveScope", Kernel]]
_kernels: OrderedDict[int, tuple[CodeType, _Kept]] = OrderedDict()
_one_at_a_time = threading.RLock()


def _kept(code: CodeType) -> _Kept:
    """The kernels made of a function's code so far, the newest first."""
    found = _kernels.setdefault(id(code), (code, []))[1]
    _kernels.move_to_end(id(code))
    if len(_kernels) > MOST_KEPT:
        _kernels.popitem(last=False)
    return found


class _Identity:
    """Code as a key, by identity: equal code may stand in two files."""

    def __init__(self, code: CodeType) -> None:
        self.code = code

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.code is self.code

    def __hash__(self) -> int:
        return id(self.code)


@functools.lru_cache(maxsize=MOST_KEPT)
def _read(key: _Identity) -> _Read:
    code = key.code
    try:
        text_lines, first = inspect.getsourcelines(code)
    except (OSError, TypeError):
        raise CourseError(
            f"the source of {code.co_name} cannot be found",
            "define the kernel in a file or in a notebook cell",
        ) from None
    filename = code.co_filename
    shown = show_path(filename)
    tree = parse(textwrap.dedent("".join(text_lines)), shown)
    ast.increment_lineno(tree, max(first, 1) - 1)
    node = tree.body[0]
    if not isinstance(node, ast.FunctionDef):
        raise CourseError(f"{code.co_name} is not defined by def", "write the kernel with def")
    whole = linecache.getlines(filename)
    lines = {first + k: line.rstrip("\n") for k, line in enumerate(text_lines)}
    lines |= {k: line.rstrip("\n") for k, line in enumerate(whole, start=1)}
    return _Read(node, shown, lines)


def _is_device(function: Any) -> bool:
    """True for a dispatcher made with device=True: the simulator's says so, Numba's in a table."""
    options = getattr(function, "targetoptions", {})
    return bool(getattr(function, "device", False) or options.get("device"))


def _declared(function: Any) -> tuple[Signature, ...]:
    """The signatures of a dispatcher: the simulator's keeps them, Numba's has compiled them."""
    declared = getattr(function, "declared", ())
    if not declared and getattr(function, "_can_compile", True) is False:
        declared = signatures([kept.signature for kept in function.overloads.values()])
    return tuple(declared)


class LiveScope:
    """Looks up the free names of a live function, each once, and knows what it found.

    Args:
        function: a plain function.
    """

    def __init__(self, function: FunctionType) -> None:
        self._find = _finder(function)
        self._seen: dict[str, tuple[Any, Any]] = {}
        self._absent: set[str] = set()
        self._asking = False

    def __call__(self, name: str) -> Any:
        """Returns what a name stands for, as it was when it was first asked for.

        Raises:
            KeyError: there is no such name.
        """
        if name not in self._seen:
            try:
                value = self._find(name)
            except KeyError:
                self._absent.add(name)
                raise
            found = _from_live(name, value)
            # What a kernel cannot use may be of any size: it is only told from another.
            before = value if isinstance(found, Unknown) else _frozen(value)
            self._seen[name] = before, found
        return self._seen[name][1]

    def holds_for(self, function: FunctionType) -> bool:
        """Returns whether every name looked up so far stands for the same in a function."""
        if self._asking:
            # A function that calls itself: whether it is still the same is being found out.
            return True
        self._asking = True
        try:
            return self._holds(_finder(function))
        finally:
            self._asking = False

    def _holds(self, find: Callable[[str], Any]) -> bool:
        for name in self._absent:
            try:
                find(name)
            except KeyError:
                continue
            return False
        for name, (before, found) in self._seen.items():
            try:
                value = find(name)
            except KeyError:
                return False
            if isinstance(found, Unknown):
                if value is not before:
                    return False
            elif not _is_still(value, before) or not _reads_the_same(value, found):
                return False
        return True


def _finder(function: FunctionType) -> Callable[[str], Any]:
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))

    def find(name: str) -> Any:
        if name not in cells:
            return function.__globals__[name]
        try:
            return cells[name].cell_contents
        except ValueError:
            # The function around it has not assigned it yet.
            raise KeyError(name) from None

    return find


class _Changeable:
    """An array as it was: it may be written to while it stays the same object."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.was = array.copy() if array.nbytes <= MOST_CONSTANT_BYTES else None

    def is_still(self, value: Any) -> bool:
        return (
            value is self.array
            and self.was is not None
            and value.dtype == self.was.dtype
            and value.shape == self.was.shape
            and value.tobytes() == self.was.tobytes()
        )


def _frozen(value: Any) -> Any:
    """What is kept of a value, to see later whether it is the same."""
    if isinstance(value, np.ndarray):
        return _Changeable(value)
    if isinstance(value, tuple):
        return tuple(map(_frozen, value))
    return value


def _is_still(value: Any, before: Any) -> bool:
    if isinstance(before, _Changeable):
        return before.is_still(value)
    if isinstance(before, tuple):
        return (
            isinstance(value, tuple)
            and len(value) == len(before)
            and all(map(_is_still, value, before))
        )
    if isinstance(before, np.generic):
        # A structure is a view, and may have changed in place.
        same = type(value) is type(before) and not isinstance(before, np.void)
        return same and value.dtype == before.dtype and value.tobytes() == before.tobytes()
    if isinstance(before, float | complex) and type(value) is type(before):
        # By their text: -0.0 equals 0.0 and is another constant, and nan equals nothing.
        return repr(value) == repr(before)
    if isinstance(before, int) and type(value) is type(before):
        return bool(value == before)
    return value is before


def _reads_the_same(value: Any, found: Any) -> bool:
    """True when a function that was found is still the one that its name stands for."""
    if isinstance(found, tuple):
        return all(map(_reads_the_same, value, found))
    return not isinstance(found, Kernel) or from_function(value) is found


def _from_live(name: str, value: Any) -> Any:
    if isinstance(value, bool | int | float | complex | np.generic | np.ndarray | Symbol):
        return value
    if value is None:
        return None
    if isinstance(value, str):
        return Unknown("a string of the host", value)
    if isinstance(value, np.dtype):
        return value if value.fields else Symbol(f"numpy.{value.name}")
    if isinstance(value, tuple):
        if cells(value, MAX_CELLS) > MAX_CELLS:
            return Unknown(f"a tuple of more than {MAX_CELLS:,} values")
        parts = [_from_live(name, v) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, ModuleType):
        return (
            Symbol(MODULES[value.__name__])
            if value.__name__ in MODULES
            else Unknown(f"the module {value.__name__}")
        )
    if hasattr(value, "py_func") or inspect.isfunction(value):
        if getattr(value, "__module__", "") == "gpu_course.foreign.cuda":
            return Symbol(f"cuda.{value.__name__}")
        return from_function(value)
    origin = getattr(value, "__module__", None) or type(value).__module__
    attribute = getattr(value, "__name__", None) or str(value)
    if isinstance(value, type) and issubclass(value, np.generic):
        return Symbol(f"numpy.{attribute}")
    if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
        return NamedTuple(attribute, value._fields)
    if origin.startswith("numba") and hasattr(value, "fields") and hasattr(value, "dtype"):
        return value.dtype  # a record type, made by from_dtype
    if origin == "math":
        return Symbol(f"math.{attribute}")
    if origin in ("operator", "_operator"):
        return Symbol(f"operator.{attribute}")
    if origin.startswith("numba"):
        home = "cuda" if ".cuda" in origin else "numba"
        return Symbol(f"{home}.{attribute}")
    return Unknown(f"a {type(value).__name__} of the host")
