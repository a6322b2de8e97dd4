"""Pictures of a mesh of ranks: in three dimensions and as devices stand, who talks to whom.

Each picture takes its data, and so does not know how a mesh counts its ranks. A group has a colour
and a letter, a link has a colour and dashes by its class, and nothing is told by colour alone.
"""

from __future__ import annotations

import base64
import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import title
from gpu_course.draw.paper.ink import SVG_SANS
from gpu_course.draw.paper.picture import heard, with_alt
from gpu_course.draw.paper.svg import figure_svg
from gpu_course.errors import CourseError
from simt.text import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_RANKS = 64
"""More cannot be read at half a window."""
LINK_LOOKS: Mapping[str, dict[str, Any]] = {
    "in a node": {"color": p.FINE, "linewidth": 1.6, "linestyle": "solid"},
    "between nodes": {"color": p.WRITE_EDGE, "linewidth": 1.6, "linestyle": (0, (4, 2))},
    "between racks": {"color": p.CONFLICT, "linewidth": 2.0, "linestyle": (0, (1.2, 1.4))},
}
"""Each class of links, the fast ones first."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
"""Names of groups."""

_LEFT, _TOP = 0.2, 1.0
_CELL, _HIGH = 0.38, 0.2
_UP = 0.32
"""Inches from a rank to the one behind it, upwards."""
_NODE_PAD = 0.06
_Places = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class MeshData:
    """What a picture of a mesh is made from.

    Attributes:
        sizes: (name, ranks) of each axis, the innermost first.
        coords: for each rank its place on each axis.
        groups: axis -> its groups of ranks.
        axis: whose groups are coloured.
        links: (rank, rank, class of the link) of those who talk along this axis.
        devices: for each rank the device it is on.
        node: devices of a node.
        rack: nodes of a rack; None where there is one.
    """

    sizes: Sequence[tuple[str, int]]
    coords: Sequence[Mapping[str, int]]
    groups: Mapping[str, Sequence[Sequence[int]]]
    axis: str
    links: Sequence[tuple[int, int, str]]
    devices: Sequence[int]
    node: int
    rack: int | None = None

    def __post_init__(self) -> None:
        if not 1 <= len(self.coords) <= MOST_RANKS:
            raise CourseError(
                f"a mesh of {len(self.coords)} ranks cannot be drawn",
                f"give sizes whose product is at most {MOST_RANKS}",
            )

    @property
    def ranks(self) -> int:
        """How many ranks there are."""
        return len(self.coords)

    def letter(self, rank: int) -> str:
        """Returns the name of a rank's group of the coloured axis."""
        return LETTERS[self._group(rank) % len(LETTERS)]

    def colour(self, rank: int) -> str:
        """Returns the colour of a rank's group of the coloured axis."""
        return p.BLOCK_COLOURS[self._group(rank) % len(p.BLOCK_COLOURS)]

    def _group(self, rank: int) -> int:
        return next(k for k, group in enumerate(self.groups[self.axis]) if rank in group)


def draw_mesh(data: MeshData, picked: int | None = None) -> Figure:
    """Returns the mesh in three dimensions, the groups of an axis coloured.

    The three inner axes that have more than one rank go right, back and up. What is left is drawn
    as further blocks.

    Args:
        data: what is drawn.
        picked: a rank whose groups are outlined, of all axes.
    """
    return _drawn(data, _in_space(data), picked, lattice=True)


def draw_devices(data: MeshData, picked: int | None = None) -> Figure:
    """Returns the devices node by node, each with its rank, the groups of an axis coloured.

    Args:
        data, picked: as for `draw_mesh`.
    """
    return _drawn(data, _on_floor(data), picked, lattice=False)


def _drawn(data: MeshData, sheet: _Sheet, picked: int | None, *, lattice: bool) -> Figure:
    with p.style():
        figure, axes = p.sheet(p.WIDEST, sheet.height)
        title(axes, 0.1, _name(data), _counted(data), mono=False)
        _draw_nodes(axes, sheet.nodes)
        if lattice:
            _draw_lattice(axes, data, sheet.places)
        ground = p.SHADE if sheet.nodes else p.PAPER
        for x, y, words in sheet.words:
            axes.text(
                x, y, words, fontsize=p.SMALL, color=p.QUIET, va="center_baseline", zorder=5,
                bbox={"boxstyle": "square,pad=0.1", "facecolor": ground, "edgecolor": "none"},
            )  # fmt: skip
        _draw_links(axes, data, sheet.places)
        _draw_cells(axes, data, sheet.places)
        if picked is not None:
            _draw_pick(axes, data, sheet.places, picked)
        _draw_key(axes, data, sheet.height - 0.17)
    return with_alt(figure, describe_mesh(data, picked))


