"""galore_project: a gradient in its main directions.

    galore_project(gradient, rank) -> (basis, small)

    gradient   float64 (rows, columns), finite
    rank       how many directions to keep: from 1 to as many as the
               shorter side has

Return the `rank` main directions of the gradient on its shorter side as
the columns of `basis`, and the gradient in these directions as `small`:

    rows <= columns   basis (rows, rank), small (rank, columns):
                      basis @ small comes closest
    rows >  columns   basis (columns, rank), small (rows, rank):
                      small @ basis.T comes closest

Directions have length 1 and are at right angles to each other.

Measured: both shapes, what comes back, and the bytes of all storages
behind the two results, which leave room for nothing else.
"""

import torch


def galore_project(gradient, rank):
    basis = small = None
    # answer
    left, _, right = torch.linalg.svd(gradient, full_matrices=False)
    if gradient.shape[0] <= gradient.shape[1]:
        basis = left[:, :rank].clone()
        small = basis.T @ gradient
    else:
        basis = right[:rank].T.clone()
        small = gradient @ basis
    # end answer
    return basis, small
