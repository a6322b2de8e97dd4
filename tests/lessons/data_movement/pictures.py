"""Examples of the pictures of lesson 12."""

from __future__ import annotations

from matplotlib.figure import Figure

from gpu_course.lessons.data_movement.bert_layer import CLASSES
from gpu_course.lessons.data_movement.fusion import cuts, mlp_end
from gpu_course.lessons.data_movement.operations import best_groups, encoder_layer
from gpu_course.lessons.data_movement.pictures import draw_classes, draw_cuts, draw_passes
from tests.gpu_course.draw.examples import draws


@draws(draw_classes)
def three_classes() -> Figure:
    rows = {"FLOP, counted": (99.76, 0.18, 0.06), "a quantity of a long name": (40, 25, 35)}
    return draw_classes(list(CLASSES.values()), rows)


@draws(draw_cuts)
def two_kernels_that_ran() -> Figure:
    chain = mlp_end(64, 256)
    return draw_cuts(cuts(**chain, groups=[[0, 1], [2, 3]], counted=[147456, 212992]), "Two")


@draws(draw_cuts)
def a_layer_at_best() -> Figure:
    chain = encoder_layer(2048, 1024, 16, 4096, 2)
    return draw_cuts(cuts(**chain, groups=best_groups(**chain)), "A layer of a long sequence")


@draws(draw_cuts)
def a_layer_one_by_one() -> Figure:
    chain = encoder_layer(512, 1024, 16, 4096, 2)
    return draw_cuts(cuts(**chain, groups=[[number] for number in range(18)]), "A layer")


@draws(draw_passes)
def passes_of_two_programs() -> Figure:
    torch = [("mul", 4.0, 4.0), ("log_softmax_backward_data", 12.004, 4.0)]
    return draw_passes(
        {"PyTorch, an operation of a long name": torch, "your kernel": [("adamw", 16.0, 12.0)]},
        "parameter",
        "adamw: pass by pass",
    )
