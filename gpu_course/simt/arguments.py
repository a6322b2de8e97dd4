"""The arguments of a launch: what a kernel takes, and the types Numba sees in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.simt import inference, types
from gpu_course.simt.memory import Array
from gpu_course.simt.program import Program
from gpu_course.simt.signatures import best, show
from gpu_course.simt.vocabulary.functions import cast


def bind_arguments(program: Program, arguments: Sequence[Any]) -> dict[str, Any]:
    """Returns parameter name -> NumPy array or NumPy scalar of Numba's type.

    Raises:
        CourseError: the wrong number of arguments, or one that Numba cannot pass to a kernel.
    """
    names = program.kernel.parameters
    if len(arguments) != len(names):
        raise CourseError(
            f"{program.kernel.name} takes {len(names)} arguments ({', '.join(names)}) "
            f"and was launched with {len(arguments)}",
            "pass one value per parameter",
        )
    given = {name: _argument(name, value) for name, value in zip(names, arguments, strict=True)}
    return _declared(program, given) if program.kernel.declared else given


def _declared(program: Program, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments as the best fitting signature of the kernel has them."""
    kernel, found = program.kernel, [type_of(value) for value in given.values()]
    signature = best(kernel.declared, found)
    if signature is None:
        raise kernel.refuse(
            kernel.tree,
            f"no signature of {kernel.name} takes ({', '.join(map(show, found))})",
            f"it declares {'; '.join(map(str, kernel.declared))}",
        )
    wanted = zip(given.items(), signature.converted(found), strict=True)
    return {
        name: value if isinstance(value, np.ndarray) else cast(value, type_)
        for (name, value), type_ in wanted
    }


def _argument(name: str, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype.names:
            _check_structure(name, value.dtype)
        elif value.dtype.kind not in "biufc" or value.dtype.str[1:] in ("f16", "c32"):
            raise CourseError(
                f"the simulator does not know arrays of {value.dtype} (argument {name})",
                "use bool, integers, floats of 2, 4 or 8 bytes, or complex numbers",
            )
        if not 1 <= value.ndim <= 4:
            raise CourseError(
                f"the argument {name} has {value.ndim} dimensions; a kernel takes 1 to 4",
                "reshape it first",
            )
        return value
    if isinstance(value, bool | int | float | complex | np.generic):
        type_ = inference.of_value(value)
        if isinstance(type_, np.dtype) and type_.kind in "biufc":
            return type_.type(value)
    if isinstance(value, tuple):
        parts = tuple(_argument(f"{name}[{k}]", part) for k, part in enumerate(value))
        return type(value)(*parts) if hasattr(value, "_fields") else parts
    raise CourseError(
        f"a kernel cannot take a {type(value).__name__} (argument {name})",
        "pass NumPy arrays, numbers, and tuples of them",
    )


def arrays_in(name: str, value: Any) -> dict[str, np.ndarray]:
    """Returns the arrays of an argument by the names that messages have for them.

    >>> list(arrays_in("pair", (np.zeros(2), 3, np.zeros(1))))
    ['pair[0]', 'pair[2]']
    """
    if isinstance(value, np.ndarray):
        return {name: value}
    if not isinstance(value, tuple):
        return {}
    parts = [arrays_in(f"{name}[{k}]", part) for k, part in enumerate(value)]
    return {key: array for part in parts for key, array in part.items()}


def bound(name: str, value: Any, arrays: dict[str, Array]) -> Any:
    """Returns an argument with the kernel's arrays in the place of NumPy's."""
    if isinstance(value, tuple):
        return tuple(bound(f"{name}[{k}]", part, arrays) for k, part in enumerate(value))
    return arrays.get(name, value)


def _check_structure(name: str, dtype: np.dtype[Any]) -> None:
    for field, (type_, *_) in (dtype.fields or {}).items():
        if type_.kind not in "biufc" or type_.shape:
            raise CourseError(
                f"the simulator does not know the field {field} of {name}, a {type_}",
                "use structures whose fields are numbers",
            )


def type_of(value: Any) -> types.Type:
    """Returns the type Numba infers for an argument that `bind_arguments` gave."""
    if isinstance(value, np.ndarray):
        return types.ArrayType(value.dtype, value.ndim)
    if isinstance(value, tuple):
        return types.TupleType(tuple(map(type_of, value)), getattr(value, "_fields", ()))
    return value.dtype  # type: ignore[no-any-return]
