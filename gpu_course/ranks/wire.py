"""A process group that counts: every send, receive and collective of a rank, whatever API made it.

`Wire` holds an inner group (gloo on a CPU, NCCL on GPUs) and hands each call on, so DDP, FSDP,
DTensor and functional collectives pass through it like `dist.send`. Of each call it tells an event:
before it starts, when the rank waits for it, and when it is over. So whoever reads the events knows
at any moment where each rank stands.

Source: torch.distributed, "Third-party backends"; torch/csrc/distributed/c10d/PyProcessGroup.hpp.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from gpu_course.ranks.calls import Call

BACKEND = "wire"
LET_GO_S = 5.0
"""The most that a call waits for gloo to let go of its tensors, which takes it microseconds."""
LONGEST_PAUSE_S = 0.001
"""Between two looks whether it has."""

# PyTorch's method -> (the collective's name, the argument that holds what this rank brings). Both
# spellings of one collective are kept: 2.13 renamed several.
_COLLECTIVES: dict[str, tuple[str, int]] = {
    "allreduce": ("all_reduce", 0),
    "allreduce_coalesced": ("all_reduce", 0),
    "broadcast": ("broadcast", 0),
    "reduce": ("reduce", 0),
    "allgather": ("all_gather", 1),
    "allgather_coalesced": ("all_gather", 1),
    "_allgather_base": ("all_gather", 1),
    "all_gather_single": ("all_gather", 1),
    "all_gather_single_coalesced": ("all_gather", 1),
    "allgather_into_tensor_coalesced": ("all_gather", 1),
    "reduce_scatter": ("reduce_scatter", 1),
    "_reduce_scatter_base": ("reduce_scatter", 1),
    "reduce_scatter_single": ("reduce_scatter", 1),
    "reduce_scatter_single_coalesced": ("reduce_scatter", 1),
    "reduce_scatter_tensor_coalesced": ("reduce_scatter", 1),
    "alltoall": ("all_to_all", 1),
    "alltoall_base": ("all_to_all", 1),
    "all_to_all_single": ("all_to_all", 1),
    "gather": ("gather", 1),
    "scatter": ("scatter", 1),
    "barrier": ("barrier", 0),
    "monitored_barrier": ("barrier", 0),
}
_TO_ONE_PEER = {"send": "send", "recv": "recv", "recv_anysource": "recv"}


class Events:
    """Where a rank writes its events: lines of JSON in a pipe, each in one piece.

    Args:
        handle: the descriptor to write to.
        rank: who writes.
        file: the learner's file as tracebacks call it.

    Attributes:
        begun: how many calls this rank has begun.
    """

    def __init__(self, handle: int, rank: int, file: str) -> None:
        self.handle, self.rank, self.file = handle, rank, file
        self.begun = 0
        self._groups = 0
        self._numbers = itertools.count()
        self._places: dict[tuple[Any, ...], itertools.count[int]] = {}
        self._lock = threading.Lock()

    def call(
        self,
        kind: str,
        group: tuple[int, ...],
        tensors: Iterable[torch.Tensor],
        peer: int | None = None,
        tag: int = 0,
        **more: Any,
    ) -> int:
        """Tells that a call begins, with `more` of what `Call` holds, and returns its number."""
        held = list(tensors)
        with self._lock:
            own = (kind, peer, tag) if kind in ("send", "recv") else ()
            place = self._places.setdefault((group, *own), itertools.count())
            begun = Call(
                rank=self.rank,
                number=next(self._numbers),
                kind=kind,
                group=group,
                place=next(place),
                sizes=tuple(each.numel() for each in held),
                payload_bytes=sum(each.numel() * each.element_size() for each in held),
                peer=peer,
                tag=tag,
                line=self._line(),
                dtype="+".join(dict.fromkeys(str(each.dtype)[len("torch.") :] for each in held)),
                **more,
            )
            self.begun += 1
            self._tell({"call": asdict(begun)})
        return begun.number

    def waits(self, number: int) -> None:
        """Tells that the rank now waits for a call."""
        self._tell({"waits": number})

    def over(self, number: int) -> None:
        """Tells that it waits no longer."""
        self._tell({"over": number})

    def future(self, number: int) -> None:
        """Tells that somebody has taken a call's future, whose wait is not told."""
        self._tell({"future": number})

    def found(self, number: int, group: tuple[int, ...], peer: int, tag: int) -> None:
        """Tells from whom a message came that was received from any rank."""
        with self._lock:
            place = self._places.setdefault((group, "recv", peer, tag), itertools.count())
            self._tell({"found": {"number": number, "peer": peer, "place": next(place)}})

    def mark(self, number: int) -> None:
        """Tells that a place of the program is reached, among the calls before and after it."""
        self._tell({"mark": number})

    def is_first_group(self) -> bool:
        """Whether no group was made before this one: the runner makes the first."""
        with self._lock:
            self._groups += 1
            return self._groups == 1

    @contextmanager
    def making(self, group: tuple[int, ...], name: str) -> Iterator[None]:
        """Tells that a group is made, which waits for all that are in it, and then that it is.

        PyTorch counts a process's groups for their names: who left one out calls the next one
        otherwise than the others do.
        """
        numbered = name.isdecimal()
        made = {"group": group, "place": int(name) if numbered else 0, "tag": int(not numbered)}
        with self._lock:
            self._tell({"makes": {**made, "line": self._line()}})
        yield
        self._tell({"made": True})

    def ends_the_group(self) -> None:
        """Tells that the program ends the group that it was given."""
        with self._lock:
            self._tell({"ends": self._line()})

    def dropped(self, number: int) -> None:
        """Tells that nothing holds a call any more that nobody has waited for."""
        self._tell({"dropped": number})

    def _tell(self, message: dict[str, Any]) -> None:
        os.write(self.handle, json.dumps(message).encode() + b"\n")

    def _line(self) -> int:
        frame: Any = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == self.file:
                return int(frame.f_lineno)
            frame = frame.f_back
        return 0


