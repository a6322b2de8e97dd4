"""What a kernel's names hold: one value for all lanes, or one for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Value = Any
"""A NumPy scalar where all lanes agree, else a vector, one entry per lane; or a tuple of them."""


@dataclass
class Variable:
    """A local variable: its value, and the lanes that have assigned it (None: all of them)."""

    value: Value
    defined: np.ndarray | None
