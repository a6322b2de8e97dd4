"""A ResNet of 1,000 layers in sublinear memory: the numbers of Chen et al. 2016."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.units import GB


@model("memory")
def plain_gb() -> float:
    """Returns GB of the feature maps of 1,000 layers, all kept."""
    from gpu_course.lessons.checkpointing.deep_resnet import deep_resnet

    return sum(stage.output_bytes + stage.saved_bytes for stage in deep_resnet().stages) / GB


@model("memory")
def square_root_gb() -> float:
    """Returns the peak in GB with about the square root of the blocks as segments."""
    from gpu_course.lessons.checkpointing.deep_resnet import deep_resnet
    from gpu_course.measure.schedules.operations import account
    from gpu_course.measure.schedules.plans import square_root

    chain = deep_resnet()
    return account(chain, square_root(len(chain))).peak / GB


@model("rate")
def square_root_percent() -> float:
    """Returns how much more FLOP that plan takes than the plain run, in percent."""
    from gpu_course.lessons.checkpointing.deep_resnet import deep_resnet
    from gpu_course.measure.schedules.operations import account
    from gpu_course.measure.schedules.plans import keep_everything, square_root

    chain = deep_resnet()
    plain = account(chain, keep_everything(len(chain))).cost
    return 100 * (account(chain, square_root(len(chain))).cost / plain - 1)
