"""Wrong answers to vocab_parallel_cross_entropy that people give."""

import torch
import torch.distributed as dist


def largest_of_all(logits):
    """Returns the largest logit of each token over all ranks."""
    largest = logits.max(1).values
    dist.all_reduce(largest, op=dist.ReduceOp.MAX)
    return largest


def summed(x):
    """Returns the sum over the ranks."""
    total = x.clone()
    dist.all_reduce(total)
    return total


def own_targets(logits, targets, first):
    """Returns (rows, columns) of the right entries that this rank has."""
    place = targets - first
    mine = (place >= 0) & (place < logits.shape[1])
    return torch.arange(len(targets))[mine], place[mine]


def right_logits(logits, targets, first):
    """Returns the right logit of each token, on every rank."""
    rows, columns = own_targets(logits, targets, first)
    right = torch.zeros(len(logits), dtype=logits.dtype)
    right[rows] = logits[rows, columns]
    return summed(right)


def slope(shares, total, logits, targets, first):
    """Returns the softmax, less 1 at the right entry."""
    found = shares / total[:, None]
    rows, columns = own_targets(logits, targets, first)
    found[rows, columns] -= 1
    return found


# wrong-result, no-maximum: The logarithm of the sum of exponentials, as it stands in the book.
def without_a_maximum(logits, targets, first):
    shares = logits.exp()
    total = summed(shares.sum(1))
    loss = total.log() - right_logits(logits, targets, first)
    return loss, slope(shares, total, logits, targets, first)


# wrong-result, own-sum: A stable softmax, on each rank.
def sums_its_own(logits, targets, first):
    largest = logits.max(1).values
    shares = (logits - largest[:, None]).exp()
    total = shares.sum(1)
    loss = total.log() + largest - right_logits(logits, targets, first)
    return loss, slope(shares, total, logits, targets, first)


# wrong-result, different-maxima: A stable softmax takes off the maximum; then the sums are added.
def takes_off_its_own_maximum(logits, targets, first):
    largest = logits.max(1).values
    shares = (logits - largest[:, None]).exp()
    total = summed(shares.sum(1))
    loss = total.log() + largest - right_logits(logits, targets, first)
    return loss, slope(shares, total, logits, targets, first)


# wrong-result, maximum-left-out: The maximum only keeps exp small.
def forgets_the_maximum(logits, targets, first):
    shares = (logits - largest_of_all(logits)[:, None]).exp()
    total = summed(shares.sum(1))
    loss = total.log() - right_logits(logits, targets, first)
    return loss, slope(shares, total, logits, targets, first)


# wrong-result, target-of-another-rank: What this rank does not have is 0.
def knows_its_own_targets(logits, targets, first):
    largest = largest_of_all(logits)
    shares = (logits - largest[:, None]).exp()
    total = summed(shares.sum(1))
    rows, columns = own_targets(logits, targets, first)
    right = torch.zeros_like(largest)
    right[rows] = logits[rows, columns]
    return total.log() + largest - right, slope(shares, total, logits, targets, first)


# wrong-result, everybodys-logit: The place of the target in this rank's part, by the remainder.
def wraps_around(logits, targets, first):
    largest = largest_of_all(logits)
    shares = (logits - largest[:, None]).exp()
    total = summed(shares.sum(1))
    place = (targets - first) % logits.shape[1]
    right = summed(logits[torch.arange(len(targets)), place])
    return total.log() + largest - right, slope(shares, total, logits, targets, first)


# wrong-result, everybodys-logit: An index has to stay within the part.
def clamps(logits, targets, first):
    largest = largest_of_all(logits)
    shares = (logits - largest[:, None]).exp()
    total = summed(shares.sum(1))
    place = (targets - first).clamp(0, logits.shape[1] - 1)
    right = summed(logits[torch.arange(len(targets)), place])
    return total.log() + largest - right, slope(shares, total, logits, targets, first)


# wrong-result, target-not-taken-off: The gradient of a cross entropy is the softmax, is it not?
def returns_the_softmax(logits, targets, first):
    largest = largest_of_all(logits)
    shares = (logits - largest[:, None]).exp()
    total = summed(shares.sum(1))
    loss = total.log() + largest - right_logits(logits, targets, first)
    return loss, shares / total[:, None]


# wrong-result, mean-over-tokens: A loss is a mean.
def divides_by_the_tokens(logits, targets, first):
    largest = largest_of_all(logits)
    shares = (logits - largest[:, None]).exp()
    total = summed(shares.sum(1))
    loss = total.log() + largest - right_logits(logits, targets, first)
    return loss, slope(shares, total, logits, targets, first) / len(targets)


# wrong-result, own-softmax: The loss takes the whole sum, and the gradient the one at hand.
def divides_by_its_own_sum(logits, targets, first):
    largest = largest_of_all(logits)
    shares = (logits - largest[:, None]).exp()
    own = shares.sum(1)
    loss = summed(own).log() + largest - right_logits(logits, targets, first)
    return loss, slope(shares, own, logits, targets, first)


# over-budget, logits-sent: With all logits on every rank it is one call.
def gathers_the_logits(logits, targets, first):
    n, r = dist.get_world_size(), dist.get_rank()
    widths = [torch.zeros(1, dtype=torch.int64) for _ in range(n)]
    dist.all_gather(widths, torch.tensor([logits.shape[1]]))
    parts = [logits.new_empty(len(logits), int(width)) for width in widths]
    parts[r] = logits.clone()
    for rank in range(n):
        dist.broadcast(parts[rank], rank)
    whole = torch.cat(parts, 1).requires_grad_()
    loss = torch.nn.functional.cross_entropy(whole, targets, reduction="none")
    loss.sum().backward()
    return loss.detach(), whole.grad[:, first : first + logits.shape[1]].contiguous()


# over-budget, too-many-bytes: The loss is on every rank; yet it does no harm to ask the others.
def asks_for_everything(logits, targets, first):
    largest = largest_of_all(logits)
    shares = (logits - largest[:, None]).exp()
    total = summed(shares.sum(1))
    loss = total.log() + largest - right_logits(logits, targets, first)
    loss = summed(loss) / dist.get_world_size()
    return loss, slope(shares, total, logits, targets, first)


# input-changed, input-changed: Saves a large tensor.
def works_in_place(logits, targets, first):
    largest, right = largest_of_all(logits), right_logits(logits, targets, first)
    shares = logits.sub_(largest[:, None]).exp_()
    total = summed(shares.sum(1))
    loss = total.log() + largest - right
    return loss, slope(shares, total, logits, targets, first)
