"""Puts `simt.foreign.cuda` in the place of `numba.cuda` for the running process."""

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


class StandIn(MetaPathFinder, Loader):
    """Finds `numba.cuda`, the same of Numba's successor, and what is inside them.

    Numba itself stays what it is, with its types; its successor, which may not be installed, is
    stood in for as a whole.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns a spec for the modules this stands in for, and None for all others.

        Raises:
            ModuleNotFoundError: a part of `numba.cuda` that the simulator does not have.
        """
        if name == SUCCESSOR:
            return ModuleSpec(name, self, is_package=True)
        for package in _PACKAGES:
            if name == package or name.startswith(f"{package}."):
                inside = name.removeprefix(package)
                if inside not in _INSIDE and inside not in _NUMBA_S_OWN:
                    raise ModuleNotFoundError(f"the simulator does not know {name}", name=name)
                return ModuleSpec(name, self, is_package=True)
        if name.startswith(f"{SUCCESSOR}."):
            raise ModuleNotFoundError(f"the simulator does not know {name}", name=name)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Returns the module that a spec of this finder is for."""
        if spec.name == SUCCESSOR:
            return _Successor(spec.name)
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
