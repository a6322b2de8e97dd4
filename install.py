"""Installs what the course needs into the Python that runs this: `python install.py [FILE]`.

PyTorch from PyPI brings several GB of CUDA along on Linux. Where there is no NVIDIA driver to use
them, PyTorch's own index is asked for its CPU build first; where that index cannot be reached, PyPI
it is. Only the standard library is used, since nothing is installed yet.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
DRIVER_SIGNS = ("/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg")
"""Any of these on a Linux machine says that an NVIDIA driver is there; the last one is WSL's."""

Run = Callable[[Sequence[str]], int]


def main(arguments: Sequence[str], run: Run = subprocess.call) -> int:
    """Installs a file of requirements and returns pip's exit status.

    Args:
        arguments: the file, default requirements.txt.
        run: starts a command and returns its exit status.
    """
    requirements = ROOT / (arguments[0] if arguments else "requirements.txt")
    pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    wanted = pinned_torch((ROOT / "requirements.txt").read_text(encoding="utf-8"))
    if wants_cpu_build() and not is_installed(wanted):
        print(f"No NVIDIA driver here: asking for the CPU build of {wanted} first.", flush=True)
        # Without its needs: they come with the others. One try of a few seconds is enough.
        first = [*pip, "--no-deps", "--retries", "0", "--timeout", "10"]
        if run([*first, "--index-url", CPU_INDEX, wanted]) != 0:
            print(f"{CPU_INDEX} gave nothing; taking what PyPI has.", flush=True)
    return run([*pip, "-r", str(requirements)])


def pinned_torch(requirements: str) -> str:
    """Returns the line of the requirements that names PyTorch, such as "torch==2.13.0"."""
    found = re.search(r"^torch==\S+$", requirements, flags=re.MULTILINE)
    if found is None:
        raise SystemExit("requirements.txt names no version of torch")
    return found[0]


def wants_cpu_build(platform: str = sys.platform, signs: Sequence[str] = DRIVER_SIGNS) -> bool:
    """True on Linux without an NVIDIA driver: elsewhere PyPI's build is small, or of use."""
    has_driver = any(Path(sign).exists() for sign in signs) or shutil.which("nvidia-smi")
    return platform == "linux" and not has_driver


def is_installed(wanted: str) -> bool:
    """True when the version asked for is there, in whichever build."""
    name, _, version = wanted.partition("==")
    try:
        return metadata.version(name).partition("+")[0] == version
    except metadata.PackageNotFoundError:
        return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
