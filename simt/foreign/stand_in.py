"""Puts `simt.foreign.cuda` in the place of `numba.cuda` for the running process.

Where Numba is not installed, `simt.foreign.without_numba` is put in the place of `numba` as well.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from simt.foreign import cuda as module
from simt.foreign import device_array, device_errors, extending, sources, testing, ufuncs, xoroshiro
from simt.foreign.kernel_names import needs_numba

SUCCESSOR = "numba_cuda_mlir"
_PACKAGES = ("numba.cuda", f"{SUCCESSOR}.cuda")
_INSIDE = {
    "": module,
    ".random": xoroshiro,
    ".testing": testing,
    ".vectorizers": ufuncs,
    ".extending": extending,
    ".cudaimpl": extending,
    ".cudadecl": extending,
    ".models": extending,
    ".compiler": module,
    ".cudadrv": None,
    ".cudadrv.devicearray": device_array,
    ".cudadrv.error": device_errors,
    ".cudadrv.driver": device_errors,
    ".core": None,
    ".np": None,
    ".misc": None,
    ".tests": None,
}
# What lies inside numba.cuda since it left Numba, and is Numba's own here.
_NUMBA_S_OWN = {
    ".types": "numba.core.types",
    ".errors": "numba.core.errors",
    ".core.config": "numba.core.config",
    ".core.errors": "numba.core.errors",
    ".np.numpy_support": "numba.np.numpy_support",
    ".misc.special": "numba.misc.special",
    ".typing": "numba.core.typing",
    ".typing.typeof": "numba.core.typing.typeof",
    ".typeconv": "numba.core.typeconv",
    ".utils": "numba.core.utils",
    ".cgutils": "numba.core.cgutils",
    ".typing.templates": "numba.core.typing.templates",
    ".tests.support": "numba.tests.support",
}

_HOME = "simt.foreign.without_numba"
# What a script finds below the name `numba` where nothing else does; "" holds only what lies in it.
_WITHOUT_NUMBA = {
    "numba": _HOME,
    "numba.types": f"{_HOME}.types",
    "numba.errors": f"{_HOME}.errors",
    "numba.config": f"{_HOME}.config",
    "numba.core": "",
    "numba.core.types": f"{_HOME}.types",
    "numba.core.errors": f"{_HOME}.errors",
    "numba.core.config": f"{_HOME}.config",
    "numba.np": "",
    "numba.np.numpy_support": f"{_HOME}.numpy_support",
}


class StandIn(MetaPathFinder, Loader):
    """Finds `numba.cuda`, the same of Numba's successor, and what is inside them.

    Numba itself stays what it is, with its types, where it is installed; its successor is stood in
    for as a whole, and so is Numba where it is not there.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns a spec for the modules this stands in for, and None for all others.

        Raises:
            ModuleNotFoundError: a part of `numba.cuda` that the simulator does not have, or of
                Numba where it is not installed.
        """
        if name == SUCCESSOR or (name == "numba" and not self._others_find(name)):
            return ModuleSpec(name, self, is_package=True)
        for package in _PACKAGES:
            if name == package or name.startswith(f"{package}."):
                inside = name.removeprefix(package)
                if inside not in _INSIDE and inside not in _NUMBA_S_OWN:
                    raise ModuleNotFoundError(f"the simulator does not know {name}", name=name)
                return ModuleSpec(name, self, is_package=True)
        if name.startswith(f"{SUCCESSOR}."):
            raise ModuleNotFoundError(f"the simulator does not know {name}", name=name)
        if name.startswith("numba.") and _stands_in_for_numba():
            if name not in _WITHOUT_NUMBA:
                # What is missing is Numba. By the name of its part, `from` would pass over this.
                raise ModuleNotFoundError(str(needs_numba(name)), name="numba")
            return ModuleSpec(name, self, is_package=True)
        return None

    def _others_find(self, name: str) -> bool:
        others = [finder for finder in sys.meta_path if finder is not self]
        return any(finder.find_spec(name, None) is not None for finder in others)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Returns the module that a spec of this finder is for."""
        if spec.name == SUCCESSOR:
            return _Successor(spec.name)
        if spec.name in _WITHOUT_NUMBA:
            return _Twin(spec.name, _WITHOUT_NUMBA[spec.name])
        for package in _PACKAGES:
            if spec.name == package or spec.name.startswith(f"{package}."):
                return _INSIDE.get(spec.name.removeprefix(package)) or ModuleType(spec.name)
        raise AssertionError(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Puts Numba's own module in the place of its twin; any other has run already."""
        name = getattr(module.__spec__, "name", "")
        for package in _PACKAGES:
            own = _NUMBA_S_OWN.get(name.removeprefix(package))
            if name.startswith(package) and own is not None:
                sys.modules[name] = importlib.import_module(own)


class _Twin(ModuleType):
    """A module of Numba's where it is not installed: by its name Python, and a kernel, knows it.

    Args:
        name: Numba's.
        home: the module that has what is in it; "" where other modules are all that is.
    """

    def __init__(self, name: str, home: str) -> None:
        super().__init__(name)
        self._home = home

    def __getattr__(self, name: str) -> Any:
        inside = f"{self.__name__}.{name}"
        if inside in _WITHOUT_NUMBA:
            return importlib.import_module(inside)
        if not self._home:
            raise AttributeError(name)
        return getattr(importlib.import_module(self._home), name)


def _stands_in_for_numba() -> bool:
    return isinstance(sys.modules.get("numba"), _Twin)


class _Successor(ModuleType):
    """Numba's successor for GPUs: its types are Numba's."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "cuda":
            return importlib.import_module(f"{SUCCESSOR}.cuda")
        return _of_numba(name)


def _of_numba(name: str) -> Any:
    import numba

    try:
        return getattr(numba, name)
    except AttributeError:
        raise AttributeError(f"the simulator does not know {SUCCESSOR}.{name}") from None


def install() -> None:
    """Makes every later import of `numba.cuda` in this process find the simulator."""
    for name in list(sys.modules):
        if name.startswith("numba.cuda") or name.partition(".")[0] == SUCCESSOR:
            del sys.modules[name]
    sys.meta_path.insert(0, StandIn())
    sources.listen()
    numba = sys.modules.get("numba")
    if numba is not None:
        vars(numba)["cuda"] = importlib.import_module("numba.cuda")
