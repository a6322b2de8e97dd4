"""The names of `numba.cuda` that mean something inside a kernel only, as a script's own code sees
them, and the error for the names that mean nothing here.
"""

from __future__ import annotations

from typing import Any, NoReturn

from simt.errors import UserError
from simt.kernel import intrinsics
from simt.kernel.constants import Symbol

COMPILES_NOTHING = "it runs kernels as they are written and compiles nothing"
INSTALL = "pip install numba"


class Unsupported(UserError, AttributeError):
    """A name of `numba.cuda` that the simulator does not know.

    It is an AttributeError too, so that `hasattr` and `from numba.cuda import name` answer as
    Python has them answer.
    """


def unsupported(name: str, reason: str = "", hint: str = "") -> Unsupported:
    """Returns the error for a name the simulator does not know.

    Args:
        name: the name as a script writes it, such as "cuda.compile_ptx".
        reason: why it is not there, as a clause.
        hint: what to write instead.

    >>> print(unsupported("cuda.compile_ptx", "it compiles nothing"))
    the simulator does not know cuda.compile_ptx: it compiles nothing
    """
    fact = f"the simulator does not know {name}"
    return Unsupported(f"{fact}: {reason}" if reason else fact, hint)


def needs_numba(name: str) -> Unsupported:
    """Returns the error for what only Numba itself gives, where it is not installed.

    >>> print(needs_numba("numba.typed"))
    numba.typed needs Numba itself, which is not installed here
      try:    pip install numba
    """
    return Unsupported(f"{name} needs Numba itself, which is not installed here", INSTALL)


class KernelName(Symbol):
    """A name such as `cuda.threadIdx`, which the host can hand on and never use.

    A kernel that names it gets the Symbol it is.
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        path = f"{self.path}.{name}"
        if not is_kernel_name(path):
            raise unsupported(path, hint=intrinsics.nearest(path))
        return KernelName(path)

    def __call__(self, *_: object, **__: object) -> NoReturn:
        raise self._misused()

    def __index__(self) -> NoReturn:
        raise self._misused()

    def __getitem__(self, _: object) -> NoReturn:
        raise self._misused()

    def _misused(self) -> UserError:
        return UserError(
            f"{self.path} exists inside a kernel only, and the host has used it",
            "move it into a function with @cuda.jit",
        )


def is_kernel_name(path: str) -> bool:
    """True for a name the simulator knows, and for one that other names continue.

    >>> is_kernel_name("cuda.threadIdx"), is_kernel_name("cuda.grid"), is_kernel_name("cuda.gri")
    (True, True, False)
    """
    return any(name == path or name.startswith(f"{path}.") for name in intrinsics.NAMES)
