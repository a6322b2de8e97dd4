"""A ResNet of 1,000 layers in sublinear memory: the numbers of Chen et al. 2016."""

from __future__ import annotations

from gpu_course.planner.published import Kind, Paper, Row
from gpu_course.units import GB

PAPER = Paper(
    "Chen 2016",
    "Training Deep Nets with Sublinear Memory Cost",
    "https://arxiv.org/abs/1604.06174",
)
LESSONS = ("17_checkpointing",)
_OURS = (
    "The abstract gives the numbers and no recipe. Ours: 333 blocks of three convolutions and "
    "batch norms, ReLU in place, 32 images of 224 by 224 (as in the authors' example code, "
    "dmlc/mxnet-memonger), in float32, as many blocks at each of four sizes: this last is our "
    "choice, and other shares give less."
)


def plain_gb() -> float:
    """Returns GB of the feature maps of 1,000 layers, all kept."""
    from gpu_course.training.deep_resnet import deep_resnet

    return sum(stage.output_bytes + stage.saved_bytes for stage in deep_resnet().stages) / GB


def square_root_gb() -> float:
    """Returns the peak in GB with about the square root of the blocks as segments."""
    from gpu_course.training.deep_resnet import deep_resnet
    from gpu_course.training.schedules.operations import account
    from gpu_course.training.schedules.plans import square_root

    chain = deep_resnet()
    return account(chain, square_root(len(chain))).peak / GB


def square_root_percent() -> float:
    """Returns how much more FLOP that plan takes than the plain run, in percent."""
    from gpu_course.training.deep_resnet import deep_resnet
    from gpu_course.training.schedules.operations import account
    from gpu_course.training.schedules.plans import keep_everything, square_root

    chain = deep_resnet()
    plain = account(chain, keep_everything(len(chain))).cost
    return 100 * (account(chain, square_root(len(chain))).cost / plain - 1)


ROWS = (
    Row(
        PAPER,
        "Abstract",
        "1,000 layers, all kept",
        "48",
        "GB",
        plain_gb,
        "two outputs for each convolution of 333 bottleneck blocks, 32 images of 224 by 224",
        LESSONS,
        Kind.measurement,
        verdict=False,
        note=_OURS,
    ),
    Row(
        PAPER,
        "Abstract",
        "1,000 layers, checkpointed",
        "7",
        "GB",
        square_root_gb,
        "peak of the same blocks in 19 segments of 18 blocks",
        LESSONS,
        Kind.measurement,
        verdict=False,
        note=(
            "Ours are feature maps and one gradient on its way, no weights; which segments the "
            "paper ran is not printed. An eighth of the plain run's memory; the paper has a "
            "seventh."
        ),
    ),
    Row(
        PAPER,
        "Abstract",
        "running time added",
        "30",
        "%",
        square_root_percent,
        "FLOP run again, over those of the plain run; back is twice forward",
        LESSONS,
        Kind.measurement,
        verdict=False,
        note=(
            "Ours is in FLOP: one forward pass more, a third, less the last segment's. The paper's "
            "is in seconds, and round."
        ),
    ),
)
