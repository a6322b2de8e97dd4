"""What is made once and kept as long as it is asked for."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from typing import Any


class Kept:
    """The last few things that were made, by a key; threads may ask and keep at any time.

    Args:
        most: how many.

    >>> kept = Kept(2)
    >>> for name in "abac":
    ...     _ = kept.get(name) or kept.keep(name, name.upper())
    >>> list(kept.found)
    ['a', 'c']
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.found: OrderedDict[Any, Any] = OrderedDict()

    def get(self, key: Any) -> Any:
        """Returns what is kept, or None."""
        found = self.found.get(key)
        if found is not None:
            # Another thread may have dropped it meanwhile.
            with contextlib.suppress(KeyError):
                self.found.move_to_end(key)
        return found

    def keep(self, key: Any, value: Any) -> Any:
        """Keeps something, and drops what was asked for longest ago."""
        self.found[key] = value
        while len(self.found) > self.most:
            with contextlib.suppress(KeyError):
                self.found.popitem(last=False)
        return value
