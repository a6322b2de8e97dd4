"""What the doctor looks at, one probe per subject. Each returns findings and needs no package."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from gpu_course.hardware import nvml
from gpu_course.hardware.compatibility import driver_suffices, minimum_driver, toolkit_rule
from gpu_course.hardware.compute_capability import parse_version
from gpu_course.units import GB, GIB, format_bytes

PYTHON_FROM, PYTHON_BELOW = (3, 11), (3, 15)
CUDA_OF_THE_COURSE = "13.0"
"""What the wheels of torch 2.13 on PyPI and `numba-cuda[cu13]` are built with."""

# Package, oldest version that will do, and what the course uses it for. The same as in
# pyproject.toml, where a test compares them.
PACKAGES = (
    ("numpy", "2.2", "arrays: nothing works without it"),
    ("greenlet", "3.1", "the simulator, where threads wait for each other"),
    ("jupyterlab", "4.4", "the notebooks"),
    ("ipykernel", "6.29", "the notebooks' Python"),
    ("ipython", "8.30", "the notebooks' Python"),
    ("ipywidgets", "8.1", "sliders and buttons in the notebooks"),
    ("matplotlib", "3.10", "the pictures"),
    ("msgspec", "0.20", "the files that say what a lesson asks"),
    ("numba", "0.61", "kernels compiled to machine code, and the types Numba infers"),
    ("torch", "2.9", "the lessons on training"),
    ("nvidia-ml-py", "12.560", "asking the driver about an NVIDIA GPU"),
    ("typer", "0.15", "the gpu-course command"),
    ("rich", "13.9", "tables in the terminal"),
    ("pillow", "11.0", "pictures kept small"),
    ("psutil", "6.0", "limits on what an answer may use"),
    ("jupytext", "1.16", "building notebooks from their sources"),
    ("nbformat", "5.10", "reading and writing notebooks"),
    ("nbclient", "0.10", "running notebooks"),
)
INSTALL = "python -m pip install -r requirements.txt"

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_BROWSER_FILES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
)


@dataclass(frozen=True)
class Probe:
    """One thing the doctor looked at.

    Attributes:
        name: what was looked at.
        state: "ok"; "note" for what is worth knowing and blocks nothing; "missing" for what the
            course needs and does not have.
        found: what is there.
        mend: what to do about it, or "".
    """

    name: str
    state: str
    found: str
    mend: str = ""


Probing = Callable[[], tuple[Probe, ...]]


def probe_python() -> tuple[Probe, ...]:
    """Returns whether this Python is one the course runs on."""
    version = platform.python_version()
    if PYTHON_FROM <= sys.version_info[:2] < PYTHON_BELOW:
        return (Probe("Python", "ok", version),)
    wanted = f"3.{PYTHON_FROM[1]} to 3.{PYTHON_BELOW[1] - 1}"
    return (
        Probe("Python", "missing", version, f"install Python {wanted} and make .venv anew with it"),
    )


def probe_packages() -> tuple[Probe, ...]:
    """Returns one finding per package the course is built on."""
    return tuple(_package(*row) for row in PACKAGES)


def _package(name: str, needed: str, use: str) -> Probe:
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Probe(name, "missing", f"not installed; it is for {use}", INSTALL)
    if _numbers(version) < _numbers(needed):
        return Probe(name, "missing", f"{version}, older than {needed}", INSTALL)
    return Probe(name, "ok", version)


def probe_cores() -> tuple[Probe, ...]:
    """Returns how many processor cores this process may use."""
    # A container or a batch system may lend fewer cores than the machine has.
    allowed = getattr(os, "sched_getaffinity", None)
    count = len(allowed(0)) if allowed else os.cpu_count() or 1
    found = f"{count} ({platform.machine() or 'unknown kind'})"
    if count < 2:
        return (Probe("processor cores", "note", found, "lessons with several processes crawl"),)
    return (Probe("processor cores", "ok", found),)


def probe_memory() -> tuple[Probe, ...]:
    """Returns how much main memory the machine has."""
    total = _total_memory_bytes()
    if total is None:
        return (Probe("memory", "note", "the system does not say how much there is"),)
    if total < 4 * GIB:
        mend = "close other programs while a lesson runs; 8 GiB is comfortable"
        return (Probe("memory", "note", format_bytes(total), mend),)
    return (Probe("memory", "ok", format_bytes(total)),)


def _total_memory_bytes() -> int | None:
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES"))
    try:
        # Windows has no sysconf; psutil does know, where it is installed.
        import psutil
    except ImportError:
        return None
    return int(psutil.virtual_memory().total)


def probe_disk() -> tuple[Probe, ...]:
    """Returns how much room is left on the disk this folder lies on."""
    free = shutil.disk_usage(Path.cwd()).free
    found = f"{format_bytes(free, binary=False)} free here"
    if free < 2 * GB:
        mend = "free 2 GB: the packages and the notebooks' outputs need room"
        return (Probe("disk", "note", found, mend),)
    return (Probe("disk", "ok", found),)


def probe_git() -> tuple[Probe, ...]:
    """Returns whether git is there, which fetches the course and its updates."""
    if shutil.which("git"):
        return (Probe("git", "ok", "found"),)
    return (Probe("git", "note", "not found", "install git to fetch updates and contribute"),)


def probe_browser() -> tuple[Probe, ...]:
    """Returns whether a browser is there for the browser tests; nothing where those can't run."""
    if importlib.util.find_spec("playwright") is None:
        return ()
    found = find_browser()
    if found:
        return (Probe("browser for tests", "ok", Path(found).name),)
    mend = "install chromium or Chrome to run the browser tests; learning needs any browser"
    return (Probe("browser for tests", "note", "no Chromium or Chrome found", mend),)


