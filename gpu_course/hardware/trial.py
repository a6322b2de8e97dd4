"""One case of an answer on a real GPU, in a process of its own: what it left, and how long it took.

`run` is what `hardware.apart` calls there. It knows no puzzle: launches and arrays come in as JSON,
and the arrays go back as the launches left them. Whoever asked compares them.
"""

from __future__ import annotations

import base64
import io
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.hardware import run as native
from gpu_course.hardware.guard_zones import WriteFarOutside, WriteOutside
from gpu_course.hardware.run import GaveUp, Guarded, kernels_of
from gpu_course.hardware.timing import Clock, describe_device
from gpu_course.units import MIB

TARGET = "gpu_course.hardware.trial:run"
"""What `hardware.apart` is given to run these jobs."""
FILLER_BYTES = 32 * MIB
"""Of the copies that run before what is timed: long enough for the host to ask for a launch."""
KNOWN = """\
from numba import cuda


@cuda.jit
def known(out, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 2 * a[i] + 1
"""
"""A kernel that is right: what it leaves shows whether a card computes, whoever asks next."""
KNOWN_CELLS = 1000
MAX_WORDS = 300

_OUTSIDE = {WriteOutside: "outside", WriteFarOutside: "far-outside"}


@dataclass(frozen=True)
class PlainLaunch:
    """A launch as it comes in; see `hardware.run.Launch`."""

    function: str
    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    args: tuple[str, ...]
    shared_bytes: int = 0


def launch_job(
    path: Path,
    launches: Sequence[native.Launch],
    runs: Sequence[Mapping[str, Any]],
    *,
    restored: Sequence[str] = (),
    timed: bool = False,
) -> dict[str, Any]:
    """Returns the job that runs the launches of an answer file once for each set of values.

    Args:
        path: the answer file.
        launches: in order.
        runs: for each run, values by name: NumPy arrays and scalars.
        restored: arrays that are input and output at once: when it is timed, each run finds them
            as they were.
        timed: whether the first run is timed as well, once its result is known.
    """
    return {
        "kind": "launches",
        "path": str(path),
        "launches": [
            {
                "function": each.function,
                "grid": each.grid,
                "block": each.block,
                "args": each.args,
                "shared_bytes": each.shared_bytes,
            }
            for each in launches
        ],
        "runs": [{name: encoded(value) for name, value in run.items()} for run in runs],
        "restored": list(restored),
        "timed": timed,
    }


def run(job: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what a job found, with its "state".

    Args:
        job: {"kind": "device"}: what the card says of itself. {"kind": "known"}: whether a kernel
            that is right gives what it must. Or a `launch_job`.

    Returns:
        For a `launch_job` "state": "ran"; "outside" or "far-outside" where memory was written that
        is no array's; "gave-up" where the GPU did; "refused" where Numba compiles no such kernel.
        Of "ran" "left", the arrays of each run, and "seconds" where it was timed. Of the others
        "said".
    """
    if job["kind"] == "device":
        return {"state": "known", **describe_device()}
    if job["kind"] == "known":
        return _known()
    path = Path(job["path"])
    launches = [_launch(each) for each in job["launches"]]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Numba's advice about small grids
            return _launched(path, launches, job)
    except (WriteOutside, WriteFarOutside) as error:
        return {"state": _OUTSIDE[type(error)], "said": error.fact}
    except GaveUp as error:
        return {"state": "gave-up", "said": error.fact}
    except Exception as error:  # Numba's refusal, in whichever class
        return {"state": "refused", "said": _reason(error)}


def _launched(
    path: Path, launches: Sequence[native.Launch], job: Mapping[str, Any]
) -> dict[str, Any]:
    cuda = native.cuda_module()
    kernels = _kernels(path, path.read_bytes(), tuple(each.function for each in launches))
    left = []
    for values in job["runs"]:
        guarded = Guarded(launches, _decoded(values), cuda)
        guarded.launch(kernels, path.name)
        left.append({name: encoded(array) for name, array in guarded.left().items()})
    seconds = _seconds(kernels, launches, job, cuda) if job["timed"] else None
    return {"state": "ran", "left": left, "seconds": seconds}


def _seconds(
    kernels: Mapping[str, Any], launches: Sequence[native.Launch], job: Mapping[str, Any], cuda: Any
) -> float:
    """Returns how long all launches of the first run take, by the card's own clock: the median."""
    values = _decoded(job["runs"][0])
    guarded = Guarded(launches, values, cuda)
    pristine = {name: cuda.to_device(values[name]) for name in job["restored"]}

    def restore() -> None:
        for name, array in pristine.items():
            guarded.given[name].copy_to_device(array)

    return _clock().sample(lambda: guarded.ask(kernels), restore).seconds


@lru_cache(1)
def _clock() -> Clock:
    return Clock(FILLER_BYTES)


@lru_cache(1)
def _kernels(path: Path, text: bytes, functions: tuple[str, ...]) -> dict[str, Any]:
    """The kernels of a text, compiled once for all cases of an answer."""
    named = [PlainLaunch(function, 1, 1, ()) for function in functions]
    return kernels_of(path, named, native.cuda_module())


def _known() -> dict[str, Any]:
    a = np.arange(KNOWN_CELLS, dtype=np.float32)
    values = {"out": np.full(KNOWN_CELLS, np.nan, np.float32), "a": a}
    launch = PlainLaunch("known", -(-KNOWN_CELLS // 128), 128, ("out", "a"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "known.py"
        path.write_text(KNOWN, encoding="utf-8")
        found = native.run_natively(path, [launch], values)
    if np.array_equal(found["out"], 2 * a + 1):
        return {"state": "right"}
    first = int(np.flatnonzero(found["out"] != 2 * a + 1)[0])
    told = f"a kernel that is right left {found['out'][first]} for {2 * a[first] + 1}"
    return {"state": "wrong", "said": told}


def _launch(told: Mapping[str, Any]) -> PlainLaunch:
    shapes = {
        key: tuple(told[key]) if isinstance(told[key], list) else told[key]
        for key in ("grid", "block")
    }
    return PlainLaunch(
        told["function"], **shapes, args=tuple(told["args"]), shared_bytes=told["shared_bytes"]
    )


def _reason(error: Exception) -> str:
    """Returns an error in one line: Numba says its reason after lines about where it was."""
    if isinstance(error, CourseError):
        return error.fact
    said = [line.strip() for line in str(error).splitlines() if line.strip()]
    first = next((each for each in said if not each.startswith(("Failed in", "During:"))), "")
    words = f"{type(error).__name__}: {first}" if first else type(error).__name__
    return words if len(words) <= MAX_WORDS else f"{words[: MAX_WORDS - 4]} ..."


def encoded(value: Any) -> Any:
    """Returns an array or a scalar as JSON has it; `decoded` gives it back, bit for bit.

    >>> decoded(encoded(np.float32(0.1)))
    np.float32(0.1)
    """
    if not isinstance(value, np.ndarray | np.generic):
        return value
    file = io.BytesIO()
    np.save(file, value, allow_pickle=False)
    kind = "array" if isinstance(value, np.ndarray) else "scalar"
    return {kind: base64.b64encode(file.getvalue()).decode()}


def decoded(value: Any) -> Any:
    """Returns what was `encoded`."""
    if not isinstance(value, dict):
        return value
    ((kind, text),) = value.items()
    array = np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False)
    return array if kind == "array" else array[()]


def _decoded(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: decoded(value) for name, value in values.items()}
