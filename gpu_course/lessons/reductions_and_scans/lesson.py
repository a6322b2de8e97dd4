"""The puzzles of lesson 05 in the order the lesson brings them."""

from __future__ import annotations

from gpu_course.lessons.reductions_and_scans.argmax import ARGMAX
from gpu_course.lessons.reductions_and_scans.axis_sum import AXIS_SUM
from gpu_course.lessons.reductions_and_scans.block_sum import BLOCK_SUM
from gpu_course.lessons.reductions_and_scans.block_sum_sequential import BLOCK_SUM_SEQUENTIAL
from gpu_course.lessons.reductions_and_scans.compact import COMPACT
from gpu_course.lessons.reductions_and_scans.deterministic_sum import DETERMINISTIC_SUM
from gpu_course.lessons.reductions_and_scans.dot import DOT
from gpu_course.lessons.reductions_and_scans.grid_sum import GRID_SUM
from gpu_course.lessons.reductions_and_scans.histogram import HISTOGRAM
from gpu_course.lessons.reductions_and_scans.histogram_private import HISTOGRAM_PRIVATE
from gpu_course.lessons.reductions_and_scans.last_block_sum import LAST_BLOCK_SUM
from gpu_course.lessons.reductions_and_scans.predictions import PREDICTIONS
from gpu_course.lessons.reductions_and_scans.predictions_scans import PREDICTIONS_SCANS
from gpu_course.lessons.reductions_and_scans.scan_block import SCAN_BLOCK
from gpu_course.lessons.reductions_and_scans.scan_grid import SCAN_GRID
from gpu_course.lessons.reductions_and_scans.scan_lookback import SCAN_LOOKBACK
from gpu_course.lessons.reductions_and_scans.segmented_sum import SEGMENTED_SUM
from gpu_course.lessons.reductions_and_scans.softmax_row_max import SOFTMAX_ROW_MAX
from gpu_course.puzzle.specification import Lesson

LESSON = Lesson(
    name="05_reductions_and_scans",
    title="Reductions and scans",
    part=1,
    minutes=360,
    goal=(
        "You can turn many numbers into one, or into their running sums, in a logarithmic number "
        "of steps, within a warp, a block and a grid, and say what each step costs and what makes "
        "its result the same every time."
    ),
    puzzles=(
        BLOCK_SUM,
        BLOCK_SUM_SEQUENTIAL,
        DOT,
        AXIS_SUM,
        ARGMAX,
        SOFTMAX_ROW_MAX,
        GRID_SUM,
        HISTOGRAM,
        HISTOGRAM_PRIVATE,
        SCAN_BLOCK,
        SCAN_GRID,
        SCAN_LOOKBACK,
        COMPACT,
        SEGMENTED_SUM,
        DETERMINISTIC_SUM,
        LAST_BLOCK_SUM,
    ),
    predictions={**PREDICTIONS, **PREDICTIONS_SCANS},
)
