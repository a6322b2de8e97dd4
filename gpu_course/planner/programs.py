"""Training programs as the planner sees them: how the work of a layout is done.

A layout says where everything lies, and a machine how fast it is. A program says which kernels lie
between the products, what is sent while something else is computed, and in how many bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

BY_HAND = ((22.0, 2.0), (32.0, 3.0))
"""Bytes that the kernels between the products move, forward and backward. First of each number of a
token's hidden vector: two norms (8) and two residuals with bias and dropout, which read twice,
write, and keep a mask (14). Then of each number inside attention and MLP, which is written or read
by one kernel (2)."""
EAGER = ((84.0, 4.0), (120.0, 6.0))
"""The same where each operation is a kernel of its own: a norm in float32 takes 36 bytes forward
(to float 6, square 8, mean 4, scale 8, back 6, weight 4), a residual 6; rotating and gating write
what they hand on to the next kernel."""
COMPILED = ((18.0, 2.0), (26.0, 3.0))
"""The same where a compiler joins norm, residual and rotation, and there is no dropout."""

COMPILED_FP8 = ((26.0, 3.0), (38.0, 5.0))
"""The same with products in FP8: what goes into them is read and written once more."""


@dataclass(frozen=True)
class Program:
    """How a training program does its work: what neither the layout nor the machine says.

    Attributes:
        name: as a table names it.
        traffic: BY_HAND, EAGER or COMPILED.
        products: how much faster a large product is than in bfloat16: more than 1 in FP8.
        attention: rate of fused attention, as a part of the rate of a large bfloat16 product.
        selective: which part of the products runs again under selective recomputation.
        gradient_bytes: of each gradient that data-parallel ranks send.
        gradients_hidden: which part of a microbatch's backward pass hides data-parallel traffic.
        sends_hidden: which part of the sends between stages is hidden.
        tensor_hidden: which part of tensor-parallel traffic is hidden.
        stage_s: a host takes for each microbatch on a stage, besides its layers.
        staged_host_s: a host takes besides for a layer and microbatch, where there are stages, for
            each tensor-parallel rank.
        in_step: True where tensor-parallel ranks wait for each other at each collective, so that
            delays of host and card add; False where hosts run ahead.
        padded: False where the vocabulary is padded only if tensor-parallel ranks ask for it.
        update_bytes: that the optimizer moves for each parameter that it owns.
        logit_bytes: that the loss moves for each logit, forward and backward.
    """

    name: str
    traffic: tuple[tuple[float, float], tuple[float, float]] = BY_HAND
    products: float = 1.0
    attention: float = 0.74
    selective: float = 0.0
    gradient_bytes: float = 2.0
    gradients_hidden: float = 0.0
    sends_hidden: float = 0.0
    tensor_hidden: float = 0.0
    stage_s: float = 0.0
    staged_host_s: float = 0.0
    in_step: bool = True
    padded: bool = True
    update_bytes: float = 40.0
    logit_bytes: float = 45.0


MEGATRON = Program("Megatron-LM", gradient_bytes=4)
"""Its kernels of 2021 to 2022: nothing sent is hidden; gradients are added and sent in float32."""

MEGATRON_DEEPSPEED = Program("Megatron-DeepSpeed", padded=False)
"""As in vTrain's measurements: gradients in float16, and 50,257 words that stay 50,257."""

BIGSCIENCE = Program("Megatron-DeepSpeed, its pipeline engine", stage_s=0.04)
"""As in BigScience's measurements. The time of a stage was set on its open rows as a whole."""

MEGATRON_CORE = Program(
    "Megatron Core", traffic=COMPILED, gradient_bytes=4, gradients_hidden=0.9, sends_hidden=0.8,
    logit_bytes=24,
)  # fmt: skip
"""Since 2023: gradients and sends go while layers work; fused attention; a fused loss."""

MEGATRON_CORE_FP8 = Program(
    "Megatron Core, FP8", traffic=COMPILED_FP8, products=1.77, gradient_bytes=4,
    gradients_hidden=0.9, sends_hidden=0.8, tensor_hidden=0.5, logit_bytes=24,
)  # fmt: skip
"""The same with products in FP8: 1.77 is the best FP8 product over the best bfloat16 one on an
H100 (MAMF, stas00/ml-engineering); what goes into them is read and written once more as FP8."""

TORCHTITAN_EAGER = Program(
    "torchtitan, eager", traffic=EAGER, attention=0.62, selective=0.5, gradient_bytes=4,
    gradients_hidden=0.9,
)  # fmt: skip
TORCHTITAN = Program(
    "torchtitan, compiled", traffic=COMPILED, attention=0.62, selective=0.5, gradient_bytes=4,
    gradients_hidden=0.9, logit_bytes=24,
)  # fmt: skip
"""Selective recomputation saves every other product: half of them run again."""

TORCHTITAN_FP8 = replace(TORCHTITAN, name="torchtitan, FP8", products=1.77, traffic=COMPILED_FP8)
"""Products in FP8, as Megatron Core's."""

NANOTRON = Program(
    "nanotron", traffic=EAGER, gradient_bytes=4, attention=0.65, staged_host_s=2.3e-3, in_step=False
)
"""Gradients are added in float32; nothing sent is hidden. With stages, its layers never take less
than about 5 ms and 2.3 ms more for each tensor-parallel rank, however small they are: read off the
fastest runs of the Playbook as a whole."""
