"""From a kernel to what NVIDIA's compiler makes of it, kept so that it is made once."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np

from gpu_course.errors import CourseError
from gpu_course.hardware.compiled.listing import Compiled, read_compiled, with_lines_of
from gpu_course.hardware.compiled.toolchain import (
    TO_INSTALL,
    Toolchain,
    ToolFailed,
    run_tool,
    toolchain,
)
from simt.files import write_text
from simt.text import one_line

CAPABILITIES = ("7.5", "8.0", "9.0", "10.0", "12.0")
"""One of each architecture that the compiler of CUDA 13 knows, for records and comparisons."""
USUAL = "8.0"
FORM = 1
"""Of what is kept: another form is another key."""


def compile_kernel(
    load: Callable[[], Callable[..., Any]],
    name: str,
    arguments: Sequence[Any],
    capability: str = USUAL,
    keep: Path | None = None,
    text: str | None = None,
    lines: bool = True,
) -> Compiled:
    """Returns what the compiler makes of a kernel.

    Args:
        load: returns the kernel, of `cuda.jit` or plain Python; called where nothing is kept.
        name: of the kernel.
        arguments: as a launch gets them; only their types count.
        capability: the compute capability to compile for.
        keep: a folder for what was compiled; None keeps nothing.
        text: all that the code depends on, such as the text of its file; None where that is not
            known: then PTX is made each time, and only what follows is kept.
        lines: whether the lines of the file are wanted, which takes as long again.

    Raises:
        NoCompiler: the wheels are not installed.
        CourseError: no such capability, or Numba refuses the kernel.
        ToolFailed: ptxas or nvdisasm failed, or took too long.
    """
    tools = toolchain()
    arch = _arch(capability)
    parts = [FORM, name, capability, [_type(each) for each in arguments], tools.versions, lines]
    path = None if text is None else _kept(keep, [*parts, text])
    found = _read(path)
    if found is None:
        kernel = load()
        kernel = getattr(kernel, "py_func", kernel)
        ptx = ptx_of(kernel, arguments, capability)
        if path is None:
            path = _kept(keep, [*parts, ptx])
            found = _read(path)
        if found is None:
            found = _assembled(name, capability, arch, ptx, tools)
            if lines:
                with_lines = ptx_of(kernel, arguments, capability, lines=True)
                found = _with_lines(found, name, capability, arch, with_lines, tools)
            _write(path, found)
    return found


def _type(value: Any) -> str:
    """Returns what of an argument decides its type in Numba."""
    if isinstance(value, np.ndarray):
        order = "C" if value.flags.c_contiguous else "F" if value.flags.f_contiguous else "A"
        return f"{value.dtype.str}{value.ndim}{order}{int(value.flags.writeable)}"
    return getattr(value, "dtype", np.dtype(object)).str + type(value).__name__


def _arch(capability: str) -> str:
    """Returns the name that ptxas has for a capability, such as "sm_80"."""
    from gpu_course.hardware.compute_capability import capability as known

    found = known(capability)
    if found.number < (7, 5):
        raise CourseError(
            f"CUDA 13 compiles nothing for compute capability {capability}",
            f"ask for one of {', '.join(CAPABILITIES)}",
        )
    return f"sm_{found.number[0]}{found.number[1]}"


def _with_lines(
    found: Compiled, name: str, capability: str, arch: str, ptx: str, tools: Toolchain
) -> Compiled:
    """Returns a kernel with the lines of its file.

    A launch compiles without lines. With them, NVVM may come to other code, and once in a while to
    PTX that lacks a label: then the lines stay unknown.
    """
    try:
        lined = _assembled(name, capability, arch, ptx, tools)
    except ToolFailed:
        return found
    same = [each.text for each in lined.instructions] == [each.text for each in found.instructions]
    return lined if same else with_lines_of(found, lined)


def ptx_of(
    function: Callable[..., Any], arguments: Sequence[Any], capability: str, lines: bool = False
) -> str:
    """Returns the PTX that Numba makes of a kernel, without a look at what is kept.

    Args:
        function: a plain function.
        arguments: as a launch gets them; only their types count.
        capability: the compute capability to compile for.
        lines: whether the PTX says which line of the file each part comes from.

    Raises:
        CourseError: Numba refuses the kernel.
    """
    from gpu_course.hardware.run import cuda_module

    number = tuple(map(int, capability.split(".")))
    cuda = cuda_module()
    from numba import typeof

    types = tuple(map(typeof, arguments))
    with warnings.catch_warnings(), helpers_for(number):
        warnings.simplefilter("ignore")
        try:
            ptx, _ = cuda.compile_ptx(function, types, cc=number, lineinfo=lines)
        except Exception as error:
            raise _refusal(function, error) from error
    return str(ptx)


@contextmanager
def helpers_for(capability: tuple[int, ...]) -> Iterator[None]:
    """Has the functions that a kernel calls compiled for a capability, too.

    Numba compiles such a function for the card that is there, and asks the driver which one that
    is. Here there may be none, and the capability is known.
    """
    from numba.cuda import dispatcher

    asked = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
    try:
        yield
    finally:
        dispatcher.get_current_device = asked


def _refusal(function: Callable[..., Any], error: Exception) -> CourseError:
    """Returns what Numba has against a kernel, in one line with its place."""
    code = function.__code__
    said = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [each for each in said if not each.startswith(("Failed in", "During:"))]
    reason = " ".join(told[:2] if told and told[0].endswith(":") else told[:1]).replace(">>> ", "")
    file = Path(code.co_filename).name
    places = re.findall(r'File "(?:[^"]*[/\\])?([^"/\\]+)", line (\d+)', str(error))
    line = next((int(number) for name, number in places if name == file), code.co_firstlineno)
    where = f"{file}:{line}"
    return CourseError(
        f"Numba does not compile {function.__name__}: {reason or type(error).__name__} ({where})",
        "check the answer in the simulator first: it says more",
    )


def _assembled(function: str, capability: str, arch: str, ptx: str, tools: Toolchain) -> Compiled:
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx, encoding="utf-8")
        _, said = run_tool([tools.ptxas, "-v", "-lineinfo", f"-arch={arch}", source, "-o", binary])
        lines, _ = run_tool([tools.nvdisasm, "-json", "-g", binary])
        alive, _ = run_tool([tools.nvdisasm, "-c", "-lrm", "count", binary])
    try:
        return read_compiled(function, capability, ptx, said, lines, alive, tools.named)
    except (ValueError, LookupError, TypeError) as error:
        raise ToolFailed(
            f"what nvdisasm printed cannot be read: {one_line(str(error))}",
            f"the course knows the versions of its record: {TO_INSTALL}",
        ) from error


def _kept(folder: Path | None, parts: list[Any]) -> Path | None:
    """Returns where the result of these inputs is kept, or None where nothing is."""
    if folder is None:
        return None
    key = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    return folder / f"{key[:32]}.json"


def _write(path: Path | None, found: Compiled) -> None:
    if path is None:
        return
    with contextlib.suppress(OSError):  # it is compiled anew the next time
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, msgspec.json.encode(found).decode())


def _read(path: Path | None) -> Compiled | None:
    """Returns what was kept, or None: a file that cannot be read is made anew."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Compiled) if path else None
    except (OSError, msgspec.DecodeError):
        return None
