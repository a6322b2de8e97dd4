"""What lesson 12 shows: what travels, by tensors and by kernels that ran, beside today's tools."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from gpu_course.claims.published import rows
from gpu_course.errors import CourseError
from gpu_course.grading.kernel import trial
from gpu_course.grading.kernel.answers import read_answer
from gpu_course.grading.learner.verdict_cache import check_own
from gpu_course.hardware.cards import device
from gpu_course.lessons.data_movement import torch_passes
from gpu_course.lessons.data_movement.bert_layer import (
    CLASSES,
    byte_shares,
    floor_shares,
    flop_shares,
    training_step,
)
from gpu_course.lessons.data_movement.fusion import Cut, cuts, groups_of, mlp_end
from gpu_course.lessons.data_movement.operations import best_groups, encoder_layer, longest_groups
from gpu_course.lessons.data_movement.pictures import draw_classes, draw_cuts, draw_passes
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import Note, telling
from gpu_course.notebook.pictures import Picture
from gpu_course.puzzle import Case, KernelPuzzle, index
from simt.report import Report

LESSON = "12_data_movement"
RECORD = Path(__file__).with_name("fused.json")
CARD = "V100"
"""The card that the paper measured on."""
TIMES = "Table 1, share of the time"

ROWS, COLS = 64, 256
"""Of the arrays that the lesson fuses operations on."""


def operator_classes(measured: bool = False) -> Picture:
    """Returns FLOP, bytes and time of a layer's training step, by class of operator.

    Args:
        measured: also show what the authors of the paper measured.
    """
    step = training_step()
    shown: dict[str, Sequence[float]] = {
        "FLOP, counted": list(flop_shares(step).values()),
        "bytes, counted": list(byte_shares(step).values()),
        f"time at full rates, {CARD}": list(floor_shares(step, device(CARD)).values()),
    }
    if measured:
        found = {row.arguments["kind"]: row.published for row in rows(LESSON, TIMES)}
        shown[f"time, measured, {CARD}"] = [found[kind] for kind in CLASSES]
    return Picture(draw_classes(list(CLASSES.values()), shown))


def fusion(
    after_bias: bool = True,
    after_gelu: bool = True,
    after_dropout: bool = True,
    counted: Sequence[int] = (),
) -> Picture:
    """Returns four operations behind a product as kernels, and what travels between them.

    Args:
        after_bias, after_gelu, after_dropout: whether a kernel ends there.
        counted: bytes that runs of these kernels asked for.
    """
    groups = groups_of(4, [after_bias, after_gelu, after_dropout])
    return Picture(
        draw_cuts(cuts(**mlp_end(ROWS, COLS), groups=groups, counted=counted), "Behind a product")
    )


GROUPINGS = ("each its own kernel", "as long as they may be", "the fewest bytes")


@telling
def layer(grouping: str = GROUPINGS[0], tokens: int = 512) -> Picture:
    """Returns the forward pass of a layer as kernels, 16 bits a number.

    Args:
        grouping: one of GROUPINGS.
        tokens: of one sequence, through a layer with 1,024 numbers a token and 16 heads.
    """
    return Picture(draw_cuts(_layer(grouping, tokens), f"A layer: {grouping}"))


def layer_bytes(grouping: str, tokens: int = 512) -> int:
    """Returns the bytes that travel in a layer's forward pass; arguments as for `layer`."""
    return sum(cut.moved_bytes for cut in _layer(grouping, tokens))


def _layer(grouping: str, tokens: int) -> tuple[Cut, ...]:
    chain = encoder_layer(tokens, 1024, 16, 4096, 2)
    operations = chain["operations"]
    if grouping not in GROUPINGS:
        raise CourseError(
            f"no grouping is called {grouping!r}", f"choose of {', '.join(GROUPINGS)}"
        )
    groups = {
        GROUPINGS[0]: lambda: [[number] for number in range(len(operations))],
        GROUPINGS[1]: lambda: longest_groups(operations),
        GROUPINGS[2]: lambda: best_groups(**chain),
    }[grouping]()
    return cuts(**chain, groups=groups)


@dataclass(frozen=True)
class Asked:
    """What the kernels of a puzzle asked of global memory in one run.

    Attributes:
        read_bytes, written_bytes: of all launches.
        whose: "your kernel", or "our kernel" while the learner's does not pass.
    """

    read_bytes: int
    written_bytes: int
    whose: str


@asks_for_answers
def asked_by(name: str, **sizes: int) -> Asked:
    """Returns what the learner's kernel asks for, or ours while theirs does not pass.

    Args:
        name: of a kernel puzzle of this lesson.
        sizes: of the case to run, such as rows and cols.
    """
    puzzle = index.find(name)
    assert isinstance(puzzle, KernelPuzzle)
    own = check_own(puzzle).passed
    kernels = read_answer(puzzle).kernels if own else trial.reference_kernels(puzzle)
    given = trial.prepare(puzzle, Case("as shown", sizes), 0)
    counters = trial.attempt(given, kernels, 0).counters
    whose = "your kernel" if own else "our kernel, until yours passes"
    return Asked(counters.global_load.bytes, counters.global_store.bytes, whose)


@asks_for_answers
def fused_by_you() -> Picture:
    """Returns bias and GELU as one kernel, with the bytes that the learner's asked for."""
    found = asked_by("bias_gelu", rows=ROWS, cols=COLS, doublings=-5)
    total = found.read_bytes + found.written_bytes
    return bias_and_gelu([total], f"bias and GELU by {found.whose}")


