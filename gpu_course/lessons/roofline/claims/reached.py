"""The simplest model of a library's matrix product: the data sheet's rate, and nothing else."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.hardware.datasheet import DeviceCard, device
from gpu_course.lessons.roofline.roofs import TENSOR, roof
from gpu_course.units import TERA

CARDS = {name: device(name) for name in ("A100", "H100", "B200")}


@model(card=CARDS)
def tensor_peak(card: DeviceCard) -> float:
    """Returns the TFLOP/s of the tensor cores on 16-bit numbers, by the data sheet."""
    return roof(card, TENSOR).flop_per_s / TERA


@model()
def same_flop(tflop_per_s: float) -> float:
    """Returns the rate of a product that has as many FLOP as one that was measured."""
    return tflop_per_s
