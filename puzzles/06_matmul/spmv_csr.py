"""spmv_csr: a sparse matrix times a vector, a warp for each row.

    spmv_csr(out, values, columns, starts, x, rows)

    out      float32 (rows,)      to write: the row's sum of
                                  value * x[column]
    values   float32 (entries,)   to read: what is not zero, row by row
    columns  int32 (entries,)     to read: the column of each value
    starts   int32 (rows + 1,)    to read: where each row's entries
                                  begin; row r has the entries from
                                  starts[r] up to starts[r + 1]
    x        float32 (cols,)      to read
    rows     int                  how many rows the matrix has

This way to keep a matrix is called CSR, compressed sparse rows. A row
may be empty. A block has 32 threads along x and WARPS along y: the 32
threads with one threadIdx.y are a warp, and have one row. The lanes go
along it side by side, and each thread writes at most one cell.

An entry counts even where its value or its x is 0, for 0 times infinity
is NaN. What x holds in columns of no entry, NaN or infinity, counts
nowhere.
"""

from numba import cuda, float32, int64, uint32

WARPS = 4
ALL = 0xFFFFFFFF


@cuda.jit
def spmv_csr(out, values, columns, starts, x, rows):
    lane = uint32(cuda.threadIdx.x)
    row = uint32(cuda.blockIdx.x) * WARPS + uint32(cuda.threadIdx.y)
    # your code here (about 15 lines)
