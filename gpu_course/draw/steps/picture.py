"""One step of a launch: the line, the lanes over time with their mask, values, memory, hazards."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gpu_course.draw.execution.footprint import count
from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.ink import CHAR, Ink, Look, OnAxes, OnSvg
from gpu_course.draw.paper.picture import with_alt
from gpu_course.draw.steps.parts import (
    ROW,
    View,
    draw_accesses,
    draw_contents,
    draw_values,
    rows_of_accesses,
    rows_of_contents,
    rows_of_values,
)
from gpu_course.draw.steps.step_texts import bounds, call_text, describe_step, of_warps, warps_text
from simt.report import Recording, Step

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EDGE = 0.3
_TOP = 0.95
_FEWEST_ROWS, _MAX_ROWS = 8, 15
_FEWEST_CHARS, _MAX_CHARS = 26, 50
"""Of a line of code: a longer one goes on in a second row."""
_BAND_RIGHT = p.WIDEST - _EDGE
_LEGEND_ROW = 0.22
_GAP = 0.12
_HAZARD_CHARS = 84
_MAX_HAZARD_LINES = 4


_ALL = View()


@dataclass(frozen=True)
class Frame:
    """What stays the same from step to step, so that the picture stands still while it plays.

    Attributes:
        rows: lines of code, and steps in time, that are shown at once.
        values, contents, accesses, hazards: rows of each panel.
        chars: characters of the longest row of code.
        legend: its entries, line by line.
    """

    chars: int
    legend: tuple[tuple[tuple[str, str], ...], ...]
    rows: int
    values: int
    contents: int
    accesses: int
    hazards: int

    @property
    def height(self) -> float:
        """Inches of the whole picture."""
        lines = self.values + self.contents + self.accesses + self.hazards
        legend = len(self.legend) * _LEGEND_ROW
        return _TOP + (self.rows + lines) * ROW + 0.25 * 4 + 0.2 + legend


def draw_step(
    recording: Recording,
    number: int,
    warps: Sequence[int] | None = None,
    ax: Axes | None = None,
    view: View = _ALL,
) -> Figure:
    """Returns the picture of one step of a recorded launch.

    On the left the kernel with the line that is being carried out; on the right one row of lanes
    per step, time running down; below what the lanes hold and touch, and the hazard that strikes.

    Args:
        recording: the launch.
        number: which step of the track of these warps, from 0.
        warps: the warps to show; default the first one recorded.
        ax: axes to draw on instead of a new figure.
        view: what of the step is shown; default all.
    """
    chosen = tuple(recording.warps[:1] if warps is None else warps)
    frame = frame_of(recording, chosen, view)
    with p.style():
        figure, axes = p.sheet(p.WIDEST, frame.height, ax)
        _Drawing(OnAxes(axes), recording, chosen, number, frame, view).draw()
    return with_alt(figure, describe_step(recording, number, chosen, costs=view.costs))


def step_svg(recording: Recording, number: int, warps: Sequence[int], view: View = _ALL) -> str:
    """Returns the same picture as the text of an SVG, quick enough to be dragged through."""
    frame = frame_of(recording, tuple(warps), view)
    ink = OnSvg(p.WIDEST, frame.height)
    _Drawing(ink, recording, tuple(warps), number, frame, view).draw()
    return ink.text()


def frame_of(recording: Recording, warps: tuple[int, ...], view: View = _ALL) -> Frame:
    """Returns the room the panels need over all steps of a track."""
    key = ("frame", warps, view)
    if key not in recording._tracks:
        steps = [recording.steps[k] for k in recording.track(warps)]
        codes = [_code_rows(recording, f) for f in {step.function for step in steps}]
        longest = max(map(len, codes), default=1)
        chars = max((len(text) for code in codes for _, text in code), default=1)
        accesses = 0
        if view.costs:
            accesses = max((rows_of_accesses(recording, s, warps) for s in steps), default=0)
        contents = rows_of_contents(recording, warps, view)
        struck = any(of_warps(recording, t, warps).size for s in steps for _, t in s.struck)
        recording._tracks[key] = Frame(
            rows=min(max(longest, _FEWEST_ROWS), _MAX_ROWS),
            chars=max(chars, _FEWEST_CHARS),
            legend=_legend_lines(steps, struck, bool(accesses), bool(accesses or contents)),
            values=rows_of_values(recording, warps, view),
            contents=contents,
            accesses=accesses,
            hazards=_MAX_HAZARD_LINES + 1 if struck else 0,
        )
    found: Frame = recording._tracks[key]
    return found


@dataclass
class _Drawing:
    """One picture while it is being made."""

    ink: Ink
    recording: Recording
    warps: tuple[int, ...]
    number: int
    frame: Frame
    view: View
    y: float = field(default=_TOP, init=False)

    @property
    def track(self) -> tuple[int, ...]:
        return self.recording.track(self.warps)

    @property
    def step(self) -> Step:
        return self.recording.steps[self.track[self.number]]

    def draw(self) -> None:
        recording, step, frame = self.recording, self.step, self.frame
        self._heading()
        self._code()
        self._band()
        self.y += frame.rows * ROW + 0.25
        warp = self._acting()
        if frame.values:
            draw_values(self.ink, recording, step, warp, self.y, self.view)
            self.y += frame.values * ROW + 0.25
        if frame.contents:
            now = self.track[self.number]
            draw_contents(self.ink, recording, now, self.warps, warp, self.y, self.view)
            self.y += frame.contents * ROW + 0.25
        if frame.accesses:
            draw_accesses(self.ink, recording, step, warp, self.y)
            self.y += frame.accesses * ROW + 0.25
        if frame.hazards:
            self._hazard()
        self._legend()

    def _acting(self) -> int:
        busy = set(self.recording.warps_of(self.step.threads).tolist())
        return next(w for w in self.warps if w in busy)

    def _heading(self) -> None:
        recording = self.recording
        names = warps_text(recording, self.warps)
        mine = of_warps(recording, self.step.threads, self.warps)
        words = [names, f"step {self.number + 1} of {len(self.track)}"]
        words.append(count(mine.size, "active lane"))
        words += bounds(recording)
        self.ink.words(_EDGE, 0.27, call_text(recording), p.INK, size=p.LARGE, bold=True, mono=True)
        said = "  ·  ".join(words)
        size = p.NORMAL if len(said) <= 76 else p.SMALL
        self.ink.words(_EDGE, 0.52, said, p.QUIET, size=size)

    # The kernel's text

    def _code(self) -> None:
        code = _code_rows(self.recording, self.step.function)
        numbers = [line for line, _ in code]
        at = numbers.index(self.step.line) if self.step.line in numbers else 0
        first = _window(at, len(code), self.frame.rows, before=self.frame.rows * 2 // 3)
        struck = self._struck().size > 0
        here = [k for k, line in enumerate(numbers) if line == self.step.line and k >= first]
        wide = (5 + self.frame.chars) * CHAR + 0.2
        if here and here[0] < first + self.frame.rows:
            look = p.CONTESTED_CELL if struck else _HERE
            top = self.y + (here[0] - first) * ROW
            tall = len(here) * ROW
            self.ink.boxes([_EDGE], [top + tall / 2], wide, tall, look)
            self.ink.pointer(_EDGE + 0.09, top + ROW / 2, p.ACTIVE)
        for row, (line, text) in enumerate(code[first : first + self.frame.rows]):
            y = self.y + (row + 0.5) * ROW
            bold = line == self.step.line
            plate = struck and bold
            if first + row == 0 or numbers[first + row - 1] != line:
                self.ink.mono(_EDGE + 0.2, y, f"{line:>3}", p.QUIET, bold=bold, plate=plate)
            self.ink.mono(_EDGE + 0.2 + 4.5 * CHAR, y, text, p.INK, bold=bold, plate=plate)

    # Lanes over time

    @property
    def _band_left(self) -> float:
        return _EDGE + 0.2 + (5 + self.frame.chars) * CHAR + 8 * CHAR + 0.15

    def _columns(self) -> tuple[dict[int, float], float]:
        """The left end of each warp's lanes, and the width of a lane."""
        sizes = [self.recording.members(w).size for w in self.warps]
        gaps = _GAP * (len(sizes) - 1)
        wide = min((_BAND_RIGHT - self._band_left - gaps) / sum(sizes), 0.3)
        left, x = {}, self._band_left
        for warp, size in zip(self.warps, sizes, strict=True):
            left[warp] = x
            x += size * wide + _GAP
        return left, wide

    def _band(self) -> None:
        left, wide = self._columns()
        track = self.track
        first = _window(self.number, len(track), self.frame.rows, before=self.frame.rows * 2 // 3)
        cells: dict[str, list[tuple[float, float]]] = {k: [] for k in _LOOKS}
        for row, index in enumerate(track[first : first + self.frame.rows]):
            number, step = first + row, self.recording.steps[index]
            y = self.y + (row + 0.5) * ROW
            self._row_label(step, y, number == self.number)
            for warp in self.warps:
                kinds = self._kinds(step, warp)
                for lane, kind in enumerate(kinds):
                    later = "later " if number > self.number and kind == "active" else ""
                    cells[later + kind].append((left[warp] + lane * wide, y))
        for kind, places in cells.items():
            if places:
                side = 0.55 if kind == "idle" else 0.82
                x = [px + wide * (1 - side) / 2 for px, _ in places]
                ys = [py for _, py in places]
                look = dict(_LOOKS[kind])
                if wide < 0.08:
                    look["linewidth"] = min(look["linewidth"], 0.5)
                self.ink.boxes(x, ys, wide * side, ROW * min(side, 0.8), look)
        for warp in self.warps:
            name = f"lanes 0 to {self.recording.members(warp).size - 1}"
            if len(self.warps) > 1:
                per_block = self.recording.warps_per_block
                alike = len({w // per_block for w in self.warps}) == 1
                name = f"warp {warp % per_block}" if alike else f"block {warp // per_block}"
            self.ink.words(left[warp], self.y - 0.09, name, p.QUIET)

    def _kinds(self, step: Step, warp: int) -> list[str]:
        kinds = ["idle"] * self.recording.members(warp).size
        mine = of_warps(self.recording, step.threads, [warp])
        for lane in self.recording.lanes_of(mine):
            kinds[lane] = "active"
        if step.taken is not None:
            for lane in self.recording.lanes_of(np.setdiff1d(mine, step.taken)):
                kinds[lane] = "false"
        for _, threads in step.struck:
            for lane in self.recording.lanes_of(of_warps(self.recording, threads, [warp])):
                kinds[lane] = "struck"
        return kinds

    def _row_label(self, step: Step, y: float, here: bool) -> None:
        met = next((m for m in step.meetings if m.endswith("barrier")), "")
        text = f"{'meet ' if met else ''}{step.line}"
        colour = p.INK if here else p.QUIET
        self.ink.mono(self._band_left - 0.12, y, text, colour, bold=here, right=True)
        if here:
            self.ink.pointer(self._band_left - 0.055, y, p.ACTIVE)
        if met:
            self.ink.rule(self._band_left, y + ROW / 2, _BAND_RIGHT, p.INK, 1.6)

    # The hazard

    def _struck(self) -> np.ndarray:
        found = [of_warps(self.recording, t, self.warps) for _, t in self.step.struck]
        return np.concatenate(found) if found else np.empty(0, np.int64)

    def _hazard(self) -> None:
        struck = [
            self.recording.hazards[h]
            for h, threads in self.step.struck
            if of_warps(self.recording, threads, self.warps).size
        ]
        if not struck:
            return
        texts = [struck[0].message, str(struck[0].details.get("why", ""))]
        lines = [line for text in texts for line in textwrap.wrap(text, _HAZARD_CHARS)]
        lines = lines[:_MAX_HAZARD_LINES]
        if len(struck) > 1:
            lines[-1] += f" (and {len(struck) - 1} more)"
        tall = (len(lines) + 0.5) * ROW
        self.ink.boxes([_EDGE], [self.y + tall / 2], 0.16, tall, p.CONTESTED_CELL)
        for row, line in enumerate(lines):
            y = self.y + (row + 0.75) * ROW
            self.ink.words(_EDGE + 0.26, y, line, p.INK, bold=row == 0)

    def _legend(self) -> None:
        y = self.frame.height - 0.16 - (len(self.frame.legend) - 1) * _LEGEND_ROW
        for line in self.frame.legend:
            x = _EDGE
            for kind, text in line:
                self.ink.boxes([x], [y], 0.14, 0.13, {**_LOOKS, **_CELLS}[kind])
                self.ink.words(x + 0.2, y, text, p.INK)
                x += _entry_width(text)
            y += _LEGEND_ROW


def _code_rows(recording: Recording, function: str) -> list[tuple[int, str]]:
    """A kernel's text in rows that fit, each with the number of its line."""
    lines = recording.texts[function].lines
    bare = textwrap.dedent("\n".join(lines.values())).split("\n")
    rows = []
    for number, text in zip(lines, bare, strict=True):
        indent = " " * (len(text) - len(text.lstrip()) + 4)
        pieces = textwrap.wrap(
            text, _MAX_CHARS, subsequent_indent=indent, break_long_words=True,
            drop_whitespace=True, replace_whitespace=False,
        )  # fmt: skip
        rows += [(number, piece) for piece in pieces or [""]]
    return rows


def _entry_width(text: str) -> float:
    return 0.2 + 0.076 * len(text) + 0.17


def _legend_lines(
    steps: Sequence[Step], struck: bool, costs: bool, cells: bool
) -> tuple[tuple[tuple[str, str], ...], ...]:
    """The entries of a track's legend, in as many lines as they take."""
    entries = [("active", "active lane"), ("idle", "idle lane")]
    if any(s.taken is not None and s.taken.size < s.threads.size for s in steps):
        entries.insert(1, ("false", "active, condition false"))
    if struck:
        entries.append(("struck", "hazard"))
    if cells:
        entries += [("read", "read"), ("write", "written")]
    if costs and any(access.space == "global" for step in steps for access in step.accesses):
        entries.append(("waste", "moved, not asked for"))
    lines: list[list[tuple[str, str]]] = [[]]
    for entry in entries:
        taken = sum(_entry_width(text) for _, text in (*lines[-1], entry))
        if lines[-1] and _EDGE + taken > p.WIDEST:
            lines.append([])
        lines[-1].append(entry)
    return tuple(map(tuple, lines))


_LOOKS: dict[str, Look] = {
    "active": {"facecolor": p.ACTIVE, "edgecolor": p.ACTIVE, "linewidth": 0.6},
    "later active": {"facecolor": p.LATER_ACTIVE, "edgecolor": p.LATER_ACTIVE, "linewidth": 0.6},
    "false": {"facecolor": p.PAPER, "edgecolor": p.ACTIVE, "linewidth": 1.2},
    "idle": {"facecolor": p.IDLE, "edgecolor": p.IDLE, "linewidth": 0.4},
    "struck": {**p.CONTESTED_CELL, "linewidth": 1.0},
}
_CELLS = {"read": p.READ_CELL, "write": p.WRITTEN_CELL, "waste": p.UNWRITTEN_CELL}
_HERE: Look = {"facecolor": p.SHADE, "edgecolor": p.ACTIVE, "linewidth": 1.4}


def _window(at: int, count: int, rows: int, before: int) -> int:
    """The first of `rows` consecutive things around one of them."""
    return max(0, min(at - before, count - rows))
