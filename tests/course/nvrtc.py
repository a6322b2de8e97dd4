"""NVIDIA's run-time compiler from its wheel, `nvidia-cuda-nvrtc`, called without a GPU."""

from __future__ import annotations

import ctypes
import sys
from functools import lru_cache
from pathlib import Path

PATTERNS = ("nvidia/*/lib/libnvrtc.so.[0-9]*", "nvidia/*/bin/**/nvrtc64_*.dll")


@lru_cache(maxsize=1)
def library() -> Path | None:
    """Returns the compiler of the `gpu` extra, or None where it is not installed."""
    for folder in map(Path, sys.path):
        for pattern in PATTERNS:
            for found in sorted(folder.glob(pattern)):
                if "alt" not in found.name:
                    return found
    return None


def compile_ptx(source: str, name: str, arch: str = "compute_90") -> str:
    """Returns the PTX of a piece of CUDA C++.

    Raises:
        AssertionError: it does not compile, or not without a warning; the compiler's log is in it.
    """
    path = library()
    assert path is not None
    nvrtc = ctypes.CDLL(str(path))
    program = ctypes.c_void_p()
    text, title = source.encode(), name.encode()
    assert not nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, title, 0, None, None)
    try:
        wanted = [f"--gpu-architecture={arch}", "--std=c++17", *_headers(path)]
        options = (ctypes.c_char_p * len(wanted))(*(each.encode() for each in wanted))
        status = nvrtc.nvrtcCompileProgram(program, len(wanted), options)
        log = _read(nvrtc, program, "ProgramLog")
        assert not status and not log.strip(), f"{name}:\n{log}"
        return _read(nvrtc, program, "PTX")
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _headers(library: Path) -> list[str]:
    """Returns the options that show where CUDA's own headers lie, such as cuda_fp8.h.

    The wheel of the runtime has them, in a folder beside the one of the library.
    """
    folders = [each / "include" for each in library.parents]
    return [f"--include-path={each}" for each in folders if each.is_dir()][:1]


def _read(nvrtc: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> str:
    size = ctypes.c_size_t()
    assert not getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    assert not getattr(nvrtc, f"nvrtcGet{what}")(program, buffer)
    return buffer.value.decode()
