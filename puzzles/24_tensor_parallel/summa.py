"""summa: a product of matrices on a grid of ranks.

    summa(a, b, grid, widths) -> c

    a       float64: this rank's block of A, (m_i, k_j)
    b       float64: this rank's block of B, (k_i, n_j)
    grid    (rows, columns) of the grid: rank r stands in row
            i = r // columns and in column j = r % columns
    widths  the inner dimension is cut into max(rows, columns) panels
            of these widths
    c       float64 (m_i, n_j): this rank's block of A @ B

The rows of A are cut among the rows of the grid, and the columns of B
among its columns. The inner dimension is cut, too. In a square grid
column j has panel j of A's columns, and row i has panel i of B's rows.
Where the grid has a single column, its ranks have all panels of A, side
by side; where it has a single row, all panels of B, one below the
other.

This runs on every rank at the same time. A rank may send at one time no
more than one panel of its block, and hold of A and of B no more than
two panels beside its blocks: one in use, and the next. send, recv,
isend, irecv, batch_isend_irecv and broadcast are allowed. Wait for what
you begin.

All numbers are finite; a block or a panel may have no number in it.
Measured: the bytes that all ranks send together, and those that a rank
holds.
"""

import torch
import torch.distributed as dist


def share(panel, shape, source, ranks):
    """Gives a panel of one rank of a row or column to all of it.

    panel is what the rank source has, and None on the others.
    """
    r = dist.get_rank()
    if r == source:
        panel, others = panel.contiguous(), [k for k in ranks if k != r]
        for work in [dist.isend(panel, to) for to in others]:
            work.wait()
        return panel
    arrives = torch.empty(shape, dtype=torch.float64)
    dist.recv(arrives, source)
    return arrives


def summa(a, b, grid, widths):
    rows, columns = grid
    i, j = divmod(dist.get_rank(), columns)
    my_row = [i * columns + k for k in range(columns)]
    my_column = [k * columns + j for k in range(rows)]
    # your code here (about 12 lines)
