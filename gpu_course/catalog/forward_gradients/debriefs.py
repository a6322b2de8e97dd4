"""What a learner reads after a pass in lesson 19."""

from __future__ import annotations

from gpu_course.catalog.specification import Debrief

FORWARD_GRADIENT = Debrief(
    shows=("peak_bytes",),
    why=(
        "A forward pass can carry the slope along one direction with it and keeps nothing for "
        "later. On average over the directions, slope times direction is the gradient."
    ),
    alternative=(
        "Normal numbers and random signs both have the mean of v v^T that is needed; signs spread "
        "a little less."
    ),
)

VARIANCE_LAW = Debrief(
    shows=("result",),
    why=(
        "Only the part of the gradient along v is measured; whatever else v contains is noise, and "
        "it grows with the number of parameters. Averaging k independent estimates divides it by "
        "k; at right angles they share nothing, and with k = d nothing is missing."
    ),
    alternative=(
        "You can derive it from the fourth moment of one number, or count the directions that "
        "were not looked at. Averaging many draws gives a number near it, not the law."
    ),
)

K_DIRECTIONS = Debrief(
    shows=("peak_bytes",),
    why=(
        "The estimate is the gradient's shadow in the space of the k directions, times d / k. It "
        "depends on that space alone, so any frame of it at right angles gives the same numbers."
    ),
    alternative=(
        "A QR decomposition gives the frame; Gram and Schmidt's procedure by hand, or the "
        "singular vectors, do as well. One direction after the other keeps the memory low."
    ),
)
