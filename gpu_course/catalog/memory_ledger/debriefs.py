"""What a learner reads after a pass in lesson 16."""

from __future__ import annotations

from gpu_course.catalog.specification import Debrief

ADAM_BYTES = Debrief(
    shows=("result",),
    why=(
        "Everything here is so many bytes for each number of a parameter, and the sum over the "
        "tensors does the rest. The moments only come into being with the first update, which is "
        "why a run can fail in its second step and not in its first."
    ),
    alternative=(
        "Per parameter tensor or over all numbers at once: the sum is the same. Only the step "
        "counters go by tensors."
    ),
)

LEDGER = Debrief(
    shows=("kept_bytes",),
    why=(
        "Autograd tells a hook of each tensor that it saves, and a storage is known by where it "
        "begins. Counting storages instead of tensors counts views and repeats once."
    ),
    alternative=(
        "You can also walk the graph from the output backwards and ask each node what it saved. "
        "There the names differ from operation to operation; a hook sees all tensors alike."
    ),
)

EXPLAIN_THE_GAP = Debrief(
    shows=("result",),
    why=(
        "The paper counts bytes for one implementation and one precision. PyTorch's own choices "
        "for masks, statistics and the softmax account for all the rest, byte by byte."
    ),
    alternative=(
        "You can derive each term from what the backward pass needs, or measure layers that "
        "differ in one thing and subtract. Both lead to the same four terms."
    ),
)

ACCUMULATE = Debrief(
    shows=("peak_bytes",),
    why=(
        "The gradient of a sum is the sum of the gradients, and backward() adds to what is there. "
        "Weighting each part by its rows makes the mean of unequal parts right."
    ),
    alternative=(
        "Scale each loss before its backward pass, or scale the gradients once at the end. The "
        "first touches one number per part, the second every gradient."
    ),
)
