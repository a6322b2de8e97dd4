"""One thread for PyTorch's operators: sums in a fixed order, and no waiting on small tensors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Returns a context in which operators run in one thread; afterwards they have what they had.

    The order of a sum, and so its last digits, hang on the number of threads; and where tensors are
    small, or the machine has other work, a second thread is waited for longer than it helps.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
