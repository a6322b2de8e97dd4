"""On a small GPT, too: without a backward pass, what is not of the parameters stays the same."""

from __future__ import annotations

from gpu_course.lessons.forward_gradients.gpt_peaks import NAMES, gpt_peaks
from gpu_course.measure.model import GPT, Shape


def test_beyond_parameters_and_direction_a_gpt_is_flat_and_backprop_is_not() -> None:
    peaks = {layers: gpt_peaks(layers, batch=2) for layers in (1, 3)}
    assert all(tuple(each) == NAMES for each in peaks.values())
    backprop, forward, both = (
        {layers: each[name] for layers, each in peaks.items()} for name in NAMES
    )
    rest = {layers: forward[layers] - both[layers] for layers in peaks}
    assert rest[1] == rest[3] > 0
    # Ten tensors of the layer's width and two of the scores are a low count of what each keeps.
    shape = Shape()
    kept = 4 * 2 * shape.sequence * (10 * shape.hidden + 2 * shape.heads * shape.sequence)
    assert backprop[3] - backprop[1] - (both[3] - both[1]) / 2 > 2 * kept


def test_a_direction_is_as_large_as_the_parameters() -> None:
    numbers = sum(p.numel() for p in GPT(Shape(layers=2)).parameters())
    assert gpt_peaks(2, batch=1)[NAMES[2]] == 2 * 4 * numbers