class Lent:
    """The tensors of a call as gloo gets them: aliases that nobody else has.

    A call is over before gloo's thread lets go of its tensors. Were that thread the last to hold
    one it would free it as well, out of sight of a profiler, and what a rank holds would be counted
    by chance. An alias that is held here alone says that gloo has let go. So where a profiler is at
    work, a call is waited for until then. What gloo makes for itself in reduce_scatter is not seen.
    """

    def __init__(self) -> None:
        self._aliases: list[torch.Tensor] = []
        self._alone: list[int] = []

    def alias(self, brought: Any) -> Any:
        """Returns what a call is given, with an alias in place of each tensor on the CPU."""
        if isinstance(brought, list | tuple):
            return type(brought)(map(self.alias, brought))
        if type(brought) not in (torch.Tensor, torch.nn.Parameter) or brought.is_cuda:
            return brought
        self._aliases.append(brought.detach())
        self._alone.append(self._holders(-1))
        return self._aliases[-1]

    def come_back(self) -> None:
        """Waits until nothing but this holds an alias, for LET_GO_S at most."""
        until, pause = time.monotonic() + LET_GO_S, 0.0
        while self._are_held() and time.monotonic() < until:
            # The first pause only lets the other thread run.
            time.sleep(pause)
            pause = min(2 * pause + 1e-6, LONGEST_PAUSE_S)
        self._aliases.clear()

    def _are_held(self) -> bool:
        return any(self._holders(at) > alone for at, alone in enumerate(self._alone))

    def _holders(self, at: int) -> int:
        """Returns a number that is lowest while nothing else holds an alias, in C++ or Python."""
        # C++ has the object in Python as well, and gives it back after the tensor.
        shared = self._aliases[at]._use_count()  # type: ignore[attr-defined]
        return int(shared) + sys.getrefcount(self._aliases[at])


class Waited(dist.Work):
    """A call that is under way: waiting for it is told, and so is that nobody waits for it.

    Args:
        inner: gloo's or NCCL's work.
        events: where to tell.
        number: of the call.
        brought: what the call fills, which is held as long as this is.
        lent: the aliases that the inner work has.
        arrived: called with the inner work when it is over.
    """

    def __init__(
        self,
        inner: dist.Work,
        events: Events,
        number: int,
        *,
        brought: Any = None,
        lent: Lent | None = None,
        arrived: Callable[[dist.Work], None] | None = None,
    ) -> None:
        super().__init__()
        self._inner: dist.Work | None = inner
        self._events, self._number = events, number
        self._brought, self._lent = brought, lent
        self._arrived = arrived
        self._over = self._waited = False

    def __del__(self) -> None:
        if not self._over:
            self._events.dropped(self._number)

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        """Waits until the call is over."""
        if self._waited:
            # gloo's own second wait for a message never ends, and NCCL's returns at once.
            return True
        self._events.waits(self._number)
        done = True
        if self._inner is not None:
            done = bool(self._inner.wait(timeout) if timeout else self._inner.wait())
        self._waited = done
        self._is_over()
        return done

    def is_completed(self) -> bool:
        """Whether the call is over."""
        done = self._waited or self._inner is None or bool(self._inner.is_completed())
        if done:
            self._is_over()
        return done

    def _is_over(self) -> None:
        if self._arrived is not None:
            assert self._inner is not None
            self._arrived(self._inner)
            self._arrived = None
        if self._lent is not None:
            # The work has them as well; what is asked of it from here on is known without it.
            self._inner = None
            self._lent.come_back()
            self._lent = None
        self._over = True
        self._events.over(self._number)

    def get_future(self) -> Any:
        """Returns the inner call's future, as DDP asks for it."""
        self._events.future(self._number)
        if self._inner is None:
            future: Any = torch.futures.Future()
            future.set_result(_filled(self._brought))
            return future
        # It holds the aliases as long as somebody holds it.
        self._lent = None
        return self._inner.get_future()

    def _source_rank(self) -> int:
        assert self._inner is not None, "gloo tells it of a receive, which keeps its work"
        return int(self._inner._source_rank())


