"""Wrong answers to summa that people give. share is that of the stub."""

import torch
import torch.distributed as dist


def pieces(a, b, grid, widths, k):
    """Returns (of A, of B) for panel k, as `share` wants them; and the ranks that have them."""
    rows, columns = grid
    i, j = divmod(dist.get_rank(), columns)
    left = a.split(widths, 1)[k] if columns == 1 else a if j == k else None
    top = b.split(widths, 0)[k] if rows == 1 else b if i == k else None
    from_a = i * columns + (k if columns > 1 else 0)
    from_b = (k if rows > 1 else 0) * columns + j
    return left, top, from_a, from_b


def lines(grid):
    """Returns the ranks of this rank's row, and of its column."""
    rows, columns = grid
    i, j = divmod(dist.get_rank(), columns)
    return [i * columns + k for k in range(columns)], [k * columns + j for k in range(rows)]


def products(a, b, grid, widths):
    """Yields what each panel gives."""
    my_row, my_column = lines(grid)
    for k, width in enumerate(widths):
        left, top, from_a, from_b = pieces(a, b, grid, widths, k)
        left = share(left, (len(a), width), from_a, my_row)
        top = share(top, (width, b.shape[1]), from_b, my_column)
        yield left @ top


# wrong-result, own-blocks-alone: Block times block.
def multiplies_its_own(a, b, grid, widths):
    inner = min(a.shape[1], len(b))
    return a[:, :inner] @ b[:inner]


# wrong-result, last-panel-alone: c = in place of c +=.
def keeps_the_last_product(a, b, grid, widths):
    for product in products(a, b, grid, widths):
        c = product
    return c


# wrong-result, last-panel-missing: One step for each pair of neighbours.
def stops_before_the_last(a, b, grid, widths):
    found = list(products(a, b, grid, widths))
    return sum(found[:-1], torch.zeros_like(found[-1]))


# over-budget, panels-kept: First everything that is needed, then one product.
def gathers_before_it_multiplies(a, b, grid, widths):
    my_row, my_column = lines(grid)
    of_a, of_b = [], []
    for k, width in enumerate(widths):
        left, top, from_a, from_b = pieces(a, b, grid, widths, k)
        of_a.append(share(left, (len(a), width), from_a, my_row))
        of_b.append(share(top, (width, b.shape[1]), from_b, my_column))
    return torch.cat(of_a, 1) @ torch.cat(of_b, 0)


# hazard, all-wait: Every rank waits for its panel, also the one that has it.
def everybody_receives(a, b, grid, widths):
    my_row, my_column = lines(grid)
    c = torch.zeros(len(a), b.shape[1], dtype=a.dtype)
    for k, width in enumerate(widths):
        from_a = my_row[(my_row.index(dist.get_rank()) + 1) % len(my_row)]
        if len(my_row) > 1:
            left = torch.empty(len(a), width, dtype=a.dtype)
            dist.recv(left, from_a)
            c += left @ b[:width]
    return c


# over-budget, out-of-line: Whoever needs it will use it.
def sends_to_everybody(a, b, grid, widths):
    n, r = dist.get_world_size(), dist.get_rank()
    rows, columns = grid
    i, j = divmod(r, columns)
    sizes = [torch.zeros(4, dtype=torch.int64) for _ in range(n)]
    own = torch.tensor([*a.shape, *b.shape])
    of_a, of_b = {}, {}
    for rank in range(n):
        sizes[rank] = share(own.double(), (4,), rank, list(range(n))).long()
        m, p, q, w = sizes[rank].tolist()
        of_a[rank] = share(a if rank == r else None, (m, p), rank, list(range(n)))
        of_b[rank] = share(b if rank == r else None, (q, w), rank, list(range(n)))
    left = torch.cat([of_a[i * columns + k] for k in range(columns)], 1)
    top = torch.cat([of_b[k * columns + j] for k in range(rows)])
    return left @ top


# over-budget, too-many-bytes: The piece of A again in each step, just in case.
def sends_a_panel_twice(a, b, grid, widths):
    my_row, my_column = lines(grid)
    c = torch.zeros(len(a), b.shape[1], dtype=a.dtype)
    for k, width in enumerate(widths):
        left, top, from_a, from_b = pieces(a, b, grid, widths, k)
        for _ in range(2):
            panel = share(left, (len(a), width), from_a, my_row)
        c += panel @ share(top, (width, b.shape[1]), from_b, my_column)
    return c


# over-budget, more-than-a-panel: A and B of the rank in one message, to the row and to the
# column.
def hands_its_block_on_whole(a, b, grid, widths):
    my_row, my_column = lines(grid)
    c = torch.zeros(len(a), b.shape[1], dtype=a.dtype)
    for k, width in enumerate(widths):
        left, top, from_a, from_b = pieces(a, b, grid, widths, k)
        wide = None if left is None else torch.cat([left, left], 1)
        left = share(wide, (len(a), 2 * width), from_a, my_row)[:, :width]
        c += left @ share(top, (width, b.shape[1]), from_b, my_column)
    return c


# refused, library-collective: Sums over the ranks are all-reduces.
def asks_the_library(a, b, grid, widths):
    c = torch.zeros(len(a), b.shape[1], dtype=a.dtype)
    for product in products(a, b, grid, widths):
        c += product
    dist.all_reduce(torch.zeros(1))
    return c


# hazard, not-waited: The panel is on its way.
def does_not_wait(a, b, grid, widths):
    my_row, my_column = lines(grid)
    r = dist.get_rank()
    c = torch.zeros(len(a), b.shape[1], dtype=a.dtype)

    def hurried(panel, shape, source, ranks):
        if r == source:
            for to in ranks:
                if to != r:
                    dist.isend(panel.contiguous(), to)
            return panel
        arrives = torch.empty(shape, dtype=torch.float64)
        dist.recv(arrives, source)
        return arrives

    for k, width in enumerate(widths):
        left, top, from_a, from_b = pieces(a, b, grid, widths, k)
        left = hurried(left, (len(a), width), from_a, my_row)
        c += left @ hurried(top, (width, b.shape[1]), from_b, my_column)
    return c


# refused, narrowed: Half the bytes: what is sent need not be as exact as what is computed.
def sends_them_in_float32(a, b, grid, widths):
    my_row, my_column = lines(grid)
    c = torch.zeros(len(a), b.shape[1], dtype=a.dtype)
    for k, width in enumerate(widths):
        left, top, from_a, from_b = pieces(a, b, grid, widths, k)
        left = narrow_share(left, (len(a), width), from_a, my_row)
        top = narrow_share(top, (width, b.shape[1]), from_b, my_column)
        c += left @ top
    return c


def narrow_share(panel, shape, source, ranks):
    """Gives a panel to a row or column in float32."""
    r = dist.get_rank()
    if r != source:
        arrives = torch.empty(shape, dtype=torch.float32)
        dist.recv(arrives, source)
        return arrives.double()
    for rank in ranks:
        if rank != r:
            dist.send(panel.float().contiguous(), rank)
    return panel