def bias_and_gelu(counted: Sequence[int], name: str = "bias and GELU") -> Picture:
    """Returns bias and GELU as kernels, with what runs of them asked for.

    Args:
        counted: bytes of two kernels, or of one for both.
        name: what is shown.
    """
    chain = mlp_end(ROWS, COLS)
    chain |= {"operations": chain["operations"][:2], "keep": ["a"]}
    groups = groups_of(2, [len(counted) == 2])
    return Picture(draw_cuts(cuts(**chain, groups=groups, counted=counted), name))


def asked_for(report: Report) -> int:
    """Returns the bytes of global memory that a launch loads and stores."""
    return report.counters.global_load.bytes + report.counters.global_store.bytes


PROGRAMS = {
    "bias_gelu": (
        torch_passes.bias_gelu,
        {"rows": ROWS, "cols": COLS, "doublings": -5},
        ROWS * COLS,
    ),
    "cross_entropy": (torch_passes.cross_entropy, {"rows": 8, "cols": 1024, "doublings": -3}, 8192),
    "adamw": (lambda: torch_passes.adamw_step(False), {"size": 1024, "step": 3}, 1024),
}
"""A puzzle -> PyTorch's operations for it, the case that is compared, and numbers in an array."""
EACH = {"bias_gelu": "number", "cross_entropy": "logit", "adamw": "parameter"}
OPERATIONS = {
    "bias_gelu": "gelu(x + bias)",
    "cross_entropy": "cross entropy, forward and backward",
    "adamw": "AdamW, one parameter tensor at a time",
}


@asks_for_answers
@telling
def passes(name: str) -> Picture:
    """Returns what PyTorch's operations are handed beside what the learner's kernel asks for.

    Args:
        name: a key of PROGRAMS.
    """
    if name not in PROGRAMS:
        raise CourseError(f"nothing is known of {name!r}", f"choose of {', '.join(PROGRAMS)}")
    operations, sizes, numbers = PROGRAMS[name]
    theirs = [
        (each.name, each.read_bytes / numbers, each.written_bytes / numbers)
        for each in operations()
    ]
    found = asked_by(name, **sizes)
    mine = [(name, found.read_bytes / numbers, found.written_bytes / numbers)]
    shown = {f"PyTorch, {OPERATIONS[name]}": theirs, found.whose: mine}
    return Picture(draw_passes(shown, EACH[name], f"{name}: pass by pass"))


@lru_cache(maxsize=1)
def fused_record() -> dict[str, Any]:
    """Returns what torch.compile and Triton made: `python -m benchmarks.record_fused` makes it."""
    found: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def compiled_source(name: str = "bias_gelu") -> Note:
    """Returns the loops that torch.compile wrote for a function of the record."""
    return Note(fused_record()["compiled"][name]["source"].rstrip())


def compiled_passes() -> Note:
    """Returns how often what torch.compile wrote goes through whole arrays, by the record."""
    record = fused_record()
    versions: Mapping[str, str] = record["versions"]
    made_with = f"torch {versions['torch']} with g++ {versions['g++']}"
    lines = [f"{made_with}, arrays of {record['rows']} x {record['cols']}", ""]
    lines.append(f"{'':<22}{'kernels':>8}{'loads':>8}{'stores':>8}")
    for name, found in record["compiled"].items():
        lines.append(f"{name:<22}{found['kernels']:>8}{found['loads']:>8}{found['stores']:>8}")
    return Note("\n".join(lines))


def triton_source() -> Note:
    """Returns the Triton program of the record."""
    return Note(fused_record()["triton"]["source"].rstrip())


_TRY = """
import torch

x, bias = torch.randn({rows}, {cols}), torch.randn({cols})
out = torch.empty_like(x)
bias_gelu[(triton.cdiv({cols}, 64), {rows})](out, x, bias, {cols}, 64)
off = (out - torch.nn.functional.gelu(x + bias)).abs().max()
print(f"{{off:.0e}}")
"""
TRITON_SECONDS = 120


def triton_tried() -> Note:
    """Returns how the Triton program does: run by its interpreter, or by the record.

    Triton's interpreter runs a program on a CPU, where Triton is installed. Elsewhere the record
    says what its compiler made of it.
    """
    if importlib.util.find_spec("triton") is None:
        return _recorded_triton("Triton is not installed here")
    program = (
        f"import triton\nimport triton.language as tl\n\n\n{fused_record()['triton']['source']}"
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        file.write_text(program + _TRY.format(rows=5, cols=130), encoding="utf-8")
        try:
            done = subprocess.run(
                [sys.executable, str(file)], capture_output=True, text=True, check=True,
                timeout=TRITON_SECONDS, env={**os.environ, "TRITON_INTERPRET": "1"},
            )  # fmt: skip
        except (subprocess.SubprocessError, OSError):
            return _recorded_triton("Triton's interpreter does not run here")
    version = importlib.metadata.version("triton")
    return Note(
        f"Triton {version}, run by its interpreter: 5 x 130 numbers, at most "
        f"{done.stdout.strip()} from torch",
        "right",
    )


def _recorded_triton(why: str) -> Note:
    record = fused_record()
    made = record["triton"]
    loads, stores = " and ".join(made["loads"]), " and ".join(made["stores"])
    return Note(
        f"{why}. By a record of Triton {record['versions']['triton']},\n"
        f"for compute capability {made['capability']}: a program is {made['warps']} warps for\n"
        f"{made['block']} numbers, and each thread does\n  {loads}, then {stores}"
    )
