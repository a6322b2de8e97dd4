"""The process an answer runs in: it is told inputs, runs the answer, and says what came out.

It knows no expected value and no puzzle. The grader speaks first; every message has one reply.

1. {"harness", "memory_bytes", "cpu_s", "hidden"} -> {"layers"}, once nothing can be opened any
   more. A rank is also told its "world", which it joins before it replies, and "confined": false
   where it is its user's own
2. {"answer", "file", "functions", "seconds"} -> {"loaded"} or {"missing"} or {"raised"}
3. {"turn", "inputs", "arguments", "seed", "seconds", "held"} -> {"turn", "got", "changed"} or
   {"turn", "raised"} or {"turn", "unsendable"} or {"turn", "large"} or {"turn", "unusable"}, for
   each case; with "tensors": true the function gets arrays as tensors of PyTorch
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import importlib.abc
import linecache
import os
import random
import select
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from gpu_course.errors import Unusable
from gpu_course.isolation import lockdown, seccomp, transport
from simt.text import source_lines

MODULE = "answer"
"""What the answer's module is called: no module of Python or of a library has that name."""

WORLD = "gpu_course.ranks.rank"
"""The module whose `join` makes this process a rank; no code of it runs for other answers."""

MAX_TEXT = 2000
MAX_NAME = 200
MAX_FRAMES = 4


def alone(libraries: str, handles: Sequence[int] = ()) -> None:
    """Serves one answer in a process that was started for it (where there is no forkserver).

    Args:
        libraries: as `preload` takes it.
        handles: descriptors that it was handed beside the standard streams; they become 3 and on.
    """
    above = 1 + max([2, *handles]) + len(handles)
    for number, handle in enumerate(handles):
        os.dup2(handle, above + number)
    for number in range(len(handles)):
        os.dup2(above + number, 3 + number)
    os.closerange(3 + len(handles), above + len(handles))
    if hasattr(os, "setsid"):
        with contextlib.suppress(OSError):
            os.setsid()
    lockdown.die_with_parent(os.getppid())
    if sys.platform != "linux":
        end_with_the_asker()
    preload(libraries)
    serve()


def end_with_the_asker() -> None:
    """Ends this process once nobody holds the other end of its standard input.

    It stands in for `lockdown.die_with_parent` where the kernel does no such thing. An answer that
    computes reads nothing, and would not notice.
    """
    if not hasattr(select, "poll"):
        return
    hung_up = select.poll()
    hung_up.register(os.dup(0), 0)

    def watch() -> None:
        hung_up.poll()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def preload(libraries: str) -> None:
    """Imports what answers will ask for: "numpy", or "torch" with one thread per operation."""
    importlib.import_module(libraries)
    importlib.import_module("numpy.linalg")
    importlib.import_module("numpy.random")
    if libraries == "torch":
        import torch

        torch.set_num_threads(1)
        torch.set_num_interop_threads(1)
        # Optimizers, torch.func and checkpoint load the compiler when they are first used: too late
        # once nothing more can be read.
        importlib.import_module("torch._dynamo")
        # The first backward pass brings up what all later ones share.
        torch.ones(2, requires_grad=True).sum().backward()


def serve() -> None:
    """Speaks with the grader over standard input and output until it has no more to ask."""
    ask, tell = _private_streams()
    faulthandler.enable(all_threads=False)
    setup = ask()
    world = setup.get("world")
    try:
        harness = _harness(setup["harness"])
        join = importlib.import_module(WORLD).join if world else None
    except BaseException:
        tell({"failed": traceback.format_exc(limit=-1)})
        return
    layers: tuple[str, ...] = ()
    if setup.get("confined", True):
        sys.meta_path.insert(0, _Closed())
        layers = lockdown.lock_down(
            memory_bytes=setup["memory_bytes"],
            cpu_s=setup["cpu_s"],
            hidden=[Path(each) for each in setup["hidden"]],
            sockets=world is not None,
        )
    if join is not None:
        # Only now: the layers hold a thread and what it starts, and a group starts threads.
        try:
            join(world)
            if "seccomp" in layers:
                seccomp.close_sockets()
        except BaseException:
            tell({"failed": traceback.format_exc(limit=-1)})
            return
    tell({"layers": layers})
    request = ask()
    loaded = _load(request)
    if isinstance(loaded, dict):
        tell(loaded)
        return
    tell({"loaded": True})
    file, function = request["file"], request["functions"][0]
    with contextlib.suppress(EOFError):
        while True:
            request = ask()
            for name, other in request.get("stand_ins", {}).items():
                setattr(loaded, name, getattr(loaded, other))
            tell({"turn": request["turn"], **_turn(request, loaded, harness, file, function)})


def _harness(name: str) -> Callable[..., Any] | None:
    if not name:
        return None
    module = importlib.import_module(name)
    run: Callable[..., Any] = module.run
    return run


def _load(request: Mapping[str, Any]) -> ModuleType | dict[str, Any]:
    """Returns the answer's module, or the reply that says why there is none."""
    file, text = request["file"], request["answer"]
    module = ModuleType(MODULE)
    module.__file__ = file
    sys.modules[MODULE] = module
    lines = [line + "\n" for line in source_lines(text)]
    linecache.cache[file] = (len(text), None, lines, file)
    _say_where_before(request["seconds"])
    try:
        exec(compile(text, file, "exec", dont_inherit=True), module.__dict__)
    except BaseException as error:
        return {"raised": _raised(error, file)}
    finally:
        faulthandler.cancel_dump_traceback_later()
    for name in request["functions"]:
        if not callable(getattr(module, name, None)):
            return {"missing": name}
    return module


