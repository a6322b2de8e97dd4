"""What lesson 13 shows: own kernels' loads, tiles one drags, a softmax as a film, today's tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from gpu_course.errors import NotBegun
from gpu_course.lessons.softmax_to_flash.key_loads import Loads, planned_loads
from gpu_course.lessons.softmax_to_flash.online import online_steps
from gpu_course.lessons.softmax_to_flash.own_loads import own_loads
from gpu_course.lessons.softmax_to_flash.pictures import draw_online, draw_traffic
from gpu_course.notebook.interactive.explore import Explorer, play
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import Note, telling
from gpu_course.notebook.pictures import Picture

RECORD = Path(__file__).with_name("triton.json")
PLANNED = 96
"""Queries and keys of a plan."""
FRAMES = 24
"""Pictures of a film of loads, after its first."""
COMPILED = Path(__file__).with_name("compiled_attention.json")


@telling
def online_film(scores: Sequence[float]) -> Explorer:
    """Returns a row's online softmax to step through, score by score.

    Args:
        scores: of one row, at most 24.
    """
    steps = online_steps(scores)

    def film(number: int) -> Picture:
        return Picture(draw_online(steps, number))

    return play(film, len(steps))


@telling
def tile_traffic(rows: int = 32, d: int = 32) -> Picture:
    """Returns what tiles of so many rows of q load of k, beside tiles of one row.

    Args:
        rows: of q in a tile, at most 96.
        d: numbers in a row.
    """
    plans = [planned_loads(PLANNED, d, 1), planned_loads(PLANNED, d, rows)]
    return Picture(draw_traffic(*plans))


@asks_for_answers
@telling
def own_traffic(*names: str) -> Picture | Note:
    """Returns what your own kernels load of k, and when.

    Args:
        names: one or two of "attention_naive", "flash_attention", "flash_attention_causal".
    """
    found: list[Loads] = []
    waiting: list[str] = []
    for name in names:
        try:
            found.append(own_loads(name))
        except NotBegun:
            waiting.append(name)
    if not found:
        return Note(f"Here you will see what {' and '.join(waiting)} of yours load.")
    return Picture(draw_traffic(*found))


@asks_for_answers
@telling
def own_film(*names: str) -> Explorer:
    """Returns what your own kernels load of k as a film, from the first load to the last.

    Args:
        names: one or two, as for `own_traffic`; each takes the whole film for its launch.
    """
    loads = [own_loads(name) for name in names]

    def film(frame: int) -> Picture:
        return Picture(draw_traffic(*(each.until(each.last * frame // FRAMES) for each in loads)))

    return play(film, FRAMES + 1)


@lru_cache(maxsize=1)
def triton_record() -> dict[str, Any]:
    """Returns what Triton made of attention: `python -m benchmarks.record_triton_flash`."""
    found: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def triton_source() -> Note:
    """Returns the Triton program of the record."""
    return Note(triton_record()["source"].rstrip())


def triton_table() -> Note:
    """Returns what the program is on each compute capability, and what was checked."""
    record = triton_record()
    tried = record["interpreted"]
    lines = [f"by a record of Triton {record['versions']['triton']}, 16-bit q, k and v", ""]
    lines.append(f"{'':<6}{'matrix instruction':<34}{'in program':>12}{'shared bytes':>16}")
    for cc, made in record["capabilities"].items():
        name = ".".join(made["matrix"].split(".")[:2])
        lines.append(f"{cc:<6}{name:<34}{made['in_program']:>12,}{made['shared_bytes']:>16,}")
    lines += [
        "",
        f"Triton's interpreter, float32, {tried['n']} queries and {tried['m']} keys:",
        f"out is off by {tried['worst_out']:.0e} at most, lse by {tried['worst_lse']:.0e}.",
        "Nobody has run it on a GPU here.",
    ]
    return Note("\n".join(lines))


@lru_cache(maxsize=1)
def compiled_record() -> dict[str, Any]:
    """Returns what torch.compile made: `python -m benchmarks.record_compiled_attention`."""
    found: dict[str, Any] = json.loads(COMPILED.read_text(encoding="utf-8"))
    return found


def compiled_table() -> Note:
    """Returns what torch.compile made of attention on a CPU, and how long each way took there."""
    record = compiled_record()
    sizes, version = record["sizes"], record["versions"]["torch"].split("+")[0]
    head = f"by a record of PyTorch {version}, a CPU ({record['machine']})"
    lines = [head, f"{sizes['heads']} heads, {sizes['n']} tokens, d {sizes['d']}, float32", ""]
    lines.append(f"{'':<16}{'fused call':>10}{'score arrays':>14}{'eager':>12}{'compiled':>12}")
    for name, way in record["ways"].items():
        lines.append(
            f"{name:<16}{way['fused_calls']:>10}{way['score_buffers']:>14}"
            f"{way['eager_ms']:>9.0f} ms{way['compiled_ms']:>9.0f} ms"
        )
    lines.append(f"{'sdpa':<40}{record['sdpa_ms']:>9.0f} ms")
    return Note("\n".join(lines))
