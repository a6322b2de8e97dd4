"""Streams, events, devices and contexts, as a script on the host asks for them.

The simulator runs each launch to its end before the next statement of the script. So every stream
is idle, every event has happened, and there is one device.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from simt.errors import UserError
from simt.foreign.kernel_names import unsupported
from simt.vocabulary.allocate import MAX_SHARED_BYTES, MAX_STATIC_BYTES


class Stream:
    """A queue of work that is always empty."""

    handle = 0
    external = False

    def synchronize(self) -> None:
        """Waits for the work in the stream: there is none."""

    @contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """Waits for the work in the stream at the end of a with block."""
        yield self

    def add_callback(self, callback: Callable[..., None], arg: Any = None) -> None:
        """Calls `callback(stream, status, arg)` once the work before it is done: at once."""
        callback(self, 0, arg)

    def async_done(self) -> asyncio.Future[Stream]:
        """Returns a future that is done once the work in the stream is."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Stream] = loop.create_future()

        def finish() -> None:
            if not done.cancelled():
                done.set_result(self)

        loop.call_soon(finish)
        return done

    def __int__(self) -> int:
        return self.handle

    def __repr__(self) -> str:
        return "<CUDA stream of the simulator>"


class Event:
    """A moment of the run; the time between two is the simulation's, never a GPU's."""

    def __init__(self, timing: bool = True) -> None:
        self.timing = timing
        self._at_s: float | None = None

    def record(self, stream: object = 0) -> None:
        """Notes the present moment."""
        self._at_s = time.perf_counter()

    def synchronize(self) -> None:
        """Waits until the event has happened: it has."""

    def wait(self, stream: object = 0) -> None:
        """Makes a stream wait for the event: it has happened."""

    def query(self) -> bool:
        """True: the work before the event is done."""
        return True

    def elapsed_time(self, evtend: Event) -> float:
        """Returns the milliseconds from this event to another, as the simulation ran."""
        if self._at_s is None or evtend._at_s is None:
            raise UserError("an event that was never recorded has no time", "call record first")
        return (evtend._at_s - self._at_s) * 1e3


class MemoryInfo(NamedTuple):
    """Bytes free and in total."""

    free: int
    total: int


class DeviceName(str):
    """The device's name, which scripts for older Numba decode from bytes."""

    def decode(self, *_: str) -> str:
        """Returns the name."""
        return str(self)


# CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", column 9.0; the
# number of multiprocessors is the simulator's own, small so that grids sized by it stay small.
_ATTRIBUTES = {
    "MULTIPROCESSOR_COUNT": 8,
    "WARP_SIZE": 32,
    "MAX_THREADS_PER_BLOCK": 1024,
    "MAX_BLOCK_DIM_X": 1024,
    "MAX_BLOCK_DIM_Y": 1024,
    "MAX_BLOCK_DIM_Z": 64,
    "MAX_GRID_DIM_X": 2**31 - 1,
    "MAX_GRID_DIM_Y": 65_535,
    "MAX_GRID_DIM_Z": 65_535,
    "MAX_SHARED_MEMORY_PER_BLOCK": MAX_STATIC_BYTES,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": MAX_SHARED_BYTES,
    "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": 228 * 1024,
    "MAX_REGISTERS_PER_BLOCK": 65_536,
    "MAX_REGISTERS_PER_MULTIPROCESSOR": 65_536,
    "MAX_THREADS_PER_MULTI_PROCESSOR": 2048,
    "MAX_BLOCKS_PER_MULTIPROCESSOR": 32,
    "TOTAL_CONSTANT_MEMORY": 65_536,
    "COMPUTE_CAPABILITY_MAJOR": 9,
    "COMPUTE_CAPABILITY_MINOR": 0,
    "CAN_MAP_HOST_MEMORY": 1,
    "UNIFIED_ADDRESSING": 1,
    "MANAGED_MEMORY": 1,
    "COOPERATIVE_LAUNCH": 1,
    "CONCURRENT_KERNELS": 1,
}