def describe_mesh(data: MeshData, picked: int | None = None) -> str:
    """Returns in words what the pictures of a mesh show.

    Args:
        data, picked: as for `draw_mesh`.
    """
    sizes = ", ".join(f"{name} {size}" for name, size in data.sizes)
    lines = [
        f"A mesh of {count(data.ranks, 'rank')}, the innermost axis first: {sizes}.",
        _name(data) + ".",
    ]
    lines.append(heard(_counted(data)) + ".")
    groups = data.groups[data.axis]
    for number, group in enumerate(groups[:8]):
        word = "ranks" if len(group) > 1 else "rank"
        lines.append(f"Group {LETTERS[number]}: {word} {_listed(group)}.")
    if len(groups) > 8:
        lines.append(f"And {len(groups) - 8} more.")
    if picked is not None:
        lines.append(describe_rank(data, picked))
    return "\n".join(lines)


def describe_rank(data: MeshData, rank: int) -> str:
    """Returns where a rank stands, and with whom it is in a group.

    Args:
        data: what is drawn.
        rank: whose groups are told.
    """
    place = ", ".join(f"{name} {at}" for name, at in data.coords[rank].items())
    told = [f"Rank {rank} is at {place}, in node {data.devices[rank] // data.node}"]
    for axis, size in data.sizes:
        if size > 1:
            group = next(group for group in data.groups[axis] if rank in group)
            told.append(f"{axis} with {_listed([other for other in group if other != rank])}")
    return "; ".join(told) + "."


def _listed(ranks: Sequence[int]) -> str:
    if len(ranks) <= 8:
        return ", ".join(map(str, ranks))
    return f"{', '.join(map(str, ranks[:6]))} and so on to {ranks[-1]}"


def _name(data: MeshData) -> str:
    groups = data.groups[data.axis]
    return f"{len(groups)} {'groups' if len(groups) > 1 else 'group'} of {data.axis}"


def _counted(data: MeshData) -> str:
    size = len(data.groups[data.axis][0])
    if size == 1:
        return "each rank is alone: nobody talks along this axis"
    found = {name: sum(link == name for *_, link in data.links) for name in LINK_LOOKS}
    said = [f"{many} {name}" for name, many in found.items() if many]
    return f"{size} ranks each  ·  links: {', '.join(said)}"


def _spread(data: MeshData) -> tuple[list[str], list[str]]:
    """Returns the axes that go right, back and up, and those of which the blocks are made."""
    wide = [name for name, size in data.sizes if size > 1]
    return wide[:3], wide[3:]


@dataclass(frozen=True)
class _Sheet:
    """Where things stand on a sheet, in inches.

    Attributes:
        places: the middle of each rank.
        words: (x, y, text) of what is written around.
        nodes: (left, top, width, height) of each node, where nodes are drawn.
        height: of the sheet.
    """

    places: _Places
    words: Sequence[tuple[float, float, str]]
    nodes: Sequence[tuple[float, float, float, float]]
    height: float