class Wire(dist.ProcessGroup):
    """One rank's end of a group whose calls are told.

    Args:
        options: PyTorch's, of the group to be made.
        events: where to tell.
    """

    def __init__(self, options: Any, events: Events) -> None:
        # PyTorch 2.13 states the other form of this alone, the one with a store.
        super().__init__(options.group_rank, options.group_size)  # type: ignore[call-arg]
        self._name = options.group_id
        self._events = events
        self._given = events.is_first_group()
        self._ranks = tuple(options.global_ranks_in_group) or tuple(range(options.group_size))
        with events.making(self._ranks, str(self._name)):
            self._inner = _inner_group(options)
        _made.add(self)

    @property
    def begun(self) -> int:
        """How many calls this rank has begun, in all its groups."""
        return self._events.begun

    @property
    def group_name(self) -> Any:
        """The name PyTorch registers the group under."""
        return self._name

    def getGroupName(self) -> str:  # noqa: N802 (C++ asks for it under this name)
        return str(self._name)

    def getBackendName(self) -> str:  # noqa: N802 (C++ asks for it under this name)
        return BACKEND

    def shutdown(self) -> None:
        """Ends this group; whether it is the one that the runner made is told."""
        if self._given:
            self._events.ends_the_group()
        self._inner.shutdown()
        _ended.append(self._inner)

    def let_go(self) -> None:
        """Ends the threads of the inner group, once they have done what they were given."""
        del self._inner

    def __repr__(self) -> str:
        return f"Wire(ranks {_listed(self._ranks)})"

    def _begin(self, kind: str, brought: Any, peer: int | None, tag: int = 0, **more: Any) -> int:
        there = peer is None or 0 <= peer < len(self._ranks)
        if not there:
            raise ValueError(self._no_such_rank(kind, peer))
        whom = None if peer is None else self._ranks[peer]
        number = self._events.call(kind, self._ranks, _tensors(brought), whom, tag, **more)
        if kind in ("send", "recv") and peer == self.rank():
            # gloo's own error comes later and names neither the rank nor what to do.
            way = "send to" if kind == "send" else "receive from"
            raise ValueError(f"{way} the rank itself: {whom}")
        return number

    def _no_such_rank(self, kind: str, peer: int | None) -> str:
        """Returns what is said of a peer or a root that this group does not have."""
        size = len(self._ranks)
        way = {"send": "send to", "recv": "receive from"}.get(kind, f"{kind} with root")
        which = "the ranks are" if self._given else f"the group of ranks {_listed(self._ranks)} has"
        lines = [f"{way} rank {peer}: {which} 0 to {size - 1}"]
        if kind in ("send", "recv"):
            lines.append(f"try: count round the ring, as (rank + 1) % {size} does,")
            lines.append("or leave out the rank that has no neighbour there")
        else:
            lines.append("try: name one of them, the same on all ranks")
        return "\n".join(lines)

    def _under_way(self, number: int, work: Any, **more: Any) -> Any:
        # What only returns when it is over, such as monitored_barrier, returns no work.
        told = isinstance(work, dist.Work)
        return Waited(work, self._events, number, **more) if told else work


_devices: list[Any] = []
"""What listens for this process's connections: one for all groups, made with the first of them."""


_ended: deque[dist.ProcessGroup] = deque(maxlen=8)
"""Groups that were ended last: while their connections are open, it is told whose they are."""


def _inner_group(options: Any) -> dist.ProcessGroup:
    """Returns a group of PyTorch's own over the same store."""
    store = dist.PrefixStore("wire/", options.store)
    rank, size = options.group_rank, options.group_size
    inner = dist.ProcessGroup(store, rank, size)
    if torch.cuda.is_available():
        own = dist.ProcessGroupNCCL.Options()
        own._timeout = options.timeout
        nccl = dist.ProcessGroupNCCL(dist.PrefixStore("nccl/", store), rank, size, own)
        kind = dist.ProcessGroup.BackendType.NCCL
        inner._register_backend(torch.device("cuda"), kind, nccl)
    make: Any = dist.ProcessGroupGloo
    if not _devices:
        _devices.append(make.create_default_device())
    given = make._Options()
    given._devices, given._timeout = _devices, options.timeout
    gloo = make(dist.PrefixStore("gloo/", store), rank, size, given)
    inner._register_backend(torch.device("cpu"), dist.ProcessGroup.BackendType.GLOO, gloo)
    inner._set_default_backend(dist.ProcessGroup.BackendType.GLOO)
    return inner


