"""Every way to import the module, under the two names it goes by."""

import numba
import numba.cuda
import numba.cuda as nc
import numba_cuda_mlir.cuda as mlir
import numpy as np
from numba import cuda
from numba.cuda import grid, jit, syncthreads, threadIdx
from numba.cuda import shared as memory
from numba_cuda_mlir import cuda as successor
from numba_cuda_mlir import int32


@jit
def by_names(x):
    own = memory.array(32, int32)
    own[threadIdx.x] = grid(1)
    syncthreads()
    x[grid(1)] += own[31 - threadIdx.x]


@numba.cuda.jit
def by_package(x):
    x[numba.cuda.grid(1)] += 100


@nc.jit
def by_alias(x):
    x[nc.grid(1)] += 1000


@mlir.jit
def by_successor(x):
    x[mlir.grid(1)] += 10_000


x = np.zeros(32, np.int32)
for kernel in (by_names, by_package, by_alias, by_successor):
    kernel[1, 32](x)
print(x[0], x[31], cuda is nc is mlir is successor is numba.cuda)
