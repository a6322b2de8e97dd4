"""What a learner reads after a pass in lesson 20."""

from __future__ import annotations

from gpu_course.catalog.specification import Debrief

GALORE_PROJECT = Debrief(
    shows=("basis_shape", "small_shape", "bytes"),
    why=(
        "The first singular vectors span the directions in which most of the gradient lies, and "
        "no other basis of that rank comes closer. Working on the shorter side makes the basis "
        "the smaller one."
    ),
    alternative=(
        "The eigenvectors of the gradient times its transpose are the same directions, for a "
        "smaller problem but with half of the digits. Randomised methods find the first few "
        "without the rest."
    ),
)

GALORE_ADAM = Debrief(
    shows=("projections", "state_bytes"),
    why=(
        "Adam works on the gradient in its main directions, so its two moments are as small as "
        "that gradient is. The step goes back through the same basis before it meets the weight."
    ),
    alternative=(
        "All of the state fits in a dictionary or in an object; what matters is that nothing as "
        "large as the weight is kept between updates."
    ),
)

LORA = Debrief(
    shows=("trained_numbers", "peak_bytes"),
    why=(
        "A product of two narrow matrices has few numbers, and only these need gradients and "
        "moments. With one of them at zero the detour begins as nothing and can still learn."
    ),
    alternative=(
        "Register A and B on a module of your own, or add them to a copy of the layer: both work. "
        "Scaling the narrow values instead of the wide ones saves a little arithmetic."
    ),
)

BLOCK_QUANTISE_STATE = Debrief(
    shows=("bytes",),
    why=(
        "Each block has its own scale, so one large number spoils the digits of its block and of "
        "no other. The root gives the many small numbers more of the 127 steps."
    ),
    alternative=(
        "Padding the last block, or treating it separately, gives the same codes. Tables of 256 "
        "values, as bitsandbytes uses them, replace the root by a search."
    ),
)

SHARED_LAYERS = Debrief(
    shows=("parameter_bytes", "state_bytes", "kept_bytes"),
    why=(
        "A module that is called several times has its parameters once, and autograd adds up what "
        "every call contributes to their gradient. What it keeps for the way back is still there "
        "for each call."
    ),
    alternative=(
        "A loop over one layer says it plainly. A list that holds the same module many times works "
        "too, since PyTorch counts a parameter once however often it is found."
    ),
)
