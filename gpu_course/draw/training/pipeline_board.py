"""A pipeline as a board to be touched: each action is a thing of its own, with its place in order.

`board_svg` writes it as SVG that stands in a page, not in an image, so that a page's script can
find an action by its rank and step, move it, and show the way of its microbatch. What did not run
stands there too: outlined, behind the action that waits.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.ink import SVG_SANS, svg_defs, svg_hatch
from gpu_course.draw.paper.picture import heard
from gpu_course.draw.training.pipelines import LATER_LOOKS, LOOKS, WAITS, Levels

WIDE = round(p.WIDEST * p.CSS_PIXELS_PER_INCH)
_LEFT, _RIGHT, _TOP, _FOOT = 68, 14, 54, 62
_BAR, _LEVEL, _GAP = 24, 26, 10
_ROW = _BAR + _LEVEL + _GAP
_TEXT = p.SMALL * p.CSS_PIXELS_PER_INCH / 72
_DIGIT = 7.4
"""Pixels of a digit of the smallest text."""
NAMES = {
    "F": "forward",
    "B": "backward",
    "I": "backward to its input",
    "W": "backward to its weights",
}
"""Each kind of action in words."""
_SHORT = {"F": "forward", "B": "backward", "I": "to its input", "W": "to its weights"}
NEVER: dict[str, Any] = {"facecolor": p.PAPER, "edgecolor": p.RULE}
_STANDS: dict[str, Any] = {
    "facecolor": p.CONFLICT_TINT,
    "edgecolor": p.CONFLICT,
    "hatch": p.CONFLICT_HATCH,
}


class Cell(NamedTuple):
    """One action on the board.

    Attributes:
        rank, step: in whose order it stands, and at which place.
        stage, kind, chunk, microbatch: what it is; `chunk` counts the rank's stages from 0.
        start, end: when it ran; of one that did not, where it is drawn.
        ran: False for what never could.
        guilty: True for what the rules find fault with.
    """

    rank: int
    step: int
    stage: int
    kind: str
    chunk: int
    microbatch: int
    start: float
    end: float
    ran: bool = True
    guilty: bool = False

    @property
    def label(self) -> str:
        """How PyTorch writes it: 2F5."""
        return f"{self.stage}{self.kind}{self.microbatch}"

    @property
    def words(self) -> str:
        """Where it is and what, in words."""
        what = f"{self.label}, {NAMES[self.kind]} of microbatch {self.microbatch}"
        when = f"from {self.start:.4g} to {self.end:.4g}" if self.ran else "never runs"
        guilty = ", and is at fault" if self.guilty else ""
        where = f"rank {self.rank}, step {self.step}"
        return f"{where}: {what} through stage {self.stage}, {when}{guilty}"


def way_of(cells: Sequence[Cell], microbatch: int) -> list[Cell]:
    """Returns what ran of a microbatch on its way down the stages and back, W left out.

    Args:
        cells: of a board.
        microbatch: its number.
    """
    own = [c for c in cells if c.microbatch == microbatch and c.kind != "W" and c.ran]
    return sorted(own, key=lambda c: (c.start, c.end))


def way_words(cells: Sequence[Cell], microbatch: int) -> str:
    """Returns a microbatch's way in a sentence: from when to when, and how long it lies still.

    Args:
        cells: of a board.
        microbatch: its number.
    """
    way = way_of(cells, microbatch)
    if not way:
        return f"Microbatch {microbatch} never begins."
    forward = [c for c in way if c.kind == "F"]
    back = [c for c in way if c.kind != "F"]
    said = f"Microbatch {microbatch}: "
    parts = []
    if forward:
        stages = f"stages {forward[0].stage} to {forward[-1].stage}"
        parts.append(f"down {stages} from {forward[0].start:.4g} to {forward[-1].end:.4g}")
    if back:
        parts.append(f"back from {back[0].start:.4g} to {back[-1].end:.4g}")
    whole = max(c.end for c in way) - way[0].start
    still = whole - sum(c.end - c.start for c in way)
    parts.append(f"it lies still for {max(still, 0.0):.4g} of {whole:.4g}")
    missing = any(c.microbatch == microbatch and not c.ran for c in cells)
    return said + ", ".join(parts) + (". The rest never runs." if missing else ".")


def board_svg(
    cells: Sequence[Cell],
    name: str,
    words: str,
    *,
    ranks: int,
    memory: Sequence[Levels] = (),
    waits: Sequence[tuple[str, str]] = (),
    limit: float | None = None,
) -> str:
    """Returns the board as SVG, 696 pixels wide.

    Args:
        cells: all actions, those that never ran behind those that did.
        name: of the schedule, the first line.
        words: the second line.
        ranks: how many rows there are.
        memory: for each rank what it holds from when on, (time, held).
        waits: of a deadlock, for each rank in the circle the labels of what it stands at and of
            what it waits for: arrows show them.
        limit: what a rank may hold: a line in each area.
    """
    end = max((c.end for c in cells), default=1.0) or 1.0
    scale = (WIDE - _LEFT - _RIGHT) / end
    most = max([held for levels in memory for _, held in levels] + [limit or 0.0])
    tall = _TOP + ranks * _ROW + _FOOT
    drawn = [
        _words(10, 20, name, p.INK, bold=True, size=_TEXT * p.NORMAL / p.SMALL),
        _words(10, 40, words, p.QUIET),
    ]
    for rank in range(ranks):
        top = _TOP + rank * _ROW
        own = sorted((c for c in cells if c.rank == rank), key=lambda c: c.step)
        drawn.append(_words(10, top + _BAR / 2 + 4, f"rank {rank}", p.INK))
        drawn += _waits(own, top, scale)
        if memory:
            drawn += _levels(memory[rank], top + _BAR + _LEVEL, scale, most, end)
            if limit is not None and most:
                y = top + _BAR + _LEVEL - limit / most * (_LEVEL - 4)
                drawn.append(
                    f'<path d="M{_LEFT},{y:.1f}H{WIDE - _RIGHT}" stroke="{p.CONFLICT}"'
                    f' stroke-width="1" stroke-dasharray="4 3"/>'
                )
    drawn += _ways(cells, scale)
    drawn += [_cell(c, scale) for c in cells]
    drawn += _arrows(cells, waits, scale)
    drawn.append(
        f'<path class="board-gap" d="M0,-3v{_BAR + 6}" stroke="{p.INK}" stroke-width="3"'
        ' visibility="hidden"/>'
    )
    drawn += _key(cells, bool(memory), tall - 36)
    inside = "".join(drawn)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDE}" height="{tall}"'
        f' viewBox="0 0 {WIDE} {tall}" data-left="{_LEFT}" data-top="{_TOP}" data-row="{_ROW}"'
        f' style="max-width:100%;height:auto;display:block">{svg_defs(inside)}'
        f'<rect width="{WIDE}" height="{tall}" fill="{p.PAPER}"/>{inside}</svg>'
    )


def describe_board(cells: Sequence[Cell], name: str, words: str, ranks: int) -> str:
    """Returns in words what a board shows, rank by rank.

    Args:
        cells, name, words, ranks: as for `board_svg`.
    """
    lines = [f"{name}: {heard(words)}."]
    for rank in range(ranks):
        own = sorted((c for c in cells if c.rank == rank), key=lambda c: c.step)
        ran = [c for c in own if c.ran]
        said = f"rank {rank}: {' '.join(c.label for c in own) or 'nothing'}"
        if len(ran) < len(own):
            said += f"; stands at {own[len(ran)].label}"
        lines.append(f"{said}.")
    return "\n".join(lines)


def ways_json(cells: Sequence[Cell]) -> str:
    """Returns for each microbatch its way in words, as JSON.

    Args:
        cells: of a board.
    """
    return json.dumps({str(each): way_words(own, each) for each, own in _by_microbatch(cells)})


def _by_microbatch(cells: Sequence[Cell]) -> list[tuple[int, list[Cell]]]:
    """Returns each microbatch with its own cells, in order."""
    found: dict[int, list[Cell]] = {}
    for cell in cells:
        found.setdefault(cell.microbatch, []).append(cell)
    return sorted(found.items())


def _look(cell: Cell) -> Mapping[str, Any]:
    if cell.guilty:
        return _STANDS
    if not cell.ran:
        return NEVER
    return (LATER_LOOKS if cell.chunk % 2 else LOOKS)[cell.kind]


def _cell(cell: Cell, scale: float) -> str:
    look = _look(cell)
    x, y = _LEFT + cell.start * scale, _TOP + cell.rank * _ROW
    wide = max((cell.end - cell.start) * scale, 1.0)
    box = f'x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{_BAR}"'
    dashes = "" if cell.ran or cell.guilty else ' stroke-dasharray="3 2"'
    edge = f'stroke="{look["edgecolor"]}" stroke-width="0.8"{dashes}'
    parts = [f'<rect {box} fill="{look["facecolor"]}" {edge}/>']
    if "hatch" in look:
        parts.append(f'<rect {box} fill="{svg_hatch(look["hatch"], look["edgecolor"])}"/>')
    text = str(cell.microbatch)
    if len(text) * _DIGIT + 2 <= wide:
        colour = p.PAPER if look is LOOKS["F"] else p.INK
        parts.append(
            f'<text x="{x + wide / 2:.1f}" y="{y + _BAR / 2 + 4.3:.1f}" text-anchor="middle"'
            f' fill="{colour}" font-size="{_TEXT:.0f}" font-family="{SVG_SANS}">{text}</text>'
        )
    return (
        f'<g class="board-act" data-rank="{cell.rank}" data-step="{cell.step}"'
        f' data-microbatch="{cell.microbatch}" role="button"'
        f' aria-label="{html.escape(cell.words, quote=True)}">{"".join(parts)}</g>'
    )


def _waits(own: Sequence[Cell], top: float, scale: float) -> list[str]:
    fill, parts, last = svg_hatch(WAITS["hatch"], WAITS["edgecolor"]), [], None
    for cell in own:
        if not cell.ran:
            continue
        if last is not None and (cell.start - last) * scale > 1:
            box = (
                f'x="{_LEFT + last * scale:.1f}" y="{top}"'
                f' width="{(cell.start - last) * scale:.1f}" height="{_BAR}"'
            )
            edge = f'fill="{p.PAPER}" stroke="{p.RULE}" stroke-width="0.6"'
            parts.append(f'<rect class="board-wait" {box} {edge}/><rect {box} fill="{fill}"/>')
        last = cell.end
    return parts


def _levels(levels: Levels, floor: float, scale: float, most: float, end: float) -> list[str]:
    high = (_LEVEL - 4) / most if most else 0.0
    data = f"M{_LEFT},{floor:.1f}"
    for (time, held), later in zip(levels, [*levels[1:], None], strict=True):
        if later is not None and later[0] == time:
            # One ends as the next begins: what is held in between lasts for no time.
            continue
        data += f"H{_LEFT + min(time, end) * scale:.1f}V{floor - held * high:.1f}"
    data += f"H{_LEFT + end * scale:.1f}V{floor:.1f}Z"
    return [f'<path d="{data}" fill="{p.READ_TINT}" stroke="{p.READ}" stroke-width="0.8"/>']


def _ways(cells: Sequence[Cell], scale: float) -> list[str]:
    parts = []
    for each, own in _by_microbatch(cells):
        way = way_of(own, each)
        points = " ".join(
            f"{_LEFT + (c.start + c.end) / 2 * scale:.1f},{_TOP + c.rank * _ROW + _BAR / 2}"
            for c in way
        )
        parts.append(
            f'<polyline class="board-way" data-microbatch="{each}" points="{points}" fill="none"'
            f' stroke="{p.INK}" stroke-width="2" stroke-dasharray="6 3" visibility="hidden"/>'
        )
    return parts


def _arrows(cells: Sequence[Cell], waits: Sequence[tuple[str, str]], scale: float) -> list[str]:
    """Draws from each action that stands to the one it waits for, beside the cells' middles."""
    at = {c.label: c for c in cells}
    parts = []
    for stands, needed in waits:
        if stands not in at or needed not in at:
            continue
        a, b = at[stands], at[needed]
        x1, x2 = (_LEFT + (c.start + c.end) / 2 * scale for c in (a, b))
        down = b.rank > a.rank
        y1 = _TOP + a.rank * _ROW + (_BAR if down else 0)
        y2 = _TOP + b.rank * _ROW + (0 if down else _BAR) + (-3 if down else 3)
        tip = -7 if down else 7
        bend = x1 + (x2 - x1) / 2, (y1 + y2) / 2
        parts.append(
            f'<path class="board-waits" d="M{x1:.1f},{y1}Q{bend[0]:.1f},{bend[1]:.1f}'
            f' {x2:.1f},{y2 + tip}" fill="none" stroke="{p.CONFLICT}" stroke-width="2"/>'
            f'<path d="M{x2 - 5:.1f},{y2 + tip}h10L{x2:.1f},{y2}z" fill="{p.CONFLICT}"/>'
        )
    return parts