class Device:
    """The simulated GPU, with the limits of compute capability 9.0.

    The limits are attributes by their CUDA names, such as `MAX_THREADS_PER_BLOCK`.
    """

    id = 0
    name = DeviceName("simt simulator")
    compute_capability = (9, 0)
    uuid = "GPU-00000000-0000-0000-0000-000000000000"
    supports_float16 = False
    supports_bfloat16 = False

    def __getattr__(self, name: str) -> Any:
        if name in _ATTRIBUTES:
            return _ATTRIBUTES[name]
        if name.startswith("__"):
            raise AttributeError(name)
        raise unsupported(f"the device attribute {name}")

    @property
    def _device(self) -> Device:
        # What Numba's list of devices holds wraps the device; scripts reach through.
        return self

    def get_primary_context(self) -> Context:
        """Returns the one context."""
        return CONTEXT

    def reset(self) -> None:
        """Forgets what is on the device; arrays live as long as the script holds them."""

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __repr__(self) -> str:
        return "<CUDA device 0 'simt simulator'>"


class Deallocations:
    """What waits to be freed on the device: nothing ever does."""

    is_disabled = False

    def clear(self) -> None:
        """Frees what waits."""

    def __len__(self) -> int:
        return 0


class Context:
    """The one context of the simulated GPU."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.deallocations = Deallocations()

    def get_memory_info(self) -> MemoryInfo:
        """Returns 80 GB, all free: the simulator keeps no account of memory."""
        return MemoryInfo(free=80 * 10**9, total=80 * 10**9)

    def synchronize(self) -> None:
        """Waits for the device: it is idle."""

    def reset(self) -> None:
        """Forgets what is on the device; arrays live as long as the script holds them."""

    def push(self) -> None:
        """Makes this the current context: it is."""

    def pop(self) -> None:
        """Leaves this context current: there is no other."""

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise unsupported(f"the context's {name}")


class Devices:
    """The list of devices, which holds one."""

    def __init__(self, device: Device) -> None:
        self.lst = [device]
        self.current = device

    def __len__(self) -> int:
        return len(self.lst)

    def __iter__(self) -> Iterator[Device]:
        return iter(self.lst)

    def __getitem__(self, number: int) -> Device:
        return self.lst[number]

    def __repr__(self) -> str:
        return f"[{', '.join(map(repr, self.lst))}]"


DEVICE = Device()
CONTEXT = Context(DEVICE)
gpus = Devices(DEVICE)


def stream() -> Stream:
    """Returns a new stream."""
    return Stream()


def default_stream() -> Stream:
    """Returns the default stream."""
    return Stream()


legacy_default_stream = per_thread_default_stream = default_stream


def external_stream(ptr: int) -> Stream:
    """Returns a stream for one of another library, which the simulator cannot see."""
    return Stream()


def event(timing: bool = True) -> Event:
    """Returns an event that is not recorded yet."""
    return Event(timing)


def event_elapsed_time(evtstart: Event, evtend: Event) -> float:
    """Returns the milliseconds between two events, as the simulation ran."""
    return evtstart.elapsed_time(evtend)


def synchronize() -> None:
    """Waits for the device: it is idle."""


def select_device(device_id: int) -> Context:
    """Returns the context of a device.

    Raises:
        UserError: any device but number 0.
    """
    if int(device_id) != 0:
        raise UserError(f"there is no device {device_id}: the simulator is device 0, alone")
    return CONTEXT


def get_current_device() -> Device:
    """Returns the simulated device."""
    return DEVICE


def list_devices() -> Devices:
    """Returns the list of devices, which holds one."""
    return gpus


def current_context(devnum: int | None = None) -> Context:
    """Returns the one context."""
    return CONTEXT if devnum is None else select_device(devnum)


def close() -> None:
    """Destroys the context; the simulator has nothing to destroy."""


def detect() -> bool:
    """Prints what devices there are; True because there is one."""
    print("Found 1 CUDA devices")
    print(f"id 0    {DEVICE.name}    [SUPPORTED]")
    print(f"    Compute Capability: {'.'.join(map(str, DEVICE.compute_capability))}")
    return True


def is_available() -> bool:
    """True: the simulator is always there."""
    return True


def is_supported_version() -> bool:
    """True: the simulator needs no CUDA toolkit."""
    return True


def cuda_error() -> None:
    """Returns the reason why CUDA cannot start: none."""


def profile_start() -> None:
    """Starts the profiler: the simulator counts every launch anyway."""


def profile_stop() -> None:
    """Stops the profiler, which was never started."""


@contextmanager
def profiling() -> Iterator[None]:
    """Profiles a with block: the simulator counts every launch anyway."""
    yield


@contextmanager
def defer_cleanup() -> Iterator[None]:
    """Puts off freeing memory for a while, which means nothing to the simulator."""
    yield
