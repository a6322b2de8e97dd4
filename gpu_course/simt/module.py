"""The drop-in for `numba.cuda`, under the name that scripts import: `simt.foreign.cuda`."""

import sys

from simt.foreign import cuda

# The very module and not a copy of its names: it answers any name, and refuses by name.
sys.modules[__name__] = cuda
