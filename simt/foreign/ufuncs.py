"""`@vectorize` and `@guvectorize` with target="cuda": a function of numbers or small arrays, made
into one of whole arrays.

A kernel that the simulator runs like any other gives each element, or each group of core
dimensions, a thread of its own. As in Numba, arrays must have exactly the types of a signature, and
numbers are converted to it.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simt.errors import UserError
from simt.foreign.device_array import DeviceArray, host
from simt.foreign.device_memory import poisoned
from simt.foreign.dispatcher import Dispatcher, jit
from simt.foreign.kernel_names import KernelName
from simt.kernel.types import ArrayType, Signature, Type, show, signatures
from simt.machine import unwritten

THREADS = 128

Decorator = Callable[[Callable[..., Any]], Any]


class _Builder:
    """What Numba's own `vectorize` and `guvectorize` ask of a target: signatures, then a ufunc."""

    def __init__(self, pyfunc: Callable[..., Any], **_: object) -> None:
        self.pyfunc = getattr(pyfunc, "py_func", pyfunc)
        self.declared: list[Signature] = []

    def add(self, sig: Any = None, **_: object) -> None:
        """Takes one more signature."""
        self.declared += signatures(sig)

    def disable_compile(self) -> None:
        """Takes no more signatures."""


class CUDAVectorize(_Builder):
    """Makes a function of numbers one of arrays."""

    def build_ufunc(self) -> UFunc:
        """Returns the function of arrays."""
        return UFunc(self.pyfunc, self.declared)


class CUDAGUFuncVectorize(_Builder):
    """Makes a function of small arrays one of arrays of them."""

    def __init__(self, pyfunc: Callable[..., Any], sig: str, **options: object) -> None:
        super().__init__(pyfunc, **options)
        self.layout = sig

    def build_ufunc(self) -> GUFunc:
        """Returns the function of arrays."""
        return GUFunc(self.pyfunc, self.declared, self.layout)


def vectorize(ftylist_or_function: Any = (), **_: object) -> Decorator:
    """Returns a decorator that makes a function of numbers one of arrays."""
    return lambda function: UFunc(_plain(function), signatures(_listed(ftylist_or_function)))


def guvectorize(ftylist: Any, signature: str, **_: object) -> Decorator:
    """Returns a decorator that makes a function of small arrays one of arrays of them."""
    return lambda function: GUFunc(_plain(function), signatures(_listed(ftylist)), signature)


def _plain(function: Any) -> Callable[..., Any]:
    return getattr(function, "py_func", function)  # type: ignore[no-any-return]


def _listed(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list | tuple) else [given]


