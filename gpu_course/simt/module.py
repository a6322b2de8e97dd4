"""The drop-in for `numba.cuda`, under the name that scripts import: `simt.foreign.cuda`."""

import sys

from simt.foreign import cuda
from simt.kernel.source import MODULES

# A file of kernels is read and not run: there this name must mean the same.
MODULES[__name__] = "cuda"
# The very module and not a copy of its names: it answers any name, and refuses by name.
sys.modules[__name__] = cuda
