"""Pictures of lesson 14: who shares a cache, its pages, batches under roofs, launches of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import title
from gpu_course.draw.paper.picture import with_alt
from gpu_course.lessons.decoding.costs import Cache, Step
from gpu_course.units import format_bytes
from simt.text import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LEFT = 0.25
_WHITE = {"boxstyle": "square,pad=0.12", "facecolor": p.PAPER, "edgecolor": "none"}


# who shares

_ROW, _HEAD, _FOOT = 1.0, 0.85, 0.45
_QUERIES, _END = 1.6, 5.6


def draw_sharing(caches: Sequence[tuple[str, Cache]]) -> Figure:
    """Returns which heads of the queries ask which keys and values, a row for each cache.

    Args:
        caches: (name, cache), each with as many heads of the queries.
    """
    from matplotlib.patches import Rectangle

    most = max(cache.token_bytes for _, cache in caches)
    with p.style():
        figure, axes = p.sheet(p.WIDEST, _HEAD + len(caches) * _ROW + _FOOT)
        second = "above: the queries of a token; below: what is kept of every token before it"
        title(axes, _LEFT, "Who asks which keys and values", second, mono=False)
        for row, (name, cache) in enumerate(caches):
            top = _HEAD + row * _ROW
            axes.text(_LEFT, top + 0.28, name, fontsize=p.NORMAL, fontweight="bold", color=p.INK,
                      va="center")  # fmt: skip
            axes.text(_LEFT, top + 0.55, count(cache.kv_heads, "KV head"), fontsize=p.SMALL,
                      color=p.QUIET, va="center")  # fmt: skip
            _share(axes, cache, top)
            wide = 1.3 * cache.token_bytes / most
            look: dict[str, Any] = {"facecolor": p.ACTIVE, "edgecolor": p.INK, "linewidth": 0.6}
            axes.add_artist(Rectangle((_END + 0.2, top + 0.48), wide, 0.2, zorder=3, **look))
            axes.text(_END + 0.2, top + 0.3, format_bytes(cache.token_bytes), fontsize=p.SMALL,
                      color=p.INK, va="center")  # fmt: skip
        axes.text(_END + 0.2, _HEAD - 0.05, "kept of a token", fontsize=p.SMALL, color=p.QUIET,
                  va="center")  # fmt: skip
        foot = _HEAD + len(caches) * _ROW + 0.1
        words = "a line: this query is multiplied with these keys, and its weights with the values"
        axes.text(_LEFT, foot, words, fontsize=p.SMALL, color=p.QUIET, va="center")
    return with_alt(figure, describe_sharing(caches))


def _share(axes: Axes, cache: Cache, top: float) -> None:
    from matplotlib.patches import Circle, Rectangle

    step = (_END - _QUERIES) / cache.heads
    group = cache.heads // cache.kv_heads
    for head in range(cache.heads):
        x, kv = _QUERIES + (head + 0.5) * step, head // group
        box = _QUERIES + (kv + 0.5) * group * step
        axes.plot([x, box], [top + 0.2, top + 0.52], color=p.RULE, lw=1.0, zorder=2)
        axes.add_artist(
            Circle(
                (x, top + 0.17), 0.1, facecolor=p.READ_TINT, edgecolor=p.ACTIVE, lw=1.2, zorder=4
            )
        )
    for kv in range(cache.kv_heads):
        box = _QUERIES + (kv + 0.5) * group * step
        for offset, letter in ((-0.14, "K"), (0.14, "V")):
            wide = min(0.26, step * group / 2 - 0.03)
            axes.add_artist(
                Rectangle((box + offset * wide / 0.26 - wide / 2, top + 0.48), wide, 0.22, zorder=4,
                          facecolor=p.WRITE_TINT, edgecolor=p.WRITE, lw=1.2)
            )  # fmt: skip
            axes.text(box + offset * wide / 0.26, top + 0.595, letter, fontsize=p.SMALL,
                      color=p.INK, ha="center", va="center_baseline", zorder=5)  # fmt: skip


def describe_sharing(caches: Sequence[tuple[str, Cache]]) -> str:
    """Returns in words what `draw_sharing` shows."""
    parts = [
        f"{name}: {count(cache.heads, 'head')} of the queries share "
        f"{count(cache.kv_heads, 'KV head')}; {format_bytes(cache.token_bytes)} kept of a token"
        for name, cache in caches
    ]
    return "Who asks which keys and values. " + ". ".join(parts) + "."


# pages


@dataclass(frozen=True)
class Pool:
    """A cache in pages, as a run has left it.

    Attributes:
        written: for each page and slot the sequence whose token is there, or -1.
        tables: for each sequence its pages, in their order.
        told: a line on where this comes from.
        wrong: (page, slot) of cells that somebody wrote who should not have.
    """

    written: Sequence[Sequence[int]]
    tables: Sequence[Sequence[int]]
    told: str
    wrong: frozenset[tuple[int, int]] = frozenset()

    @property
    def holes(self) -> int:
        """Empty slots of pages that belong to a sequence."""
        owned = {page for table in self.tables for page in table}
        return sum(self.written[page].count(-1) for page in owned)

    def owner(self, page: int) -> tuple[int, int] | None:
        """Returns whose page it is, and the how-manyth of theirs."""
        for sequence, table in enumerate(self.tables):
            if page in table:
                return sequence, list(table).index(page)
        return None


def letter(sequence: int) -> str:
    """Returns what a picture calls a sequence.

    >>> letter(0), letter(2)
    ('A', 'C')
    """
    return chr(ord("A") + sequence)


_SLOT, _LINE, _PAGE_LEFT, _COLUMN = 0.162, 0.29, 0.98, 3.55


def draw_pool(pool: Pool) -> Figure:
    """Returns the pages of a cache with what is in each slot, and which pages a sequence has.

    Args:
        pool: the cache; at most eight sequences, and pages of at most 16 tokens.
    """
    from matplotlib.patches import Rectangle

    pages = len(pool.written)
    rows = -(-pages // 2)
    with p.style():
        bottom = 0.95 + rows * _LINE + 0.15
        figure, axes = p.sheet(p.WIDEST, bottom + 0.27 * len(pool.tables) + 0.5)
        owned = sum(len(table) for table in pool.tables)
        second = (
            f"{count(owned, 'page')} of {pages} in use, "
            f"{count(pool.holes, 'slot')} in them empty; {pool.told}"
        )
        title(axes, _LEFT, "The cache, page by page", second, mono=False)
        for page in range(pages):
            x, y = _LEFT + _COLUMN * (page // rows), 0.9 + (page % rows) * _LINE
            _page(axes, pool, page, x, y)
        axes.text(_LEFT, bottom, "page table", fontsize=p.SMALL, color=p.QUIET, va="center")
        for sequence, table in enumerate(pool.tables):
            y = bottom + 0.27 * (sequence + 1)
            look: dict[str, Any] = {"facecolor": _colour(sequence), "edgecolor": p.INK, "lw": 0.5}
            axes.add_artist(Rectangle((_LEFT, y - 0.09), 0.18, 0.18, zorder=3, **look))
            tokens = sum(row.count(sequence) for row in pool.written)
            words = f"{letter(sequence)}: {count(tokens, 'token')} in {_in_order(table)}"
            axes.text(_LEFT + 0.28, y, words, fontsize=p.SMALL, color=p.INK, va="center_baseline")
        _pool_legend(axes, bottom + 0.27 * (len(pool.tables) + 1) + 0.05, bool(pool.wrong))
    return with_alt(figure, describe_pool(pool))


def _in_order(table: Sequence[int]) -> str:
    return f"{'page' if len(table) == 1 else 'pages'} {', '.join(map(str, table)) or 'none'}"


def _colour(sequence: int) -> str:
    return p.BLOCK_COLOURS[sequence % len(p.BLOCK_COLOURS)]


def _page(axes: Axes, pool: Pool, page: int, x: float, y: float) -> None:
    from matplotlib.patches import Rectangle

    owner = pool.owner(page)
    whose = "free" if owner is None else f"{letter(owner[0])}, no. {owner[1]}"
    axes.text(x, y, f"{page}", fontsize=p.SMALL, color=p.INK, va="center_baseline", ha="left")
    axes.text(x + 0.22, y, whose, fontsize=p.SMALL, color=p.QUIET, va="center_baseline")
    for slot, sequence in enumerate(pool.written[page]):
        at = x + _PAGE_LEFT - 0.2 + slot * _SLOT
        if (page, slot) in pool.wrong:
            look: dict[str, Any] = {**p.CONTESTED_CELL}
        elif sequence >= 0:
            look = {"facecolor": _colour(sequence), "edgecolor": p.PAPER, "linewidth": 0.6}
        elif owner is not None:
            look = {**p.UNWRITTEN_CELL, "linewidth": 0.6}
        else:
            look = {**p.UNTOUCHED_CELL, "linewidth": 0.6}
        axes.add_artist(Rectangle((at, y - 0.11), _SLOT, 0.22, zorder=3, **look))


def _pool_legend(axes: Axes, y: float, wrong: bool) -> None:
    from matplotlib.patches import Rectangle

    entries = [
        ({"facecolor": _colour(0), "edgecolor": p.PAPER}, "a token's keys and values"),
        ({**p.UNWRITTEN_CELL}, "empty, in somebody's page"),
        ({**p.UNTOUCHED_CELL}, "free"),
    ]
    if wrong:
        entries.append(({**p.CONTESTED_CELL}, "written by mistake"))
    x = _LEFT
    for look, words in entries:
        axes.add_artist(Rectangle((x, y - 0.09), 0.18, 0.18, zorder=3, **look))
        axes.text(x + 0.26, y, words, fontsize=p.SMALL, color=p.INK, va="center_baseline")
        x += 0.5 + 0.07 * len(words)


def describe_pool(pool: Pool) -> str:
    """Returns in words what `draw_pool` shows."""
    parts = [f"A cache of {count(len(pool.written), 'page')}, {pool.told}"]
    for sequence, table in enumerate(pool.tables):
        tokens = sum(row.count(sequence) for row in pool.written)
        parts.append(f"{letter(sequence)} has {count(tokens, 'token')} in {_in_order(table)}")
    parts.append(f"{count(pool.holes, 'slot')} of these pages empty")
    if pool.wrong:
        parts.append(f"{count(len(pool.wrong), 'slot')} written by mistake")
    return ". ".join(parts) + "."


# a batch


@dataclass(frozen=True)
class Batches:
    """What a card makes of batches, from one sequence on.

    Attributes:
        name: of model and card.
        told: a line on caches and bits.
        sizes: batches, growing.
        steps: a step of each.
        slope: tokens/s for each sequence, if nothing but weights were read.
        flat: tokens/s at the peak of arithmetic.
        caches: tokens/s if nothing but caches were read; infinite without one.
        room: sequences whose caches fit beside the weights.
        marked: a batch among `sizes`.
    """

    name: str
    told: str
    sizes: Sequence[int]
    steps: Sequence[Step]
    slope: float
    flat: float
    caches: float
    room: int
    marked: int

    @property
    def at(self) -> Step:
        """The step of the batch that is marked."""
        return self.steps[list(self.sizes).index(self.marked)]


_AXES = (0.95, 0.62, 0.3, 1.2)


def draw_batches(data: Batches) -> Figure:
    """Returns tokens/s over the batch, below three roofs, as far as the caches fit.

    Args:
        data: steps of batches, and what limits them.
    """
    with p.style():
        figure, axes = p.blank_figure(p.WIDEST, 4.5, _AXES)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        low, high = data.sizes[0], data.sizes[-1]
        rates = [step.tokens_per_s for step in data.steps]
        floor = min(rates) / 2
        top = 12 * max(data.flat, max(rates))
        axes.set_xlim(low, high)
        axes.set_ylim(floor, top)
        _roof_lines(axes, data, low, high)
        inside = [
            (n, rate) for n, rate in zip(data.sizes, rates, strict=True) if n <= max(1, data.room)
        ]
        outside = [(n, rate) for n, rate in zip(data.sizes, rates, strict=True) if n >= data.room]
        if inside:
            axes.plot(*zip(*inside, strict=True), color=p.ACTIVE, lw=2.6, zorder=5,
                      label="tokens/s of all sequences")  # fmt: skip
        if outside:
            axes.plot(*zip(*outside, strict=True), color=p.ACTIVE, lw=1.4, zorder=5,
                      linestyle=p.OUTSIDE_DASHES)  # fmt: skip
        if low < data.room < high:
            axes.axvspan(data.room, high, facecolor=p.IDLE, alpha=0.55, lw=0, zorder=0)
            late = data.room > high / 12
            axes.text(high * 0.92 if late else data.room * 1.06, floor * 1.25, "caches do not fit",
                      fontsize=p.SMALL, color=p.INK, va="bottom", ha="right" if late else "left",
                      zorder=6, bbox=_WHITE)  # fmt: skip
        axes.plot([data.marked], [data.at.tokens_per_s], "o", ms=10, color=p.CONFLICT, zorder=8,
                  markeredgecolor=p.INK)  # fmt: skip
        axes.set_xlabel("sequences in the batch")
        axes.set_ylabel("tokens/s")
        _plain_ticks(axes)
        axes.legend(loc="upper left", frameon=False, fontsize=p.SMALL, handlelength=2.2,
                    ncols=2, columnspacing=1.2)  # fmt: skip
        for y, words, big in (
            (0.24, data.name, True), (0.5, data.told, False), (0.75, _parts(data), False),
        ):  # fmt: skip
            figure.text(
                _LEFT / p.WIDEST, 1 - y / 4.5, words, fontsize=p.LARGE if big else p.NORMAL,
                fontweight="bold" if big else "normal", color=p.INK if big else p.QUIET,
                va="center",
            )  # fmt: skip
    return with_alt(figure, describe_batches(data))


def _roof_lines(axes: Axes, data: Batches, low: int, high: int) -> None:
    axes.plot([low, high], [data.slope * low, data.slope * high], color=p.WRITE_EDGE, lw=1.8,
              linestyle=p.READ_DASHES, label="weights alone, read once a step")  # fmt: skip
    axes.plot([low, high], [data.flat] * 2, color=p.INK, lw=1.8, linestyle=p.ATOMIC_DASHES,
              label="arithmetic alone")  # fmt: skip
    if data.caches < float("inf"):
        axes.plot([low, high], [data.caches] * 2, color=p.FINE, lw=1.8, linestyle=p.OUTSIDE_DASHES,
                  label="caches alone")  # fmt: skip


def _plain_ticks(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, NullLocator

    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axis.set_minor_locator(NullLocator())


def _parts(data: Batches) -> str:
    step = data.at
    total = step.seconds
    shares = (
        (step.matrices_s, "matrices"), (step.attention_s, "caches"), (step.gaps_s, "gaps"),
    )  # fmt: skip
    told = ", ".join(f"{part / total:.0%} {name}" for part, name in shares)
    return f"batch {data.marked}: {step.tokens_per_s:,.0f} tokens/s, {1e3 * total:.2f} ms: {told}"


def describe_batches(data: Batches) -> str:
    """Returns in words what `draw_batches` shows."""
    caches = "" if data.caches == float("inf") else f" Caches alone: {data.caches:,.0f} tokens/s."
    return (
        f"Tokens/s over the batch. {data.name}, {data.told}. Weights alone: {data.slope:,.0f} "
        f"tokens/s for each sequence. Arithmetic alone: {data.flat:,.0f} tokens/s.{caches} "
        f"{data.room:,} sequences fit. {_parts(data).replace(': ', ', ', 1).capitalize()}."
    )


# launches


@dataclass(frozen=True)
class TokenRun:
    """What one token took.

    Attributes:
        text: the token.
        launches: (kernel, bytes that it loaded and stored), in order.
    """

    text: str
    launches: Sequence[tuple[str, int]]


_TOKEN, _BARS, _KINDS_LINE, _KINDS_IN_A_LINE = 0.62, 0.85, 0.26, 3
_SHOWN = {" ": "\N{OPEN BOX}", "\n": "\\n"}
"""What stands for a letter that cannot be seen."""


def draw_launches(runs: Sequence[TokenRun]) -> Figure:
    """Returns the launches of tokens, each as one cell, and below them each by its bytes.

    Args:
        runs: tokens, in order; all of the same kernels.
    """
    from matplotlib.patches import Rectangle

    kinds = list(dict.fromkeys(name for run in runs for name, _ in run.launches))
    looks = {kind: _launch_look(number) for number, kind in enumerate(kinds)}
    most = max(len(run.launches) for run in runs)
    room = p.WIDEST - _BARS - 0.25
    heaviest = max(1, *(sum(moved for _, moved in run.launches) for run in runs))
    lines = -(-len(kinds) // _KINDS_IN_A_LINE)
    with p.style():
        bottom = 0.95 + len(runs) * _TOKEN
        figure, axes = p.sheet(p.WIDEST, bottom + lines * _KINDS_LINE + 0.2)
        launches = sum(len(run.launches) for run in runs)
        second = (
            f"{count(launches, 'launch')}; upper row: one cell each; "
            "lower row: each as wide as its bytes"
        )
        title(axes, _LEFT, f"{count(len(runs), 'token')} and their launches", second, mono=False)
        for row, run in enumerate(runs):
            y = 0.85 + row * _TOKEN
            axes.text(_LEFT, y + 0.24, _SHOWN.get(run.text, run.text) or "?", fontsize=p.LARGE,
                      family="monospace", color=p.INK, va="center", fontweight="bold")  # fmt: skip
            at = _BARS
            for place, (kind, moved) in enumerate(run.launches):
                cell = room / most
                axes.add_artist(Rectangle((_BARS + place * cell, y), cell * 0.9, 0.22, zorder=3,
                                          **looks[kind]))  # fmt: skip
                wide = room * moved / heaviest
                axes.add_artist(Rectangle((at, y + 0.27), wide, 0.18, zorder=3, **looks[kind]))
                at += wide
        for number, kind in enumerate(kinds):
            line, place = divmod(number, _KINDS_IN_A_LINE)
            x = _LEFT + place * (p.WIDEST - 0.4) / _KINDS_IN_A_LINE
            y = bottom + line * _KINDS_LINE + 0.1
            axes.add_artist(Rectangle((x, y - 0.09), 0.2, 0.18, zorder=3, **looks[kind]))
            axes.text(x + 0.28, y, kind, fontsize=p.SMALL, color=p.INK, va="center_baseline")
    return with_alt(figure, describe_launches(runs))


def _launch_look(number: int) -> dict[str, Any]:
    hatches = ("", "////", "....", "xx")
    colour = p.BLOCK_COLOURS[number % len(p.BLOCK_COLOURS)]
    return {
        "facecolor": colour, "edgecolor": p.INK, "linewidth": 0.4,
        "hatch": hatches[number // len(p.BLOCK_COLOURS) % len(hatches)],
    }  # fmt: skip


def describe_launches(runs: Sequence[TokenRun]) -> str:
    """Returns in words what `draw_launches` shows."""
    parts = []
    for run in runs:
        moved: dict[str, int] = {}
        for kind, amount in run.launches:
            moved[kind] = moved.get(kind, 0) + amount
        total = sum(moved.values())
        heavy = max(moved, key=lambda kind: moved[kind])
        parts.append(
            f"{run.text!r}: {count(len(run.launches), 'launch')}, "
            f"{format_bytes(total)}, {moved[heavy] / max(1, total):.0%} of it by {heavy}"
        )
    return f"{count(len(runs), 'token')} and their launches. " + "; ".join(parts) + "."


# who has a slot


@dataclass(frozen=True)
class Served:
    """Requests in the slots of a server, step by step.

    Attributes:
        name: of the way in which slots are given away.
        rows: for each slot (request, first step, steps) of those that it had, in order.
        steps: until the last token is made.
        tokens: that were made.
    """

    name: str
    rows: Sequence[Sequence[tuple[int, int, int]]]
    steps: int
    tokens: int

    @property
    def idle(self) -> float:
        """The share of all slots and steps in which no token was made."""
        places = len(self.rows) * self.steps
        return 1 - self.tokens / places if places else 0.0


_BAR, _PANEL = 0.26, 0.62


def draw_served(each: Sequence[Served]) -> Figure:
    """Returns who has which slot in which step, one way to give slots away below the other.

    Args:
        each: of the same requests.
    """
    from matplotlib.patches import Rectangle

    longest = max(max((way.steps for way in each), default=1), 1)
    room = p.WIDEST - 1.05 - 0.3
    with p.style():
        tall = 0.75 + sum(_PANEL + len(way.rows) * _BAR for way in each) + 0.55
        figure, axes = p.sheet(p.WIDEST, tall)
        second = "from left to right: steps; a bar: one request, from its first token to its last"
        title(axes, _LEFT, "Who has a slot", second, mono=False)
        top = 0.75
        for way in each:
            words = f"{way.name}: {count(way.steps, 'step')}, {way.idle:.0%} of the places empty"
            axes.text(_LEFT, top + 0.3, words, fontsize=p.NORMAL, fontweight="bold", color=p.INK,
                      va="center")  # fmt: skip
            for slot, row in enumerate(way.rows):
                y = top + 0.5 + slot * _BAR
                axes.text(_LEFT, y + 0.11, f"slot {slot}", fontsize=p.SMALL, color=p.QUIET,
                          va="center_baseline")  # fmt: skip
                end = room * way.steps / longest
                empty = {**p.UNWRITTEN_CELL, "linewidth": 0.6}
                axes.add_artist(Rectangle((1.05, y), end, 0.22, zorder=2, **empty))
                for request, first, steps in row:
                    _bar(axes, request, 1.05 + room * first / longest, y, room * steps / longest)
            top += _PANEL + len(way.rows) * _BAR
        look = {**p.UNWRITTEN_CELL}
        axes.add_artist(Rectangle((_LEFT, top + 0.2), 0.3, 0.2, zorder=3, **look))
        axes.text(_LEFT + 0.4, top + 0.3, "nobody: the weights are read for fewer", color=p.INK,
                  fontsize=p.SMALL, va="center_baseline")  # fmt: skip
    return with_alt(figure, describe_served(each))


def _bar(axes: Axes, request: int, x: float, y: float, wide: float) -> None:
    from matplotlib.patches import Rectangle

    colour = p.BLOCK_COLOURS[request % len(p.BLOCK_COLOURS)]
    axes.add_artist(
        Rectangle((x, y), wide, 0.22, zorder=3, facecolor=colour, edgecolor=p.INK, lw=0.5)
    )
    if wide > 0.1 + 0.08 * len(str(request)):
        axes.text(x + wide / 2, y + 0.115, str(request), fontsize=p.SMALL, color=p.ink_on(colour),
                  ha="center", va="center_baseline", zorder=4)  # fmt: skip


def describe_served(each: Sequence[Served]) -> str:
    """Returns in words what `draw_served` shows."""
    parts = [
        f"{way.name}: {count(way.tokens, 'token')} in {count(way.steps, 'step')} of "
        f"{count(len(way.rows), 'slot')}, {way.idle:.0%} of the places empty"
        for way in each
    ]
    return "Who has a slot. " + ". ".join(parts) + "."