def find_browser() -> str | None:
    """Returns the path of a Chromium or Chrome: the one GPU_COURSE_CHROMIUM names, else any."""
    chosen = os.environ.get("GPU_COURSE_CHROMIUM", "").strip()
    if chosen:
        return chosen if Path(chosen).is_file() else None
    named = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    return named or next((path for path in _BROWSER_FILES if Path(path).is_file()), None)


def probe_gpu() -> tuple[Probe, ...]:
    """Returns the GPUs, their driver, and whether CUDA programs of this course run on them."""
    if nvml.gpu_switched_off():
        return (
            Probe(
                "GPU", "note", "switched off by GPU_COURSE_GPU", "unset GPU_COURSE_GPU to use it"
            ),
        )
    driver = nvml.driver()
    if driver is None:
        return (_other_gpu(),)
    if not driver.gpus:
        mend = "look at what `nvidia-smi` prints; the simulator needs no GPU"
        return (Probe("GPU", "note", "the NVIDIA driver lists no GPU", mend),)
    return (
        *(_capability(gpu) for gpu in driver.gpus),
        _driver(driver.version, driver.newest_cuda),
        _numba_cuda(),
    )


def _other_gpu() -> Probe:
    no_need = "nothing to mend: every lesson runs on the simulator"
    if platform.system() == "Darwin":
        chip = "an Apple GPU" if platform.machine() == "arm64" else "no NVIDIA GPU"
        return Probe("GPU", "note", f"{chip}, which runs no CUDA", no_need)
    if shutil.which("rocm-smi") or shutil.which("rocminfo") or _has_amd_card():
        return Probe("GPU", "note", "an AMD GPU, which runs no CUDA", no_need)
    return Probe("GPU", "note", "no NVIDIA GPU found", no_need)


def _has_amd_card() -> bool:
    vendors = Path("/sys/class/drm").glob("card*/device/vendor")
    return any(path.read_text().strip() == "0x1002" for path in vendors)


def _capability(gpu: nvml.InstalledGpu) -> Probe:
    memory = f", {format_bytes(gpu.memory_bytes)}" if gpu.memory_bytes else ""
    if gpu.compute_capability is None:
        return Probe("GPU", "note", f"{gpu.name}{memory}; its compute capability is unknown")
    found = f"{gpu.name}{memory}, compute capability {gpu.compute_capability}"
    lowest = toolkit_rule(CUDA_OF_THE_COURSE).capability
    if lowest and parse_version(gpu.compute_capability) < parse_version(lowest):
        mend = (
            f"CUDA {CUDA_OF_THE_COURSE} compiles for {lowest} and newer: use the simulator, or "
            "install numba-cuda[cu12] and a torch built with CUDA 12"
        )
        return Probe("GPU", "note", found, mend)
    return Probe("GPU", "ok", found)


def _driver(driver: str | None, newest_cuda: str | None) -> Probe:
    system = "windows" if platform.system() == "Windows" else "linux"
    if driver is None:
        return Probe("NVIDIA driver", "note", "it does not say its version")
    found = driver + (f", runs CUDA up to {newest_cuda}" if newest_cuda else "")
    if driver_suffices(driver, CUDA_OF_THE_COURSE, system):
        return Probe("NVIDIA driver", "ok", found)
    needed = minimum_driver(CUDA_OF_THE_COURSE, system)
    mend = f"install driver {needed} or newer to run CUDA {CUDA_OF_THE_COURSE} programs on this GPU"
    return Probe("NVIDIA driver", "note", found, mend)


def _numba_cuda() -> Probe:
    # Any of the two compiles kernels; `hardware.run.cuda_module` picks in this order.
    for package in ("numba-cuda", "numba-cuda-mlir"):
        try:
            return Probe(package, "ok", metadata.version(package))
        except metadata.PackageNotFoundError:
            continue
    mend = 'python -m pip install -e ".[gpu]"'
    return Probe("numba-cuda", "note", "not installed; it runs kernels on the GPU", mend)


def _numbers(version: str) -> tuple[int, ...]:
    # "2.13.0+cpu" and "9.2rc1" count as far as their numbers go.
    match = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in match.group().split(".")) if match else ()


PROBES: tuple[tuple[str, Probing], ...] = (
    ("Python", probe_python),
    ("packages", probe_packages),
    ("processor cores", probe_cores),
    ("memory", probe_memory),
    ("disk", probe_disk),
    ("GPU", probe_gpu),
    ("browser for tests", probe_browser),
    ("git", probe_git),
)
