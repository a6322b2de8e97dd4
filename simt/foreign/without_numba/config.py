"""Settings of Numba that scripts ask for or set; they change nothing here."""

DISABLE_JIT = True
ENABLE_CUDASIM = False
CUDA_LOW_OCCUPANCY_WARNINGS = True
CUDA_WARN_ON_IMPLICIT_COPY = True
NUMBA_NUM_THREADS = 1
THREADING_LAYER = "default"
