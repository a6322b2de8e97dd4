"""What bytes and FLOP alone say of the runs and the problems in the scaling book."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.hardware.datasheet import DeviceCard, device
from gpu_course.lessons.roofline.roofs import FLOAT32, TENSOR, roof

PER_SECOND = {"ms": 1e3, "µs": 1e6}
CARDS = {name: device(name) for name in ("H100", "B200")}


@model(unit=PER_SECOND)
def h100_add(length: float, unit: float) -> float:
    """Returns how long a float32 add takes an H100: two numbers read and one written each time."""
    return roof("H100", FLOAT32).floor_s(length, 3 * 4 * length) * unit


@model()
def b200_matmul_us(rows: float) -> float:
    """Returns the microseconds of a 16-bit product with weights of 4,096 by 8,192."""
    d, f = 4096, 8192
    moved = 2 * (rows * d + d * f + rows * f)
    return roof("B200", TENSOR).floor_s(2 * rows * d * f, moved) * 1e6


@model(card=CARDS)
def tensor_ridge(card: DeviceCard) -> float:
    """Returns the FLOP for each byte at which tensor cores and memory take equally long."""
    return roof(card, TENSOR).ridge


@model()
def crossing_rows(peak: float, bandwidth: float, weight_bytes: float) -> float:
    """Returns the batch at which a layer's FLOP take as long as its weights."""
    return weight_bytes * peak / bandwidth / 2
