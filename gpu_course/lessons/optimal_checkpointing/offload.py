"""A chain that sends what it saves to another memory, and fetches it back: offload, counted."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn
from torch.multiprocessing.reductions import StorageWeakRef

from gpu_course.measure.peak import measure_peak
from gpu_course.measure.saved import storages
from gpu_course.measure.schedules.rules import check_loss, run_stage


@dataclass(frozen=True)
class Offloaded:
    """What a step took.

    Attributes:
        loss: of the batch.
        peak_bytes: the most bytes alive at one time in PyTorch's memory, which stands for the
            device; above parameters, gradients and batch.
        sent_bytes: from the device to the host on the way forward, each storage once.
        fetched_bytes: back to the device on the way back, each time an operator asks.
        host_bytes: the most the host held at one time.
    """

    loss: float
    peak_bytes: int
    sent_bytes: int
    fetched_bytes: int
    host_bytes: int


@dataclass(frozen=True, eq=False)
class _Parcel:
    """The bytes of a storage, on the host: in NumPy's memory, which PyTorch's allocator sees not.

    Attributes:
        contents: all of the storage.
        origin: keeps the storage's number from being given to another one while this is here.
    """

    contents: np.ndarray
    origin: StorageWeakRef


@dataclass
class _Host:
    """The other memory.

    Attributes:
        stays: the storages that are on the device anyway: parameters, buffers and the batch.
    """

    stays: set[int]
    sent: int = 0
    fetched: int = 0
    held: int = 0
    most: int = 0
    parcels: weakref.WeakValueDictionary[int, _Parcel] = field(
        default_factory=weakref.WeakValueDictionary
    )

    def pack(self, tensor: Tensor) -> Tensor | tuple[_Parcel, Tensor]:
        storage = tensor.untyped_storage()
        if storage._cdata in self.stays or not storage.nbytes():
            return tensor
        parcel = self.parcels.get(storage._cdata)
        if parcel is None:
            flat = torch.empty(0, dtype=torch.uint8).set_(storage)  # type: ignore[call-overload]
            parcel = _Parcel(flat.numpy().copy(), StorageWeakRef(storage))
            self.parcels[storage._cdata] = parcel
            self.sent += storage.nbytes()
            self.held += storage.nbytes()
            self.most = max(self.most, self.held)
            weakref.finalize(parcel, self._let_go, storage.nbytes())
        # A tensor without memory remembers shape, strides, offset and type.
        return parcel, torch.empty(0, dtype=tensor.dtype, device="meta").set_(
            torch.UntypedStorage(storage.nbytes(), device="meta"),
            tensor.storage_offset(),
            tensor.size(),
            tensor.stride(),
        )

    def unpack(self, packed: Tensor | tuple[_Parcel, Tensor]) -> Tensor:
        if isinstance(packed, Tensor):
            return packed
        parcel, like = packed
        back = torch.empty(len(parcel.contents), dtype=torch.uint8)
        back.numpy()[:] = parcel.contents
        self.fetched += len(parcel.contents)
        return torch.empty(0, dtype=like.dtype).set_(
            back.untyped_storage(), like.storage_offset(), like.size(), like.stride()
        )

    def _let_go(self, size: int) -> None:
        self.held -= size


def run_offloaded(
    stages: Sequence[nn.Module], batch: Tensor, away: Collection[int] = ()
) -> Offloaded:
    """Returns what a forward and a backward pass take when some stages send what they save away.

    Their saved tensors go through `torch.autograd.graph.saved_tensors_hooks`, as those of PyTorch's
    `save_on_cpu` do. That one sends each saved tensor by itself, weights included; here a storage
    travels once, and what is on the device anyway stays there. Gradients are added to the
    parameters' .grad, to the bit of the plain run's.

    Args:
        stages: modules of one input and one output, the last of which computes the loss.
        batch: what the first stage gets.
        away: the numbers of the stages whose saved tensors are sent.

    Raises:
        CourseError: a stage that no schedule could run: see `rules.run_stage`.
    """
    known = set().union(*(storages(stage) for stage in stages))
    host = _Host(known | {batch.untyped_storage()._cdata})

    def run() -> float:
        value = batch
        for number, stage in enumerate(stages):
            sending = torch.autograd.graph.saved_tensors_hooks(host.pack, host.unpack)
            with sending if number in away else nullcontext():
                value = run_stage(number, stage, value)
        check_loss(stages, value)
        value.backward()  # type: ignore[no-untyped-call]
        return value.item()

    peak = measure_peak(run)
    return Offloaded(peak.value, peak.peak_bytes, host.sent, host.fetched, host.most)