class UFunc:
    """A function of numbers that takes arrays, element by element, and broadcasts them.

    Args:
        function: takes numbers and returns one.
        declared: its signatures.
    """

    max_blocksize = THREADS

    def __init__(self, function: Callable[..., Any], declared: Sequence[Signature]) -> None:
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.py_func = function
        self._kernels = [(s, _elementwise(function, s)) for s in declared]

    def __call__(self, *args: Any, out: Any = None, stream: object = 0) -> Any:
        """Returns the results, on the device if an argument is there, else on the host."""
        arrays = [np.asarray(host(a)) for a in args]
        loose = [_is_number(a) for a in args]
        signature, kernel = _chosen(self.__name__, self._kernels, arrays, loose)
        given = [
            a.astype(_element(t)) if free else a
            for a, t, free in zip(arrays, signature.parameters, loose, strict=True)
        ]
        shape = np.broadcast_shapes(*(a.shape for a in given))
        flat = [np.array(np.broadcast_to(a, shape)).reshape(-1) for a in given]
        results = poisoned(max(flat[0].size, 0), signature.result)
        if results.size:
            kernel[-(-results.size // THREADS), THREADS](*flat, results)
        return _handed_back(results.reshape(shape), out, args)

    def reduce(self, arg: Any, stream: object = 0) -> Any:
        """Returns the elements of an array of one dimension, put together two by two.

        Raises:
            TypeError: it has another number of dimensions, or the function another of arguments.
        """
        left = np.array(host(arg))
        if left.ndim != 1:
            raise TypeError("reduce takes an array of one dimension")
        if len(self._kernels[0][0].parameters) != 2:
            raise TypeError("reduce is for functions of two arguments")
        while left.size > 1:
            half = left.size // 2
            rest = left[2 * half :]
            left = np.concatenate((self(left[:half], left[half : 2 * half]), rest))
        return left[0]


class GUFunc:
    """A function of arrays of fixed dimensions that takes arrays of such arrays.

    Args:
        function: takes arrays, the last of them for its results, and returns nothing.
        declared: its signatures.
        layout: the core dimensions of each, such as "(m,n),(n)->(m)".
    """

    max_blocksize = THREADS

    def __init__(
        self, function: Callable[..., Any], declared: Sequence[Signature], layout: str
    ) -> None:
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.py_func = function
        self.inputs, self.outputs = _dimensions(layout)
        self._kernels = [(s, self._groupwise(function, s)) for s in declared]

    def __call__(self, *args: Any, out: Any = None, stream: object = 0) -> Any:
        """Returns the results, on the device if an argument is there, else on the host."""
        count = len(self.inputs)
        if not count <= len(args) <= count + len(self.outputs):
            raise TypeError(f"{self.__name__} takes {count} arguments, not {len(args)}")
        given, outs = args[:count], list(args[count:])
        if out is not None:
            outs = list(out) if isinstance(out, tuple) else [out]
        arrays = [np.asarray(host(a)) for a in given]
        signature, kernel = self._chosen(given, arrays)
        sizes: dict[str, int] = {}
        outer = []
        for place, (array, names) in enumerate(zip(arrays, self.inputs, strict=True)):
            if array.ndim < len(names):
                raise ValueError(
                    f"argument {place + 1} of {self.__name__} has {array.ndim} dimensions, and its "
                    f"layout asks for {len(names)}"
                )
            split = array.ndim - len(names)
            outer.append(array.shape[:split])
            for name, length in zip(names, array.shape[split:], strict=True):
                if sizes.setdefault(name, length) != length:
                    raise ValueError(
                        f"the dimension {name} of {self.__name__} has the lengths {sizes[name]} "
                        f"and {length}"
                    )
        loops = np.broadcast_shapes(*outer)
        groups = int(np.prod(loops, dtype=np.int64))
        flat = []
        for array, names, type_ in zip(arrays, self.inputs, signature.parameters, strict=False):
            core = tuple(sizes[name] for name in names)
            whole = np.broadcast_to(array.astype(_element(type_), copy=False), loops + core)
            flat.append(np.array(whole, order="C").reshape((groups, *core)))
        results = []
        for place, (names, type_) in enumerate(
            zip(self.outputs, signature.parameters[count:], strict=True)
        ):
            core = tuple(sizes[name] for name in names)
            wanted = outs[place] if place < len(outs) else None
            memory = poisoned((groups, *core), _element(type_))
            if wanted is not None:
                np.copyto(memory, np.asarray(host(wanted)).reshape(memory.shape))
            results.append((memory, loops + core, wanted))
        if groups:
            kernel[-(-groups // THREADS), THREADS](*flat, *(memory for memory, _, _ in results))
        told = [
            _handed_back(memory.reshape(shape), wanted, args) for memory, shape, wanted in results
        ]
        return told[0] if len(told) == 1 else tuple(told)

    def _chosen(
        self, given: Sequence[Any], arrays: Sequence[np.ndarray]
    ) -> tuple[Signature, Dispatcher]:
        """The signature of exactly these types; else the first whose types go into them.

        Raises:
            TypeError: there is none, or an array on the device would have to be converted.
        """
        dtypes = [a.dtype for a in arrays]
        wanted = [[_element(t) for t in s.parameters[: len(arrays)]] for s, _ in self._kernels]
        fitting = [k for k, types in enumerate(wanted) if types == dtypes] or [
            k
            for k, types in enumerate(wanted)
            if all(
                np.can_cast(type_, dtype) or _is_number(value)
                for type_, dtype, value in zip(types, dtypes, given, strict=True)
            )
        ]
        fixed = [isinstance(value, DeviceArray) for value in given]
        for k in fitting:
            pairs = zip(wanted[k], dtypes, fixed, strict=True)
            if all(type_ == dtype or not held for type_, dtype, held in pairs):
                return self._kernels[k]
        declared = "; ".join(f"({', '.join(map(show, s.parameters))})" for s, _ in self._kernels)
        raise TypeError(
            f"{self.__name__}: no signature takes ({', '.join(map(str, dtypes))}), and it declares "
            f"{declared}"
        )

    def _groupwise(self, function: Callable[..., Any], signature: Signature) -> Dispatcher:
        """A kernel with a thread for each group of core dimensions."""
        layout = (*self.inputs, *self.outputs)
        if len(signature.parameters) != len(layout):
            raise UserError(
                f"{self.__name__} has {len(layout)} arrays in its layout, and its signature "
                f"{len(signature.parameters)}",
                "give the signature one type for each",
            )
        names = [f"array_{k}" for k in range(len(layout))]
        handed = []
        for name, type_, core in zip(names, signature.parameters, layout, strict=True):
            # A result without dimensions is stored through an array of one cell.
            single = isinstance(type_, ArrayType) and not core
            handed.append(f"{name}[group : group + 1]" if single else f"{name}[group]")
        body = f"core({', '.join(handed)})"
        return _kernel(function, signature, names, f"group < {names[-1]}.shape[0]", "group", body)


def _elementwise(function: Callable[..., Any], signature: Signature) -> Dispatcher:
    """A kernel with a thread for each element."""
    if not isinstance(signature.result, np.dtype):
        raise UserError(
            f"the signature {signature} of {function.__name__} declares no result",
            'write it like "float32(float32, float32)"',
        )
    names = [f"array_{k}" for k in range(len(signature.parameters))]
    body = f"results[i] = core({', '.join(f'{name}[i]' for name in names)})"
    return _kernel(function, signature, [*names, "results"], "i < results.size", "i", body)


def _kernel(
    function: Callable[..., Any],
    signature: Signature,
    names: Sequence[str],
    test: str,
    index: str,
    body: str,
) -> Dispatcher:
    """A kernel of this text, in which `core` is the function."""
    name = f"each_{function.__name__}"
    lines = [
        f"def {name}({', '.join(names)}):",
        f"    {index} = cuda.grid(1)",
        f"    if {test}:",
        f"        {body}",
    ]
    code = function.__code__
    file = f"{code.co_filename} (kernel of {function.__name__}, line {code.co_firstlineno})"
    linecache.cache[file] = (0, None, [line + "\n" for line in lines], file)
    core = Dispatcher(function, device=True, declared=(signature,))
    space: dict[str, Any] = {"cuda": KernelName("cuda"), "core": core}
    exec(compile("\n".join(lines), file, "exec"), space)
    return jit(space[name])  # type: ignore[no-any-return]


def _chosen(
    name: str,
    kernels: Sequence[tuple[Signature, Dispatcher]],
    arrays: Sequence[np.ndarray],
    loose: Sequence[bool],
) -> tuple[Signature, Dispatcher]:
    """The signature that arrays have exactly; numbers decide where that leaves several.

    Raises:
        TypeError: none, or several.
    """

    def fits(signature: Signature, *, strict: bool) -> bool:
        pairs = zip(arrays, loose, signature.parameters, strict=False)
        return all((free and not strict) or a.dtype == _element(t) for a, free, t in pairs)

    found = [each for each in kernels if fits(each[0], strict=True)]
    found = found or [each for each in kernels if fits(each[0], strict=False)]
    if len(found) == 1 or (found and not any(loose)):
        return found[0]
    given = ", ".join(
        "a number" if free else str(a.dtype) for a, free in zip(arrays, loose, strict=True)
    )
    declared = "; ".join(f"({', '.join(map(show, s.parameters))})" for s, _ in kernels)
    fact = "several signatures take" if found else "no signature takes"
    raise TypeError(f"{name}: {fact} ({given}), and it declares {declared}")


def _element(type_: Type) -> np.dtype[Any]:
    found = type_.dtype if isinstance(type_, ArrayType) else type_
    assert isinstance(found, np.dtype)
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | complex | np.number)


def _handed_back(results: np.ndarray, out: Any, args: Sequence[Any]) -> Any:
    """Results where they are wanted: in `out`, on the device, or on the host."""
    if out is not None:
        np.copyto(host(out), results.reshape(np.shape(host(out))))
        unwritten.wrote(host(out))
        return out
    if any(isinstance(a, DeviceArray) for a in args):
        return DeviceArray(results)
    return results if results.ndim else results[()]


def _dimensions(layout: str) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """The core dimensions of inputs and results: "(m,n),()->(m)".

    Raises:
        ValueError: it is written in another way.
    """
    text = re.sub(r"\s", "", layout)
    group = r"\(([A-Za-z_]\w*(,[A-Za-z_]\w*)*,?)?\)"
    if not re.fullmatch(rf"{group}(,{group})*,?->{group}(,{group})*,?", text):
        raise ValueError(f'"{layout}" is no layout: write it like "(m,n),(n)->(m)"')
    before, after = (
        [tuple(filter(None, part.split(","))) for part in re.findall(r"\(([^)]*)\)", side)]
        for side in text.split("->")
    )
    unknown = {name for core in after for name in core} - {n for core in before for n in core}
    if unknown:
        raise NameError(f"undefined dimensions of results: {', '.join(sorted(unknown))}")
    return before, after
