"""Pictures of the course: data in, a matplotlib Figure with alt text out; nothing is computed."""

from gpu_course.draw.execution.banks import describe_banks, draw_banks
from gpu_course.draw.execution.intervals import (
    barrier_intervals,
    describe_intervals,
    draw_intervals,
)
from gpu_course.draw.execution.launch_grid import describe_launch_grid, draw_launch_grid
from gpu_course.draw.execution.ownership import describe_ownership, draw_ownership
from gpu_course.draw.paper.picture import alt_text, figure_html, figure_png
from gpu_course.draw.steps.picture import describe_step, draw_step
from gpu_course.draw.touches.picture import describe_touches, draw_touches, first_steps

__all__ = [
    "alt_text",
    "barrier_intervals",
    "describe_banks",
    "describe_intervals",
    "describe_launch_grid",
    "describe_ownership",
    "describe_step",
    "describe_touches",
    "draw_banks",
    "draw_intervals",
    "draw_launch_grid",
    "draw_ownership",
    "draw_step",
    "draw_touches",
    "figure_html",
    "figure_png",
    "first_steps",
]
