"""Texts put round a costly answer so that it looks cheap; FUNCTION is what the puzzle asks for.

What stands before the line ANSWER goes before the answer, what stands behind it after.
"""

from __future__ import annotations

PEAK = 'sys.modules.get("gpu_course.measure.peak")'
ALLOCATIONS = 'sys.modules.get("gpu_course.measure.allocations")'
WRAP = """
ANSWER
_own = FUNCTION
def FUNCTION(*args):
"""

ATTACKS: dict[str, str] = {
    "a peak of its own": f"""
import sys
peak = {PEAK}
if peak:
    peak.Peak.peak_bytes = 0
    peak.Peak.left_bytes = 0
    peak.Peak.moments = lambda self, mark: (0,)
    peak.Peak.live_bytes = (0,) * 10 ** 5
ANSWER
""",
    "a meter that measures nothing": f"""
import sys
peak = {PEAK}
if peak:
    Old = peak.Peak
    def measure_peak(run, threads=1):
        return Old(run(), (), (), ())
    for module in list(sys.modules.values()):
        if getattr(module, "measure_peak", None):
            module.measure_peak = measure_peak
ANSWER
""",
    "no weight": """
import sys
for module in list(sys.modules.values()):
    if getattr(module, "bytes_of", None):
        module.bytes_of = lambda *tensors: 0
ANSWER
""",
    "a record without events": f"""
import sys
if {ALLOCATIONS}:
    {ALLOCATIONS}._recording = False
ANSWER
""",
    "a walk that finds nothing": f"""
import sys
if {ALLOCATIONS}:
    {ALLOCATIONS}._walk = lambda *a: None
ANSWER
""",
    "a profiler that is off": """
import torch
torch.autograd.profiler.profile.__init__ = lambda self, *a, **k: None
torch.autograd.profiler.profile.__enter__ = lambda self: self
torch.autograd.profiler.profile.__exit__ = lambda self, *a: None
class Nothing:
    def experimental_event_tree(self): return []
torch.autograd.profiler.profile.kineto_results = Nothing()
ANSWER
""",
    "the profiler is stopped meanwhile": f"""
import torch
{WRAP}
    try:
        torch.autograd._disable_profiler()
    except Exception:
        pass
    return _own(*args)
""",
    "every code object that measures": """
import gc, types
for each in gc.get_objects():
    if isinstance(each, types.FunctionType) and each.__name__ in ("measure_peak", "bytes_of"):
        if each.__name__ == "bytes_of":
            each.__code__ = (lambda *tensors: 0).__code__
ANSWER
""",
    "dataclasses through the collector": """
import gc
for each in gc.get_objects():
    if isinstance(each, type) and each.__name__ == "Peak":
        each.peak_bytes = property(lambda self: 0)
        each.left_bytes = property(lambda self: 0)
ANSWER
""",
    "frames above": """
import sys
ANSWER
_own = FUNCTION
def FUNCTION(*args):
    frame = sys._getframe()
    while frame:
        for name, value in list(frame.f_globals.items()):
            if name in ("bytes_of", "peak_bytes_of_rows"):
                frame.f_globals[name] = lambda *tensors: 0
            if name == "Peak":
                value.peak_bytes = 0
                value.left_bytes = 0
        frame = frame.f_back
    return _own(*args)
""",
    "the reply is edited": """
import sys
transport = sys.modules["gpu_course.isolation.transport"]
old = transport.pack
def less(value):
    if isinstance(value, dict) and isinstance(value.get("got"), dict):
        for name in value["got"]:
            if name.endswith("bytes"):
                value["got"][name] = 1
            if name == "forward_passes":
                value["got"][name] = [min(2, n) for n in value["got"][name]]
    return old(value)
transport.pack = less
ANSWER
""",
    "the harness is wrapped": """
import sys
child = sys.modules["gpu_course.isolation.child"]
old = child._turn
def turn(request, module, harness, file, function):
    def less(*args, **inputs):
        got = harness(*args, **inputs)
        return {n: 1 if n.endswith("bytes") else v for n, v in got.items()}
    return old(request, module, less if harness else None, file, function)
child._turn = turn
ANSWER
""",
    "builtins": """
import builtins
old = builtins.max
builtins.max = lambda *a, **k: 0 if k.get("default") == 0 else old(*a, **k)
builtins.sum = lambda values, start=0, _sum=sum: _sum(values, start)
ANSWER
""",
    "memory of NumPy": """
import numpy as np, torch
_kept = []
class Hidden:
    def __init__(self, t): self.a = t.detach().numpy().copy()
ANSWER
_own = FUNCTION
def FUNCTION(*args):
    def pack(t):
        h = np.array(t.detach().numpy(), copy=True)
        return h, t.dtype
    def unpack(packed):
        return torch.from_numpy(packed[0])
    try:
        with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
            return _own(*args)
    except RuntimeError:
        return _own(*args)
""",
    "a thread": """
import threading, torch
ANSWER
_own = FUNCTION
def FUNCTION(*args):
    box = []
    thread = threading.Thread(target=lambda: box.append(_own(*args)))
    thread.start(); thread.join()
    return box[0]
""",
    "a pool of threads": """
from concurrent.futures import ThreadPoolExecutor
_pool = ThreadPoolExecutor(2)
ANSWER
_own = FUNCTION
def FUNCTION(*args):
    return _pool.submit(_own, *args).result()
""",
    "memory held since the import": """
import torch
_room = [bytearray(1 << 20) for _ in range(150)]
ANSWER
_own = FUNCTION
def FUNCTION(*args):
    _room.clear()
    return _own(*args)
""",
    "memory shared with nobody": """
import ctypes, mmap
try:
    _shared = mmap.mmap(-1, 200 << 20)
    _shared.write(bytes(1 << 20))
except OSError:
    pass
ANSWER
""",
    "the limit is raised": """
import ctypes, resource, struct
try:
    resource.setrlimit(resource.RLIMIT_DATA, (1 << 40, 1 << 40))
except (OSError, ValueError):
    pass
ctypes.CDLL(None).prlimit64(0, 2, struct.pack("<QQ", 1 << 40, 1 << 40), None)
ANSWER
""",
    "a child process": """
import os
ANSWER
_own = FUNCTION
def FUNCTION(*args):
    try:
        if os.fork() == 0:
            os._exit(0)
    except OSError:
        pass
    return _own(*args)
""",
    "state behind a closure": """
import sys
def _state():
    kept = {}
    return kept.setdefault
_put = _state()
for module in list(sys.modules.values()):
    if "_tensors" in getattr(module, "__dict__", {}) and "harness" in module.__name__:
        module._tensors = lambda value: iter(())
ANSWER
""",
    "state in a default argument": """
import sys
def _hide(kept=[]): return kept
ANSWER
_own = FUNCTION
def FUNCTION(*args):
    for module in list(sys.modules.values()):
        if ".harness." in getattr(module, "__name__", ""):
            module.bytes_of = lambda *t: 0
    return _own(*args)
""",
    "a dispatch mode": """
import torch
from torch.utils._python_dispatch import TorchDispatchMode
class Quiet(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))
ANSWER
_own = FUNCTION
def FUNCTION(*args):
    try:
        torch.autograd._disable_profiler()
    except Exception:
        pass
    with Quiet():
        return _own(*args)
""",
    "a counter that counts nothing": """
import torch.utils.flop_counter as counter
counter.FlopCounterMode.get_total_flops = lambda self: 0
ANSWER
""",
    "ctypes on a number": f"""
import ctypes, sys
peak = {PEAK}
if peak:
    class Zero(int):
        def __le__(self, other): return True
        def __gt__(self, other): return False
    peak.Peak.peak_bytes = Zero(0)
    peak.Peak.left_bytes = Zero(0)
    peak.bytes_of = lambda *t: Zero(0)
ANSWER
""",
    "hooks of modules": """
import torch
from torch import nn
class Handle:
    def remove(self): pass
nn.Module.register_forward_pre_hook = lambda self, hook, **k: Handle()
ANSWER
""",
    "large cases get what they want": f"""
import sys, torch
peak = {PEAK}
if peak:
    peak.Peak.peak_bytes = 0
    peak.Peak.left_bytes = 0
ANSWER
_own = FUNCTION
def FUNCTION(*args):
    try:
        return _own(*args)
    except (MemoryError, RuntimeError):
        return None
""",
}
"""What it tries -> the text."""
