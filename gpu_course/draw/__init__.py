"""Pictures of the course: data in, a matplotlib Figure with alt text out; nothing is computed."""

from gpu_course.draw.execution.banks import describe_banks, draw_banks
from gpu_course.draw.execution.cards import describe_cards, draw_cards
from gpu_course.draw.execution.divergence import describe_divergence, draw_divergence
from gpu_course.draw.execution.intervals import (
    barrier_intervals,
    describe_intervals,
    draw_intervals,
)
from gpu_course.draw.execution.issue import describe_issue, draw_issue
from gpu_course.draw.execution.launch_grid import describe_launch_grid, draw_launch_grid
from gpu_course.draw.execution.ownership import describe_ownership, draw_ownership
from gpu_course.draw.execution.reductions import (
    draw_activity,
    draw_tree,
    reduction_steps,
    warps_at_work,
)
from gpu_course.draw.execution.residency import describe_residency, draw_residency
from gpu_course.draw.execution.sectors import (
    Request,
    describe_sectors,
    describe_sides,
    draw_sectors,
    draw_sides,
    request_of_warp,
)
from gpu_course.draw.execution.shuffles import describe_shuffles, draw_shuffles
from gpu_course.draw.paper.picture import alt_text, figure_html, figure_png
from gpu_course.draw.steps.picture import describe_step, draw_step
from gpu_course.draw.touches.picture import describe_touches, draw_touches, first_steps

__all__ = [
    "Request",
    "alt_text",
    "barrier_intervals",
    "describe_banks",
    "describe_cards",
    "describe_divergence",
    "describe_intervals",
    "describe_issue",
    "describe_launch_grid",
    "describe_ownership",
    "describe_residency",
    "describe_sectors",
    "describe_shuffles",
    "describe_sides",
    "describe_step",
    "describe_touches",
    "draw_activity",
    "draw_banks",
    "draw_cards",
    "draw_divergence",
    "draw_intervals",
    "draw_issue",
    "draw_launch_grid",
    "draw_ownership",
    "draw_residency",
    "draw_sectors",
    "draw_shuffles",
    "draw_sides",
    "draw_step",
    "draw_touches",
    "draw_tree",
    "figure_html",
    "figure_png",
    "first_steps",
    "reduction_steps",
    "request_of_warp",
    "warps_at_work",
]
