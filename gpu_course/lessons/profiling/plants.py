"""Which faults can be planted in a training loop, and what sizes that loop has. No PyTorch here."""

from __future__ import annotations

from dataclasses import dataclass

PLANTS = {
    "none": "nothing is wrong",
    "small operations": "the loss is added up row by row, in a Python loop",
    "item": "each step reads a number with .item()",
    "dtypes": "each layer goes to another dtype and back",
    "contiguous": "each layer copies its input with .contiguous()",
    "mask": "each step builds the causal mask anew",
    "loader": "the DataLoader prepares its rows one by one",
    "optimizer": "the optimizer takes one tensor at a time",
}
"""What may be planted -> what the loop does then."""

STEP = "ProfilerStep#"
"""What the name of a step's annotation begins with."""


@dataclass(frozen=True)
class Loop:
    """What loop is run.

    Attributes:
        plant: what is planted in it, a key of PLANTS.
        kind: 0, 1 or 2: in which of three ways the fault is written down.
        rows, sequence, width, heads, layers, steps: its sizes; heads divides width.
        optimizer: "SGD", "Adam" or "AdamW".
        fused: True for an optimizer that is one operator, False for one of lists of tensors.
        activation: "relu", "sigmoid" or "tanh".
    """

    plant: str = "none"
    kind: int = 0
    rows: int = 4
    sequence: int = 8
    width: int = 16
    heads: int = 2
    layers: int = 1
    steps: int = 2
    optimizer: str = "SGD"
    fused: bool = False
    activation: str = "relu"
