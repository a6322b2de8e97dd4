"""Wrong answers to k_directions that people give."""

import torch


# wrong-result, sum: A sum is k times too large.
def adds_up(loss, point, normals):
    estimate = torch.zeros_like(point)
    k, d = normals.shape
    frame = torch.linalg.qr(normals.T).Q.T * d**0.5
    for v in frame:
        _, slope = torch.func.jvp(loss, (point,), (v,))
        estimate += slope * v
    return estimate


# wrong-result, length-one: Too short: the estimate is a d-th of what it should be.
def of_length_one(loss, point, normals):
    estimate = torch.zeros_like(point)
    k, d = normals.shape
    frame = torch.linalg.qr(normals.T).Q.T
    for v in frame:
        _, slope = torch.func.jvp(loss, (point,), (v,))
        estimate += slope * v / k
    return estimate


# wrong-result, too-long: Too long: the length stands twice in the estimate.
def of_length_d(loss, point, normals):
    estimate = torch.zeros_like(point)
    k, d = normals.shape
    frame = torch.linalg.qr(normals.T).Q.T * d
    for v in frame:
        _, slope = torch.func.jvp(loss, (point,), (v,))
        estimate += slope * v / k
    return estimate


# wrong-result, projection: A projection, and shorter than the gradient.
def the_part_in_the_space(loss, point, normals):
    estimate = torch.zeros_like(point)
    k, d = normals.shape
    frame = torch.linalg.qr(normals.T).Q.T
    for v in frame:
        _, slope = torch.func.jvp(loss, (point,), (v,))
        estimate += slope * v
    return estimate


# wrong-result, not-apart: They overlap.
def normals_as_they_come(loss, point, normals):
    estimate = torch.zeros_like(point)
    k, d = normals.shape
    frame = normals
    for v in frame:
        _, slope = torch.func.jvp(loss, (point,), (v,))
        estimate += slope * v / k
    return estimate


# wrong-result, only-length: Of one length, and not at right angles.
def right_length_alone(loss, point, normals):
    estimate = torch.zeros_like(point)
    k, d = normals.shape
    frame = normals / normals.norm(dim=1, keepdim=True) * d**0.5
    for v in frame:
        _, slope = torch.func.jvp(loss, (point,), (v,))
        estimate += slope * v / k
    return estimate


# wrong-result, the-gradient: No estimate at all.
def the_gradient_itself(loss, point, normals):
    at = point.clone().requires_grad_()
    return torch.autograd.grad(loss(at), at)[0]


# over-budget, keeps-a-graph: Right, with all the memory that was to be saved.
def by_backward_pass(loss, point, normals):
    at = point.clone().requires_grad_()
    gradient = torch.autograd.grad(loss(at), at)[0]
    frame = torch.linalg.qr(normals.T).Q
    k, d = normals.shape
    return d / k * frame @ (frame.T @ gradient)


# wrong-result, inputs-changed: The normals are shortened where they lie.
def shortens_the_normals_themselves(loss, point, normals):
    k, d = normals.shape
    normals /= normals.norm(dim=1, keepdim=True)
    estimate = torch.zeros_like(point)
    for v in torch.linalg.qr(normals.T).Q.T * d**0.5:
        _, slope = torch.func.jvp(loss, (point,), (v,))
        estimate += slope * v / k
    return estimate
