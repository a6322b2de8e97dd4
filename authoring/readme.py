"""The generated parts of README.md: its pictures and its table of lessons."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING

from authoring.checkout import read, write
from authoring.parts import with_part
from gpu_course.grading.workspace import has_notebook
from gpu_course.puzzle import Lesson, outline

if TYPE_CHECKING:
    from matplotlib.figure import Figure

README = "README.md"
PICTURE = "docs/images/guard.png"
KERNEL = "solutions/01_threads/mistakes/guard.py:no_guard"
CELLS, THREADS = 8, 12
ROOFLINE = "docs/images/roofline.png"
SIDE = 128
PRODUCTS = {
    "matmul_naive": ((4, 16), (32, 8)),
    "matmul_tiled": ((8, 8), (16, 16)),
    "matmul_register": ((2, 2), (8, 8)),
}
"""Solutions of lesson 06, with grid and block for a product of SIDE by SIDE numbers."""


def write_readme(root: Path) -> tuple[str, ...]:
    """Writes the README's pictures and table, and returns the files that changed.

    Raises:
        AuthoringError: the README lacks the comments between which a part stands.
    """
    from gpu_course.draw.paper.picture import figure_png

    figures = {
        "picture": (PICTURE, draw_picture(root)),
        "roofline": (ROOFLINE, draw_products(root)),
    }
    text = with_part(read(root / README), "lessons", lessons_table(), README)
    for part, (place, figure) in figures.items():
        text = with_part(text, part, picture_tag(figure, place), README)
    changed = [README] if write(root / README, text) else []
    for place, figure in figures.values():
        picture, image = root / place, figure_png(figure)
        if not picture.is_file() or picture.read_bytes() != image:
            picture.parent.mkdir(parents=True, exist_ok=True)
            picture.write_bytes(image)
            changed.append(place)
    return tuple(changed)


def draw_picture(root: Path) -> Figure:
    """Returns the README's first picture, from a launch of one of the named mistakes."""
    import numpy as np

    from gpu_course.draw.touches.picture import draw_touches
    from simt.simulator import simulate

    a = np.arange(CELLS, dtype=np.float32)
    report = simulate(f"{root / KERNEL}")[1, THREADS](np.zeros_like(a), a, CELLS)
    return draw_touches(report)


def draw_products(root: Path) -> Figure:
    """Returns the README's second picture: three matrix products under the roof of a card."""
    import numpy as np

    from gpu_course.lessons.roofline.pictures import Roofs, draw_roofline
    from gpu_course.lessons.roofline.roofs import roof
    from gpu_course.lessons.roofline.shows import kernel_of
    from simt.simulator import simulate

    rng = np.random.default_rng(0)
    a, b = (rng.random((SIDE, SIDE), dtype=np.float32) for _ in range(2))
    kernels, least_bytes = [], 3 * a.nbytes
    for name, shape in PRODUCTS.items():
        kernel = simulate(f"{root / 'solutions/06_matmul' / name}.py:{name}")
        report = kernel[shape](np.zeros_like(a), a, b, SIDE, SIDE, SIDE)
        kernels.append(kernel_of(name, report, least_bytes))
    card = roof("H100")
    return draw_roofline(Roofs(card.name, card.flop_per_s, card.bytes_per_s), kernels)


def picture_tag(figure: Figure, place: str = PICTURE) -> str:
    """Returns the `<img>` that shows the picture, with its alt text and its width on screen."""
    from gpu_course.draw.paper.palette import CSS_PIXELS_PER_INCH
    from gpu_course.draw.paper.picture import alt_text

    width = round(figure.get_size_inches()[0] * CSS_PIXELS_PER_INCH)
    return f'<img src="{place}" width="{width}" alt="{html.escape(alt_text(figure))}">'


def lessons_table() -> str:
    """Returns the course as Markdown: a row per lesson that is here, a line for those to come."""
    lines = []
    for part in range(len(outline.PARTS)):
        lines += [f"**{outline.part_title(part)}**", ""]
        if here := outline.lessons_of(part):
            lines += ["| lesson | minutes | puzzles | afterwards |", "|---|--:|--:|---|"]
            lines += [*map(_row, here), ""]
        if coming := outline.to_come_text(part):
            lines += [f"{coming[0].upper()}{coming[1:]}.", ""]
    return "\n".join(lines).rstrip("\n")


def _row(lesson: Lesson) -> str:
    link = f"{lesson.name[:2]} {lesson.title}"
    if has_notebook(lesson):
        link = f"[{link}](notebooks/{lesson.name}.ipynb)"
    else:
        link += " (puzzles; no notebook yet)"
    return f"| {link} | {lesson.minutes} | {len(lesson.puzzles)} | {lesson.goal} |"
