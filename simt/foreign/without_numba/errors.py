"""The warnings and errors of Numba that scripts silence or catch; nothing here raises them."""

from __future__ import annotations


class NumbaWarning(Warning):
    """The base of all warnings."""


class NumbaPerformanceWarning(NumbaWarning):
    """Something is slow: a grid too small for the GPU, arrays of the host at a launch."""


class NumbaDeprecationWarning(NumbaWarning, DeprecationWarning):
    """Something will go."""


class NumbaPendingDeprecationWarning(NumbaWarning, PendingDeprecationWarning):
    """Something will go, later."""


class NumbaExperimentalFeatureWarning(NumbaWarning):
    """Something may change."""


class NumbaDebugInfoWarning(NumbaWarning):
    """A debugger will miss something."""


class NumbaTypeSafetyWarning(NumbaWarning):
    """A type is converted to one that holds less."""


class NumbaError(Exception):
    """The base of all errors."""


class UnsupportedError(NumbaError):
    """What the compiler does not take."""


class TypingError(NumbaError):
    """A value without a type."""


class LoweringError(NumbaError):
    """What has a type and cannot be compiled."""