def _key(
    cells: Sequence[Cell],
    memory: bool,
    y: float,
) -> list[str]:
    entries: list[tuple[Mapping[str, Any], str]] = [
        (LOOKS[kind], _SHORT[kind]) for kind in LOOKS if any(c.kind == kind for c in cells)
    ]
    if any(c.chunk % 2 for c in cells):
        entries.append((LATER_LOOKS["F"], "pale: 2nd stage"))
    entries.append((WAITS, "bubble"))
    if any(c.guilty for c in cells):
        entries.append((_STANDS, "at fault"))
    if any(not c.ran for c in cells):
        entries.append((NEVER, "never runs"))
    if memory:
        entries.append(({"facecolor": p.READ_TINT, "edgecolor": p.READ}, "held"))
    parts, x = [], 10.0
    for look, words in entries:
        wide = 25 + len(words) * 6.6 + 14
        if x + wide > WIDE:
            x, y = 10.0, y + 20
        box = f'x="{x:.1f}" y="{y - 10}" width="20" height="13"'
        parts.append(
            f'<rect {box} fill="{look["facecolor"]}" stroke="{look["edgecolor"]}"'
            ' stroke-width="0.8"/>'
        )
        if "hatch" in look:
            parts.append(f'<rect {box} fill="{svg_hatch(look["hatch"], look["edgecolor"])}"/>')
        parts.append(_words(x + 25, y + 1, words, p.INK))
        x += wide
    return parts


def _words(
    x: float, y: float, text: str, colour: str, *, bold: bool = False, size: float = _TEXT
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" font-size="{size:.1f}"{weight}'
        f' font-family="{SVG_SANS}">{html.escape(text)}</text>'
    )
