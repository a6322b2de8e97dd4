"""Pictures of the course: data in, a matplotlib Figure with alt text out; nothing is computed."""

from gpu_course.draw.cards import describe_cards, draw_cards
from gpu_course.draw.launch_grid import describe_launch_grid, draw_launch_grid
from gpu_course.draw.ownership import describe_ownership, draw_ownership
from gpu_course.draw.picture import alt_text, figure_html, figure_png
from gpu_course.draw.touches import describe_touches, draw_touches, first_steps

__all__ = [
    "alt_text",
    "describe_cards",
    "describe_launch_grid",
    "describe_ownership",
    "describe_touches",
    "draw_cards",
    "draw_launch_grid",
    "draw_ownership",
    "draw_touches",
    "figure_html",
    "figure_png",
    "first_steps",
]
