"""What the first lesson shows of GPUs: the numbers of one with their sources, several as bars."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu_course.errors import CourseError
from gpu_course.hardware.datasheet import device, devices
from gpu_course.lessons.start_here.pictures import draw_cards
from gpu_course.notebook.note import show, trouble
from gpu_course.notebook.pictures import showing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class DataSheet:
    """Rows of (what, value, source), as columns of text and as a table that fits its window."""

    rows: tuple[tuple[str, str, str], ...]

    def __repr__(self) -> str:
        widths = [max(len(row[column]) for row in self.rows) for column in (0, 1)]
        return "\n".join(
            f"{what:<{widths[0]}}  {value:<{widths[1]}}  {source}"
            for what, value, source in self.rows
        )

    def _repr_html_(self) -> str:
        # JupyterLab sets the cells of a table to the right, and would not break them.
        rows = "".join(
            '<tr style="text-align:left;vertical-align:top">'
            + "".join(
                f'<td style="text-align:left;white-space:{wrap}">{html.escape(text)}</td>'
                for text, wrap in zip(row, ("nowrap", "nowrap", "normal"), strict=True)
            )
            + "</tr>"
            for row in self.rows
        )
        return (
            f'<table class="gpu-course-data-sheet" style="margin:0"><tbody>{rows}</tbody></table>'
        )


def show_data_sheet(name: str) -> None:
    """Shows what is known of a GPU, each number with its source.

    Args:
        name: such as "H100".
    """
    try:
        show(DataSheet(device(name).rows()))
    except CourseError as error:
        show(trouble(error))


@showing
def show_cards(*names: str) -> Figure:
    """Shows bandwidth and arithmetic of GPUs side by side; without a name, all the course knows."""
    return draw_cards([device(name) for name in names] or devices())