def _in_space(data: MeshData) -> _Sheet:
    sizes = dict(data.sizes)
    inner, outer = _spread(data)
    right, back, up = ([sizes[name] for name in inner] + [1, 1, 1])[:3]
    blocks = math.prod(sizes[name] for name in outer)
    room = p.WIDEST - 2 * _LEFT
    aside = 0.16 if blocks > 1 or right > 8 else 0.34
    least = right * (_CELL + 0.04) + (back - 1) * aside + 0.2
    across = 1
    while across < blocks and blocks % (2 * across) == 0 and 2 * across * least <= room:
        across *= 2
    step = (room / across - 0.2 - (back - 1) * aside) / right
    step = max(_CELL + 0.02, min(step, 1.4 if blocks == 1 else 0.62))
    layer = back * _UP + 0.22
    under = 0.54 if outer else 0.24
    tall = (up - 1) * layer + back * _UP + under
    places, words = [], {}
    for coords in data.coords:
        x, y, z = ([coords[name] for name in inner] + [0, 0, 0])[:3]
        number = 0
        for name in reversed(outer):
            number = number * sizes[name] + coords[name]
        left = _LEFT + number % across * room / across
        foot = _TOP + (number // across + 1) * tall - under
        said = ", ".join(f"{name} {coords[name]}" for name in outer)
        words[number] = (left, foot + 0.35, said)
        places.append((left + _CELL / 2 + x * step + y * aside, foot - y * _UP - z * layer))
    ways = zip(inner, ("goes right", "back", "up"), strict=False)
    compass = ", ".join(f"{name} {way}" for name, way in ways)
    return _Sheet(
        places,
        [(_LEFT - 0.1, 0.76, compass), *words.values()],
        [],
        _TOP + math.ceil(blocks / across) * tall + 0.4,
    )


def _on_floor(data: MeshData) -> _Sheet:
    pitch = _CELL + 0.02
    per_line = min(data.node, data.ranks, 8)
    lines = math.ceil(min(data.node, data.ranks) / per_line)
    wide = per_line * pitch + 2 * _NODE_PAD
    across = max(1, int((p.WIDEST - 2 * _LEFT + 0.2) / (wide + 0.2)))
    high = 0.3 + lines * (_HIGH + 0.12)
    tall = high + 0.22
    nodes, words = [], []
    for number in range(math.ceil(data.ranks / data.node)):
        x, y = _LEFT + number % across * (wide + 0.2), 0.8 + number // across * tall
        nodes.append((x, y, wide, high))
        rack = f"rack {number // data.rack}, " if data.rack is not None else ""
        words.append((x + 0.08, y + 0.13, f"{rack}node {number}"))
    places = []
    for device in data.devices:
        x, y, *_ = nodes[device // data.node]
        line, slot = divmod(device % data.node, per_line)
        places.append((x + _NODE_PAD + (slot + 0.5) * pitch, y + 0.38 + line * (_HIGH + 0.12)))
    return _Sheet(places, words, nodes, 0.8 + math.ceil(len(nodes) / across) * tall + 0.4)


def _draw_nodes(axes: Axes, nodes: Sequence[tuple[float, float, float, float]]) -> None:
    from matplotlib.patches import Rectangle

    for x, y, wide, high in nodes:
        look: dict[str, Any] = {"facecolor": p.SHADE, "edgecolor": p.RULE, "zorder": 0}
        axes.add_artist(Rectangle((x, y), wide, high, **look))


def _draw_lattice(axes: Axes, data: MeshData, places: _Places) -> None:
    """Draws a thin line along each row of each of the three axes."""
    inner, _ = _spread(data)
    for axis in inner:
        for group in data.groups[axis]:
            ends = places[group[0]], places[group[-1]]
            axes.plot(*zip(*ends, strict=True), color=p.IDLE, lw=0.8, zorder=1)


def _draw_links(axes: Axes, data: MeshData, places: _Places) -> None:
    for one, other, link in data.links:
        points = _way(places, one, other)
        axes.plot(*zip(*points, strict=True), zorder=2, **LINK_LOOKS[link])


def _way(places: _Places, one: int, other: int) -> list[tuple[float, float]]:
    """Returns a line, which bends where it is long: else it would lie on what is between."""
    (x0, y0), (x1, y1) = places[one], places[other]
    far = math.hypot(x1 - x0, y1 - y0)
    bend = min(0.12 * far, 0.3) if far > 0.7 else 0.0
    across = (-(y1 - y0) / far, (x1 - x0) / far) if far else (0.0, 0.0)
    points = []
    for step in range(9 if bend else 2):
        t = step / (8 if bend else 1)
        off = 4 * bend * t * (1 - t)
        points.append((x0 + t * (x1 - x0) + off * across[0], y0 + t * (y1 - y0) + off * across[1]))
    return points


def _draw_cells(axes: Axes, data: MeshData, places: _Places) -> None:
    from matplotlib.patches import Rectangle

    for rank, (x, y) in enumerate(places):
        colour = data.colour(rank)
        corner = (x - _CELL / 2, y - _HIGH / 2)
        cell = Rectangle(corner, _CELL, _HIGH, facecolor=colour, edgecolor=p.PAPER, zorder=4)
        axes.add_artist(cell)
        ink = p.ink_on(colour)
        axes.text(
            x, y, str(rank), fontsize=p.SMALL, color=ink, ha="right",
            va="center_baseline", zorder=6,
        )  # fmt: skip
        axes.text(
            x + 0.035, y, data.letter(rank), fontsize=p.SMALL, color=ink, fontweight="bold",
            ha="left", va="center_baseline", zorder=6,
        )  # fmt: skip


def _draw_pick(axes: Axes, data: MeshData, places: _Places, picked: int) -> None:
    from matplotlib.patches import Rectangle

    for rank, axis in ((picked, ""), *_partners(data, picked)):
        x, y = places[rank]
        corner = (x - _CELL / 2 - 0.02, y - _HIGH / 2 - 0.02)
        look = p.RINGS[1] if axis else p.RINGS[0]
        axes.add_artist(Rectangle(corner, _CELL + 0.04, _HIGH + 0.04, zorder=7, **look))
        if axis:
            wide = 0.07 * len(axis) + 0.06
            plate = (x - wide / 2, y + _HIGH / 2 - 0.03)
            white = Rectangle(plate, wide, 0.15, facecolor=p.PAPER, edgecolor="none", zorder=8)
            axes.add_artist(white)
            axes.text(
                x, y + _HIGH / 2 + 0.045, axis, fontsize=p.SMALL, color=p.INK, ha="center",
                va="center_baseline", zorder=9,
            )  # fmt: skip


def _partners(data: MeshData, rank: int) -> list[tuple[int, str]]:
    """Returns (rank, axis) of all who are in a group with a rank."""
    return [
        (other, axis)
        for axis, size in data.sizes
        if size > 1
        for other in next(group for group in data.groups[axis] if rank in group)
        if other != rank
    ]


def _draw_key(axes: Axes, data: MeshData, y: float) -> None:
    x = 0.12
    axes.text(x, y, "7", fontsize=p.SMALL, color=p.INK, va="center_baseline")
    axes.text(x + 0.1, y, "A", fontsize=p.SMALL, color=p.INK, fontweight="bold",
              va="center_baseline")  # fmt: skip
    words = "rank 7, of group A"
    axes.text(x + 0.26, y, words, fontsize=p.SMALL, color=p.INK, va="center_baseline")
    x += 0.26 + len(words) * 0.068 + 0.15
    used = {link for *_, link in data.links}
    for name, look in LINK_LOOKS.items():
        if name in used:
            axes.plot([x, x + 0.3], [y, y], zorder=3, **look)
            axes.text(x + 0.36, y, name, fontsize=p.SMALL, color=p.INK, va="center_baseline")
            x += 0.36 + len(name) * 0.068 + 0.2


_SAID = 0.42
"""Inches below a picture for what is said of the rank that is picked."""
_PX = p.CSS_PIXELS_PER_INCH
_OWN_KEYS = ' data-lm-suppress-shortcuts="true"'
"""JupyterLab moves between cells by the arrow keys, also where something in a cell has focus."""
_MIDDLE = ' text-anchor="middle"'


def pickable_html(data: MeshData, name: str, *, flat: bool = False, first: int = 0) -> str:
    """Returns a picture of a mesh in which ranks are picked by a click, or by the arrow keys.

    Each rank lies under a radio button, and style sheets show what belongs to the one that is
    chosen: so it works without a kernel, and at once.

    Args:
        data: what is drawn.
        name: of this picture, which no other on the page has: letters and digits.
        flat: True for the devices node by node, False for three dimensions.
        first: the rank that is picked at first.
    """
    sheet = _on_floor(data) if flat else _in_space(data)
    figure = draw_devices(data) if flat else draw_mesh(data)
    wide, tall = round(p.WIDEST * _PX), round((sheet.height + _SAID) * _PX)
    image = base64.b64encode(figure_svg(figure).encode()).decode("ascii")
    marks = "".join(_mark(data, sheet, name, rank) for rank in range(data.ranks))
    shown = ",".join(f"#{name}-{rank}:checked~svg .k{rank}" for rank in range(data.ranks))
    return (
        f'<div class="{name}" role="radiogroup"'
        f' aria-label="{html.escape(describe_mesh(data), quote=True)}"'
        f' style="position:relative;width:{wide}px;max-width:100%;background:{p.PAPER};'
        f'border-radius:6px"><style>.{name} svg .k,.{name} svg .f{{visibility:hidden}}'
        f"{shown},.{name} input:focus-visible~svg .f{{visibility:visible}}"
        f".{name} input{{position:absolute;margin:0;opacity:0;cursor:pointer}}</style>"
        f'<img alt="" style="display:block;width:100%;height:auto"'
        f' src="data:image/svg+xml;base64,{image}">'
        f'<div style="height:0;padding-bottom:{100 * _SAID / p.WIDEST:.3f}%"></div>'
        f"{''.join(_button(data, sheet, name, rank, rank == first) for rank in range(data.ranks))}"
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" aria-hidden="true"'
        f' style="position:absolute;left:0;top:0;width:100%;pointer-events:none">'
        f"{_symbols(data, name)}"
        f'<rect class="f" x="1" y="1" width="{wide - 2}" height="{tall - 2}" fill="none"'
        f' stroke="{p.ACTIVE}" stroke-width="2"/>{marks}</svg></div>'
    )


def _button(data: MeshData, sheet: _Sheet, name: str, rank: int, checked: bool) -> str:
    x, y = sheet.places[rank]
    tall = sheet.height + _SAID
    place = (
        f"left:{100 * (x - _CELL / 2) / p.WIDEST:.2f}%;top:{100 * (y - _HIGH / 2) / tall:.2f}%;"
        f"width:{100 * _CELL / p.WIDEST:.2f}%;height:{100 * _HIGH / tall:.2f}%"
    )
    return (
        f'<input type="radio" name="{name}" id="{name}-{rank}" style="{place}"'
        f' aria-label="{html.escape(describe_rank(data, rank), quote=True)}"'
        f"{' checked' if checked else ''}{_OWN_KEYS}>"
    )


def _symbols(data: MeshData, name: str) -> str:
    """Returns the frame of the rank that is picked, and one for each axis with its name."""
    wide, high = (_CELL + 0.04) * _PX, (_HIGH + 0.04) * _PX
    box = f'x="{-wide / 2:.1f}" y="{-high / 2:.1f}" width="{wide:.1f}" height="{high:.1f}"'
    drawn = [f'<g id="{name}-own"><rect {box} fill="none" stroke="{p.INK}" stroke-width="3"/></g>']
    for axis, size in data.sizes:
        if size > 1:
            plate = (0.07 * len(axis) + 0.06) * _PX
            drawn.append(
                f'<g id="{name}-{axis}"><rect {box} fill="none" stroke="{p.CONTRAST}"'
                f' stroke-width="3" stroke-dasharray="5 2.5"/><rect x="{-plate / 2:.1f}"'
                f' y="{high / 2 - 4:.1f}" width="{plate:.1f}" height="14" fill="{p.PAPER}"/>'
                f"{_svg_text(0, high / 2 + 7, axis, _MIDDLE)}</g>"
            )
    return f"<defs>{''.join(drawn)}</defs>"


def _mark(data: MeshData, sheet: _Sheet, name: str, rank: int) -> str:
    """Returns what is shown while a rank is picked."""
    used = "".join(
        f'<use href="#{name}-{axis}" x="{sheet.places[other][0] * _PX:.1f}"'
        f' y="{sheet.places[other][1] * _PX:.1f}"/>'
        for other, axis in [*_partners(data, rank), (rank, "own")]
    )
    first, *rest = describe_rank(data, rank).split("; ")
    foot = sheet.height * _PX
    return (
        f'<g class="k k{rank}">{used}{_svg_text(12, foot + 12, first)}'
        f"{_svg_text(12, foot + 30, '; '.join(rest))}</g>"
    )


def _svg_text(x: float, y: float, words: str, more: str = "") -> str:
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" fill="{p.INK}" font-family="{SVG_SANS}"'
        f' font-size="{p.SMALL * _PX / 72:.0f}"{more}>{html.escape(words)}</text>'
    )
