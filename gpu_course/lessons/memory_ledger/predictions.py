"""What lesson 16 says once a guess is made."""

from __future__ import annotations

from gpu_course.puzzle.specification import Sealed

PREDICTIONS = {
    "GB for a billion parameters": Sealed(
        "The file on disk is an eighth of what training holds. Twelve of the sixteen bytes per "
        "parameter belong to the optimizer."
    ),
    "The first update leaves behind": Sealed(
        "Two moments for each parameter, as wide as the parameter itself, and a few bytes more."
    ),
    "The peak is in": Sealed(
        "A forward pass piles up activations, since the backward pass will need them. The backward "
        "pass takes them off from the top and leaves gradients. But each of its steps makes "
        "something new before anything old can go, so the peak comes a little after the turn."
    ),
    "Calls of pack": Sealed(
        "The input of each linear layer, the input of GELU, and the second layer's weight. The "
        "first layer's weight is not among them: only the gradient of the *batch* would need it, "
        "and nobody asked for that one."
    ),
    "Kept, over the formula": Sealed(
        "Not one term is wrong. The paper counts what a GPU keeps, one byte for each number of a "
        "mask; PyTorch on a CPU keeps masks as wide as the numbers they belong to. A few small "
        "things are left out on purpose, because they vanish beside `sbh`. The table below names "
        "every byte."
    ),
    "Bytes per token and width, a layer of today": Sealed(
        "More than the 34, although no score and no mask is kept. The gated MLP keeps four tensors "
        "of its inner width, and that width is 3.5 times the outer one. GQA saves a little: keys "
        "and values are a quarter as wide. And the number of tokens no longer matters, since what "
        "grew with its square is gone."
    ),
    "Peak with all logits, over the peak in chunks": Sealed(
        "All logits at once are there three times over: the logits, their softmax and their "
        "gradient. In chunks one chunk's logits are, and the gradient of the weight."
    ),
    "Peak in 4 parts, over the peak at once": Sealed(
        "The activations shrink with the rows. The gradients on their way do not: a weight's "
        "gradient is as large as the weight, however few rows it comes from. There is a floor.",
        answer=lambda share: (
            "1/4" if share == 1 / 4 else "less than 1/4" if share < 1 / 4 else "more than 1/4"
        ),
    ),
}