def _tensors(brought: Any) -> Iterable[torch.Tensor]:
    if isinstance(brought, torch.Tensor):
        yield brought
    elif isinstance(brought, list | tuple):
        for each in brought:
            yield from _tensors(each)


def _filled(brought: Sequence[Any]) -> list[Any]:
    """Returns the value of a call's future, as gloo gives it: the tensors that were filled."""
    filled = brought[0] if brought else []
    if isinstance(filled, torch.Tensor):
        return [filled]
    return list(filled[0]) if len(filled) == 1 and isinstance(filled[0], list) else list(filled)


def _listed(ranks: Iterable[int]) -> str:
    return ", ".join(map(str, ranks))


def _name_of(op: Any) -> str:
    """Returns the name of a reduction, such as "SUM"; "" for none."""
    return "" if op is None else str(getattr(op, "op", op)).rpartition(".")[2]


def _given_and_taken(arguments: Sequence[Any], size: int) -> dict[str, tuple[int, ...]]:
    """Returns how many elements an all-to-all takes from each rank, and gives to each."""
    found = {}
    for at, name in enumerate(("takes", "gives")):
        held = arguments[at]
        if isinstance(held, torch.Tensor):
            # Splits count rows; without them all parts are alike.
            splits = list(arguments[2 + at]) if len(arguments) > 4 else []
            rows = held.shape[0] if held.dim() else 0
            parts = splits or [rows // size] * size
            found[name] = tuple(part * (held.numel() // rows) if rows else 0 for part in parts)
        else:
            found[name] = tuple(each.numel() for each in held)
    # Whatever is no part for each rank, PyTorch refuses by itself.
    return found if all(len(parts) == size for parts in found.values()) else {}


def _collective(name: str, kind: str, at: int) -> Callable[..., Any]:
    def call(self: Wire, *arguments: Any, **named: Any) -> Any:
        brought = arguments[at] if kind != "barrier" and at < len(arguments) else ()
        options = arguments[-1] if arguments else None
        root, op = getattr(options, "rootRank", None), getattr(options, "reduceOp", None)
        more: dict[str, Any] = {"op": _name_of(op)}
        if kind == "all_to_all" and len(arguments) > 1:
            more |= _given_and_taken(arguments, len(self._ranks))
        number = self._begin(kind, brought, root, **more)
        begin = getattr(self._inner, name)
        if not torch.autograd._profiler_enabled():
            return self._under_way(number, begin(*arguments, **named))
        lent = Lent()
        work = begin(*map(lent.alias, arguments), **named)
        return self._under_way(number, work, brought=arguments[:1], lent=lent)

    return call


def _to_one_peer(name: str, kind: str) -> Callable[..., Any]:
    def call(self: Wire, tensors: Any, *rest: Any) -> Any:
        peer, tag = rest if len(rest) == 2 else (None, *rest)
        number = self._begin(kind, tensors, peer, tag)

        def from_whom(work: dist.Work) -> None:
            source = self._ranks[int(work._source_rank())]
            self._events.found(number, self._ranks, source, tag)

        work = getattr(self._inner, name)(tensors, *rest)
        return self._under_way(number, work, arrived=from_whom if peer is None else None)

    return call


for _name, (_kind, _at) in _COLLECTIVES.items():
    setattr(Wire, _name, _collective(_name, _kind, _at))
for _name, _kind in _TO_ONE_PEER.items():
    setattr(Wire, _name, _to_one_peer(_name, _kind))


_made: weakref.WeakSet[Wire] = weakref.WeakSet()
_registered: list[Events] = []


def end_threads() -> None:
    """Ends the threads of all groups that were destroyed here: they must not outlive Python.

    A mesh in one of DTensor's caches keeps its groups to the end of the process. A thread of gloo's
    that then lets go of a tensor asks for an interpreter that is no more, and the process aborts.
    """
    for each in list(_made):
        each.let_go()
    _made.clear()
    _ended.clear()
    _devices.clear()


def mark(number: int) -> None:
    """Tells the runner that this rank has come to a place of its program; without one, nothing.

    For whoever watches a program, to see which calls begin before the place and which after it.

    Args:
        number: of the place, as its reader knows it; 0 or more.
    """
    for events in _registered:
        events.mark(number)


def follow(file: str) -> None:
    """From now on the lines told are those of this file, as tracebacks call it."""
    for events in _registered:
        events.file = file


def register(events: Events) -> None:
    """Makes BACKEND a backend of torch.distributed in this process, telling these events."""
    _registered[:] = [events]
    dist.Backend.register_backend(
        BACKEND,
        lambda options, _: Wire(options, events),
        extended_api=True,
        devices=["cpu", "cuda"],
    )
