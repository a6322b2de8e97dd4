"""Wrong answers to galore_project that people give."""

import torch


# wrong-result, wrong-side: Right for wide matrices, and the longer side for tall ones.
def always_from_the_left(gradient, rank):
    left, _, _ = torch.linalg.svd(gradient, full_matrices=False)
    basis = left[:, :rank].clone()
    return basis, basis.T @ gradient


# wrong-result, rows-for-columns: svd gives the right vectors as rows.
def right_vectors_as_they_come(gradient, rank):
    left, _, right = torch.linalg.svd(gradient, full_matrices=False)
    if gradient.shape[0] <= gradient.shape[1]:
        basis = left[:, :rank].clone()
        return basis, basis.T @ gradient
    basis = right[:rank].clone()
    return basis, gradient @ basis.T


# wrong-result, not-unit: Takes the weights for a part of the basis.
def weights_in_the_basis(gradient, rank):
    left, weights, right = torch.linalg.svd(gradient, full_matrices=False)
    if gradient.shape[0] <= gradient.shape[1]:
        basis = left[:, :rank] * weights[:rank]
        return basis, basis.T @ gradient
    basis = right[:rank].T * weights[:rank]
    return basis, gradient @ basis


# wrong-result, last-directions: svd's order is from heavy to light.
def the_last_directions(gradient, rank):
    left, _, right = torch.linalg.svd(gradient, full_matrices=False)
    if gradient.shape[0] <= gradient.shape[1]:
        basis = left[:, -rank:].clone()
        return basis, basis.T @ gradient
    basis = right[-rank:].T.clone()
    return basis, gradient @ basis


# wrong-result, other-order: Both are right, and in the other order.
def gradient_before_basis(gradient, rank):
    left, _, right = torch.linalg.svd(gradient, full_matrices=False)
    if gradient.shape[0] <= gradient.shape[1]:
        basis = left[:, :rank].clone()
        return basis.T @ gradient, basis
    basis = right[:rank].T.clone()
    return gradient @ basis, basis


# wrong-result, small-shape: What svd calls the middle one.
def weights_for_the_gradient(gradient, rank):
    left, weights, right = torch.linalg.svd(gradient, full_matrices=False)
    small = torch.diag(weights[:rank])
    if gradient.shape[0] <= gradient.shape[1]:
        return left[:, :rank].clone(), small
    return right[:rank].T.clone(), small


# wrong-result, no-pair: And the gradient in it?
def basis_alone(gradient, rank):
    left, _, right = torch.linalg.svd(gradient, full_matrices=False)
    if gradient.shape[0] <= gradient.shape[1]:
        return left[:, :rank].clone()
    return right[:rank].T.clone()


# wrong-result, not-the-main: Any directions at right angles, whatever the gradient.
def directions_by_chance(gradient, rank):
    side = min(gradient.shape)
    basis = torch.linalg.qr(torch.randn(side, rank, dtype=gradient.dtype))[0]
    if gradient.shape[0] <= gradient.shape[1]:
        return basis, basis.T @ gradient
    return basis, gradient @ basis


# over-budget, whole-basis: A slice of all singular vectors keeps them all.
def a_view_of_all_vectors(gradient, rank):
    left, _, right = torch.linalg.svd(gradient, full_matrices=False)
    if gradient.shape[0] <= gradient.shape[1]:
        basis = left[:, :rank]
        return basis, basis.T @ gradient
    basis = right[:rank].T
    return basis, gradient @ basis


# wrong-result, seven-digits: Half of the digits, in a basis of float64.
def directions_in_float32(gradient, rank):
    left, _, right = torch.linalg.svd(gradient.float(), full_matrices=False)
    if gradient.shape[0] <= gradient.shape[1]:
        basis = left[:, :rank].double()
        return basis, basis.T @ gradient
    basis = right[:rank].T.double().contiguous()
    return basis, gradient @ basis
