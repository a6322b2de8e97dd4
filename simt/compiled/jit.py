"""Compiles LLVM's language for the processor it runs on, by llvmlite, which Numba brings."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

LEAST_LLVM = (17, 0, 0)
LEVEL = 2
"""How hard LLVM tries, 0 to 3: at 0 it compiles twenty times as fast, for code as much slower."""
BLOCK = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)


@functools.cache
def available() -> bool:
    """Whether there is a compiler: the engine alone is installed without one.

    One that is too old is none either: that of llvmlite 0.44 reads no pointers without a type.
    """
    try:
        _machine()
    except (ImportError, OSError, RuntimeError):
        return False
    return bool(_binding().llvm_version_info >= LEAST_LLVM)


def _binding() -> Any:
    from llvmlite import binding

    return binding


@functools.cache
def _target() -> tuple[Any, str, str]:
    binding = _binding()
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_default_triple()
    return target, binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()


def _machine() -> Any:
    """A machine to compile for; it belongs to whatever is compiled for it."""
    target, name, features = _target()
    return target.create_target_machine(cpu=name, features=features, opt=LEVEL, jit=True)


class Compiled:
    """A module that has been compiled, and the function in it that runs a block."""

    def __init__(self, text: str, name: str) -> None:
        binding = _binding()
        machine = _machine()
        module = binding.parse_assembly(text)
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        tuning = binding.create_pipeline_tuning_options(speed_level=LEVEL)
        tuning.loop_vectorization = LEVEL > 1
        tuning.slp_vectorization = False
        passes = binding.create_pass_builder(machine, tuning)
        passes.getModulePassManager().run(module, passes)
        # It has to live as long as its code is called.
        self._engine = binding.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()
        self.run: Callable[[int], int] = BLOCK(self._engine.get_function_address(name))