def _turn(
    request: Mapping[str, Any],
    module: ModuleType,
    harness: Callable[..., Any] | None,
    file: str,
    function: str,
) -> dict[str, Any]:
    inputs, pristine = request["inputs"], transport.pack(request["inputs"])
    _seed(request["seed"])
    _say_where_before(request["seconds"])
    try:
        if harness is None:
            given = {name: inputs[name] for name in request["arguments"]}
            if request.get("tensors"):
                given = {name: _tensor(value) for name, value in given.items()}
            call = getattr(module, function)
            got = {"result": call(**given) if request.get("by_name") else call(*given.values())}
        else:
            with _unrecorded() if request["held"] else contextlib.nullcontext():
                got = harness(module, **inputs)
    except BaseException as error:
        if isinstance(error, Unusable):
            frames = _frames(error.__cause__ or error, file)
            key = str(error.key)[:MAX_NAME]
            return {"unusable": {"text": _text(error), "key": key, "frames": frames}}
        return {"raised": _raised(error, file)}
    finally:
        faulthandler.cancel_dump_traceback_later()
        _flush()
    try:
        changed = _changed(inputs, pristine)
        transport.pack(got)
        return {"got": got, "changed": changed}
    except transport.Unsendable as error:
        return {"unsendable": _text(error)}
    except transport.TooLarge as error:
        return {"large": _text(error)}
    except BaseException as error:
        return {"raised": _raised(error, file)}


def _tensor(value: Any) -> Any:
    """Returns an array as a tensor over the same memory, also inside lists and tuples."""
    if isinstance(value, np.ndarray):
        import torch

        return torch.from_numpy(value)
    if isinstance(value, list | tuple):
        return type(value)(map(_tensor, value))
    return value


def _unrecorded() -> contextlib.AbstractContextManager[None]:
    """Returns a context in which no harness records memory: the kernel counts it."""
    allocations = sys.modules.get("gpu_course.measure.allocations")
    return allocations.nothing_recorded() if allocations else contextlib.nullcontext()


def _changed(inputs: Mapping[str, Any], pristine: bytes) -> dict[str, Any]:
    """Returns the inputs that are no longer what they were, as they are now."""
    before = transport.unpack(pristine)
    out: dict[str, Any] = {}
    for name, value in before.items():
        try:
            now = transport.pack(inputs.get(name))
        except (transport.Garbled, transport.Unsendable):
            out[name] = None
            continue
        if now != transport.pack(value):
            out[name] = inputs[name]
    return out


def _say_where_before(seconds: float) -> None:
    """Shortly before the time is over, has the line that is running printed."""
    with contextlib.suppress(RuntimeError):
        faulthandler.dump_traceback_later(0.9 * seconds)


def _seed(seed: int) -> None:
    """Makes what is drawn in one case the same in every run of it."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed)


def _raised(error: BaseException, file: str) -> dict[str, Any]:
    """Returns an exception as data: what it says, and the lines of the answer it came through."""
    frames = _frames(error, file)
    last = traceback.extract_tb(error.__traceback__)[-1:]
    # Where no line of the answer is at hand, the place in the harness is all there is to show.
    outside = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in last]
    memory = isinstance(error, MemoryError) or "can't allocate memory" in _text(error)
    return {
        "type": type(error).__name__[:MAX_NAME],
        "text": _text(error),
        "frames": frames,
        "outside": "" if frames else "".join(outside)[:MAX_NAME],
        "memory": memory,
    }


def _frames(error: BaseException, file: str) -> list[tuple[str, int]]:
    """Returns the functions and lines of the answer that an exception came through."""
    frames = [
        (frame.f_code.co_name[:MAX_NAME], line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename == file and line
    ]
    return frames[-MAX_FRAMES:]


def _text(error: BaseException) -> str:
    try:
        return str(error)[:MAX_TEXT]
    except BaseException:
        return ""


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()


def _private_streams() -> tuple[Callable[[], Any], Callable[[Any], None]]:
    """Returns (ask, tell) on descriptors of their own.

    Afterwards standard input is empty, and what is printed goes where standard error goes.
    """
    incoming = os.fdopen(os.dup(0), "rb")
    outgoing = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    # Streams made anew: those of a forked process may hold another's text.
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    for name, number in (("stdout", 1), ("stderr", 2)):
        # By lines, so that what was printed before a crash is there to be read.
        stream = os.fdopen(number, "w", 1, encoding="utf-8", errors="replace", closefd=False)
        setattr(sys, name, stream)

    def tell(message: Any) -> None:
        _flush()
        data = memoryview(transport.pack(message))
        while data:
            data = data[os.write(outgoing, data) :]

    return lambda: transport.read(incoming.read), tell


class _Closed(importlib.abc.MetaPathFinder):
    """Refuses to import from the course what its harness has not brought in already."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] in ("gpu_course", "simt"):
            raise ModuleNotFoundError(f"an answer cannot import {name}", name=name)
