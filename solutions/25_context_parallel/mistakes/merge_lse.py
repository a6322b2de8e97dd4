"""Wrong answers to merge_lse that people give."""

import torch


def merged(out, lse, other_out, other_lse):
    """Returns (out, lse) as it should be."""
    both = torch.logaddexp(lse, other_lse)
    safe = both.masked_fill(both == -torch.inf, 0.0)
    one, two = (torch.exp(each - safe).unsqueeze(-1) for each in (lse, other_lse))
    return one * out + two * other_out, both


# wrong-result, added: Attention adds up values, so two attentions are added up.
def adds_both(out, lse, other_out, other_lse):
    return out + other_out, merged(out, lse, other_out, other_lse)[1]


# wrong-result, averaged: Two means of as many keys: half of each.
def takes_the_middle(out, lse, other_out, other_lse):
    return (out + other_out) / 2, merged(out, lse, other_out, other_lse)[1]


# wrong-result, overflow: The formula of the softmax, written down as it stands.
def takes_exp_of_everything(out, lse, other_out, other_lse):
    one, two = torch.exp(lse), torch.exp(other_lse)
    total = one + two
    safe = torch.where((lse == -torch.inf) & (other_lse == -torch.inf), torch.ones_like(one), total)
    mean = (one.unsqueeze(-1) * out + two.unsqueeze(-1) * other_out) / safe.unsqueeze(-1)
    return mean, torch.log(total)


# wrong-result, blind: The maximum is taken off, whatever it is.
def subtracts_without_asking(out, lse, other_out, other_lse):
    both = torch.logaddexp(lse, other_lse)
    one, two = (torch.exp(each - both).unsqueeze(-1) for each in (lse, other_lse))
    return one * out + two * other_out, both


# wrong-result, logs-added: Sums of exp are added, so their logarithms are.
def adds_logarithms(out, lse, other_out, other_lse):
    return merged(out, lse, other_out, other_lse)[0], lse + other_lse


# wrong-result, maximum-alone: The maximum is what goes on to the next block.
def keeps_the_larger(out, lse, other_out, other_lse):
    return merged(out, lse, other_out, other_lse)[0], torch.maximum(lse, other_lse)


# wrong-result, lse-kept: lse was there to merge with; what is wanted is out.
def keeps_the_old_lse(out, lse, other_out, other_lse):
    return merged(out, lse, other_out, other_lse)[0], lse


# wrong-result, shares-swapped: Which of the two is the old one?
def shares_the_other_way(out, lse, other_out, other_lse):
    return merged(other_out, lse, out, other_lse)


# wrong-result, not-divided: The division comes at the very end, of all blocks.
def forgets_to_divide(out, lse, other_out, other_lse):
    one, two = (torch.exp(each).unsqueeze(-1) for each in (lse, other_lse))
    return one * out + two * other_out, torch.logaddexp(lse, other_lse)


# wrong-result, logs-as-weights: lse is the weight of a part.
def weighs_by_the_logarithm(out, lse, other_out, other_lse):
    share = (lse / (lse + other_lse)).unsqueeze(-1)
    return share * out + (1 - share) * other_out, torch.logaddexp(lse, other_lse)


# wrong-result, swapped: The log-sum-exp is in the name.
def lse_first(out, lse, other_out, other_lse):
    mean, both = merged(out, lse, other_out, other_lse)
    return both, mean


# wrong-result, not-a-pair: lse was needed for the weights; now it has served.
def out_alone(out, lse, other_out, other_lse):
    return merged(out, lse, other_out, other_lse)[0]


# input-changed, input-changed: The running result is kept where it is.
def writes_into_out(out, lse, other_out, other_lse):
    mean, both = merged(out, lse, other_out, other_lse)
    out.copy_(mean)
    return out, both
