"""A process becomes a rank: its wire, its place in the world, and the group of all."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import signal
import warnings
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import torch.distributed as dist

from gpu_course.ranks import wire

EVENTS = 3
"""The descriptor a rank's events go to: the first behind the standard streams."""
MEETING = 4
"""That of the socket rank 0 serves the store of all ranks at."""


def join(world: Mapping[str, Any]) -> None:
    """Initialises the default group of a rank that a runner started.

    Args:
        world: "rank", "size", "port" of the store on this machine, "file" as tracebacks will call
            the answer, "seconds" after which a call gives up by itself, and "confined", False where
            nobody measures from outside what the rank holds.
    """
    rank, size = world["rank"], world["size"]
    if not world["confined"]:
        _keep_blocks()
    timeout = timedelta(seconds=world["seconds"])
    # As torchrun tells a rank who it is: libraries, Accelerate among them, ask for it.
    os.environ.update(
        RANK=str(rank),
        LOCAL_RANK=str(rank),
        WORLD_SIZE=str(size),
        LOCAL_WORLD_SIZE=str(size),
        MASTER_ADDR="127.0.0.1",
        MASTER_PORT=str(world["port"]),
    )
    wire.register(wire.Events(EVENTS, rank, world["file"]))
    if hasattr(signal, "SIGUSR1"):
        # Whoever runs the ranks can ask one that tells nothing where it is.
        faulthandler.register(signal.SIGUSR1, EVENTS, all_threads=False)
        # And where it falls, it says that there too.
        faulthandler.enable(EVENTS, all_threads=False)
    # PyTorch 2.13 gave collectives new names, and says so in each rank at each use of an old one,
    # which every tutorial has. It is no fault of a program; all else that warns is shown.
    warnings.filterwarnings("ignore", r"`torch\.distributed\.\S+` .*deprecated", FutureWarning)
    # Not waiting for the others here saves a round: the group waits for all of them anyway.
    store = dist.TCPStore(
        "127.0.0.1",
        world["port"],
        size,
        is_master=rank == 0,
        timeout=timeout,
        wait_for_workers=False,
        master_listen_fd=MEETING if rank == 0 else None,
    )
    dist.init_process_group(wire.BACKEND, store=store, rank=rank, world_size=size, timeout=timeout)


_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
"""Of glibc's mallopt."""
_KEPT_BYTES = 32 << 20
"""The largest threshold that glibc takes for a block of its own."""


def _keep_blocks() -> None:
    """Has the C library keep what is freed: a step of training asks for the same blocks again.

    The forkserver's environment gives every larger block back to the system, for the sake of checks
    that measure what an answer holds. That takes as long as the steps of a small model themselves.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_MMAP_THRESHOLD, _KEPT_BYTES)
        mallopt(_M_TRIM_THRESHOLD, 8 * _KEPT_BYTES)
