"""What MosaicML measured in training runs of its MPT models: a table of 216 rows."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from gpu_course.hardware.datasheet import device
from gpu_course.lessons.counting.configs import mpt
from gpu_course.measure.transformer_shapes import Transformer, utilisation

FILE = Path(__file__).with_name("llm_foundry.csv")
"""Its first lines say whose it is and what was changed."""

WITHIN = 0.006
"""How far off a row's MFU may be, as a share: half of a printed digit is up to 0.03 % of it, and
the tokens per second were printed without decimals."""


@dataclass(frozen=True)
class Run:
    """One row.

    Attributes:
        model: such as "7b".
        sequence: tokens in a sequence.
        gpus: how many.
        card: "H100", "A100 80 GB" or "A100 40 GB".
        precision: of the products, "bf16" or "fp8".
        microbatch: sequences at a time on each GPU.
        tokens_per_s: of all GPUs together.
        per_gpu: the same for each, as printed.
        recompute: True where the layers run forward once more for the backward pass.
        parameters: as printed.
        mfu_percent, hfu_percent: as printed.
    """

    model: str
    sequence: int
    gpus: int
    card: str
    precision: str
    microbatch: int
    tokens_per_s: int
    per_gpu: int
    recompute: bool
    parameters: int
    mfu_percent: float
    hfu_percent: float

    @property
    def shape(self) -> Transformer:
        """The model's shape."""
        return mpt(self.model, self.sequence)

    @property
    def peak(self) -> float:
        """FLOP/s of one GPU's tensor cores, by the data sheet; fp8 doubles those of an H100."""
        card = device(self.card.split(" ")[0])
        assert card.bf16_flop_per_s is not None
        return card.bf16_flop_per_s * (2 if self.precision == "fp8" else 1)

    @property
    def flop_per_token(self) -> int:
        """The model's FLOP as the source counts them: six for each parameter, and attention's."""
        return 6 * self.parameters + 12 * self.shape.layers * self.shape.queries * self.sequence

    def mfu(self) -> float:
        """Returns the share that our count gives."""
        return utilisation(self.flop_per_token, self.tokens_per_s, self.gpus, self.peak)

    def hfu(self) -> float:
        """Returns the same with the second forward pass, where there is one."""
        return self.mfu() * (4 / 3 if self.recompute else 1)


@lru_cache(maxsize=1)
def runs() -> tuple[Run, ...]:
    """Returns all rows, in the order of the source."""
    lines = [line for line in FILE.read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    return tuple(
        Run(
            model=row["model"],
            sequence=int(row["sequence"]),
            gpus=int(row["gpus"]),
            card=row["card"],
            precision=row["precision"],
            microbatch=int(row["microbatch"]),
            tokens_per_s=int(row["tokens_per_s"]),
            per_gpu=int(row["tokens_per_s_per_gpu"]),
            recompute=row["recompute"] == "yes",
            parameters=int(row["parameters"]),
            mfu_percent=float(row["mfu_percent"]),
            hfu_percent=float(row["hfu_percent"]),
        )
        for row in csv.DictReader(lines)
    )
