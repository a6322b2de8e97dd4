"""What bytes alone say of a kernel's time: passes over an array, over a card's bandwidth."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.hardware.cards import DeviceCard, device
from gpu_course.lessons.data_movement.bert_layer import (
    CLASSES,
    floor_shares,
    flop_shares,
    training_step,
)
from gpu_course.units import MIB, TERA

CARDS = {name: device(name) for name in ("A100", "H100", "RTX 3090")}
KINDS = {kind: kind for kind in CLASSES}


@model("rate", card=CARDS)
def passes_ms(card: DeviceCard, rows: float, cols: float, number_bytes: float) -> float:
    """Returns the ms that an array takes whose numbers travel as so many bytes each, all passes."""
    assert card.bandwidth_bytes_per_s is not None
    return rows * cols * number_bytes / card.bandwidth_bytes_per_s * 1e3


@model("rate", card=CARDS)
def products_ms(card: DeviceCard, tokens: float, hidden: float, classes: float) -> float:
    """Returns the ms of a last layer's three products, forward and backward, on tensor cores."""
    assert card.tensor_flop_per_s is not None
    return 6 * tokens * hidden * classes / card.tensor_flop_per_s * 1e3


@model("memory")
def arrays_mib(rows: float, cols: float, arrays: float) -> float:
    """Returns the MiB of so many float32 arrays of one size."""
    return 4 * rows * cols * arrays / MIB


@model("rate", card=CARDS)
def bandwidth_tb_per_s(card: DeviceCard) -> float:
    """Returns the TB/s of the data sheet."""
    assert card.bandwidth_bytes_per_s is not None
    return card.bandwidth_bytes_per_s / TERA


@model()
def useful_rate(rate: float, useful: float, moved: float) -> float:
    """Returns the rate of useful bytes, where more than those are moved at the rate."""
    return rate * useful / moved


@model("count", kind=KINDS)
def flop_share(kind: str) -> float:
    """Returns the per cent of a layer's FLOP that a class of operators does."""
    return flop_shares(training_step())[kind]


@model("rate", kind=KINDS)
def time_share(kind: str) -> float:
    """Returns the per cent of a layer's time that a class takes on a V100, at full rates."""
    return floor_shares(training_step(), device("V100"))[kind]
