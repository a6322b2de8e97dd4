"""Random kernels of barriers and shared tiles: right ones give the oracle's values, broken ones are
found out.

A kernel is a list of phases. In each, every thread writes its own cell, a barrier follows, threads
read each other's cells, and a barrier closes the phase: race-free by construction. A line whose
loss breaks that carries the hazard which then has to be found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simt.report import Report
from simt.simulator import simulate
from tests.sampling import examples
from tests.simt.oracle import run_serially

IMPORTS = "from numba import cuda, int64\n"
BARRIER = "cuda.syncthreads()"
BLOCKS = 2


@dataclass(frozen=True)
class Line:
    """One line of a kernel.

    Attributes:
        text: the line, without its indentation.
        depth: how deep it stands in the kernel.
        without: the hazard that must be found once the line is gone; "" where it may go unnoticed.
        instead: what stands in its place then.
    """

    text: str
    depth: int = 1
    without: str = ""
    instead: str = "pass"


def _deeper(lines: list[Line]) -> list[Line]:
    return [replace(line, depth=line.depth + 1) for line in lines]


def _written(lines: list[Line]) -> str:
    return "".join("    " * line.depth + line.text + "\n" for line in lines)


# Expressions and divergent code, over x, y, t, i and the tile that may be read

_leaves = st.sampled_from(["x", "y", "t", "i", "3", "-2", "b[i]"])
_expressions = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*&|^"), inner).map(lambda e: f"({' '.join(e)})"),
        st.tuples(inner, st.sampled_from(["// 3", "% 7"])).map(lambda e: f"({' '.join(e)})"),
        st.tuples(inner, inner).map(lambda e: f"max({e[0]}, {e[1]})"),
    ),
    max_leaves=4,
)
_conditions = st.tuples(_expressions, st.sampled_from(["<", "==", ">="]), _expressions).map(
    " ".join
)


@st.composite
def _divergent(draw: Any, tile: str, size: str, depth: int = 0) -> list[Line]:
    """Lines in which each thread goes its own way; no barrier, no store to shared memory."""
    kinds = ["assign", "read"] if depth == 2 else ["assign", "read", "if", "for", "break"]
    kind = draw(st.sampled_from(kinds))
    if kind == "assign":
        name = draw(st.sampled_from("xy"))
        return [Line(f"{name} = {draw(_expressions)} % 1009")]
    if kind == "read":
        return [Line(f"y = (y + {tile}[{draw(_expressions)} % {size}]) % 1009")]
    inner = draw(_divergent(tile, size, depth + 1))
    if kind == "if":
        other = draw(_divergent(tile, size, depth + 1))
        test = Line(f"if {draw(_conditions)}:")
        return [test, *_deeper(inner), Line("else:"), *_deeper(other)]
    loop = Line(f"for k{depth} in range((t + {draw(st.integers(0, 3))}) % 4):")
    if kind == "break":
        word = draw(st.sampled_from(["break", "continue"]))
        leave = [Line(f"if {draw(_conditions)}:"), Line(word, 2)]
        return [loop, *_deeper([*leave, *inner])]
    return [loop, *_deeper(inner)]


# Phases: which tile they use, and their lines


@st.composite
def _phase(draw: Any, number: int, block: int) -> tuple[str, list[Line]]:
    kind = draw(st.sampled_from(["exchange", "rounds", "narrow", "leader", "halves"]))
    value = f"{draw(_expressions)} % 1009"
    far = draw(st.integers(1, block - 1))
    if kind == "leader":
        # Every thread reads the one cell: the leader's own reading races with nobody.
        return "one", [
            Line(f"if t == {draw(st.integers(0, block - 1))}:", 1, "race", "if True:"),
            Line(f"one[0] = {value}", 2),
            Line(BARRIER, 1, "race"),
            Line("x = (x + one[0]) % 1009"),
            Line(BARRIER),
        ]
    if kind == "narrow":
        return "few", [
            Line("if t < FEW:", 1, "out-of-bounds", "if True:"),
            Line(f"few[t] = {value}", 2),
            Line(BARRIER, 1, "race"),
            Line(f"x = (x + few[(t + {far}) % FEW]) % 1009"),
            *draw(_divergent("few", "FEW")),
            Line(BARRIER),
        ]
    if kind == "halves":
        own = f"own{number}"
        return own, [
            Line(f"{own} = cuda.shared.array(TPB, int64)"),
            Line(f"if t % {draw(st.integers(2, 4))} == {draw(st.integers(0, 1))}:"),
            Line(f"{own}[t] = {value}", 2),
            Line("else:"),
            Line(f"{own}[t] = {draw(_expressions)} % 1009", 2, "uninitialised-read"),
            Line(BARRIER, 1, "race"),
            Line(f"x = (x + {own}[(t + {far}) % TPB]) % 1009"),
            *draw(_divergent(own, "TPB")),
        ]
    lines = [
        Line(f"tile[t] = {value}"),
        Line(BARRIER, 1, "race"),
        Line(f"x = (x + tile[(t + {far}) % TPB]) % 1009"),
        *draw(_divergent("tile", "TPB")),
        Line(BARRIER),
    ]
    if kind == "rounds":
        # The next round writes what this one has read.
        lines[-1] = replace(lines[-1], without="race")
        lines = [Line(f"for r in range({draw(st.integers(2, 3))}):"), *_deeper(lines)]
    return "tile", lines


@dataclass(frozen=True)
class Written:
    """A kernel written at random, and the launch it is for."""

    block: int
    lines: tuple[Line, ...]
    lost: Line | None = None

    @property
    def text(self) -> str:
        """The file, without its import."""
        few = max(2, self.block // 3)
        return f"TPB = {self.block}\nFEW = {few}\n\n@cuda.jit\ndef kernel(out, b):\n" + _written(
            list(self.lines)
        )


@st.composite
def _kernels(draw: Any) -> Written:
    block = draw(st.sampled_from([6, 32, 45]))
    phases = [draw(_phase(number, block)) for number in range(draw(st.integers(1, 4)))]
    lines: list[Line] = []
    for number, (tile, phase) in enumerate(phases):
        follows = number + 1 < len(phases) and phases[number + 1][0] == tile
        if follows and phase[-1].text == BARRIER and phase[-1].depth == 1:
            # The next phase writes the tile that this one has read.
            phase[-1] = replace(phase[-1], without="race")
        if draw(st.integers(0, 4)) == 0 and not follows:
            phase = [Line(f"if cuda.blockIdx.x < {draw(st.integers(1, 2))}:"), *_deeper(phase)]
            if number:
                lines[-1] = replace(lines[-1], without="")
        lines += phase
    return Written(
        block,
        (
            Line("tile = cuda.shared.array(TPB, int64)"),
            Line("few = cuda.shared.array(FEW, int64)"),
            Line("one = cuda.shared.array(1, int64)"),
            Line("t = cuda.threadIdx.x"),
            Line("i = cuda.grid(1)"),
            Line("x = 1"),
            Line("y = i"),
            *lines,
            Line("if i < out.size:", 1, "out-of-bounds", "if True:"),
            Line("out[i] = x * 2000 + y", 2),
        ),
    )


def _launch(folder: Any, text: str, block: int, *arguments: np.ndarray) -> Report:
    path = folder / "kernel.py"
    path.write_text(IMPORTS + text)
    return simulate(f"{path}:kernel")[BLOCKS, block](*arguments)


def _arguments(block: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Fewer results than threads, so that the guard matters."""
    b = np.random.default_rng(seed).integers(-20, 20, BLOCKS * block)
    return np.zeros(BLOCKS * block - 3, np.int64), b


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return tmp_path_factory.mktemp("random")


# What a random kernel does is known only by running it, so a failing one is shown and not shrunk
# for long.
_few = settings(
    max_examples=examples(150, few=30), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@_few
@given(kernel=_kernels(), seed=st.integers(0, 2**16))
def test_right_kernels_compute_what_generators_compute(
    kernel: Written, seed: int, folder: Any
) -> None:
    out, b = _arguments(kernel.block, seed)
    expected = out.copy()
    report = _launch(folder, kernel.text, kernel.block, out, b)
    assert report.hazards == (), f"{report}\n{kernel.text}"
    text = kernel.text.replace("int64", "np.int64")
    run_serially(text, "kernel", (BLOCKS, 1, 1), (kernel.block, 1, 1), expected, b)
    np.testing.assert_array_equal(out, expected, err_msg=kernel.text)


@st.composite
def broken(draw: Any, kernel: Written) -> Written:
    """The kernel without one of the lines that matter."""
    at = draw(st.sampled_from([k for k, line in enumerate(kernel.lines) if line.without]))
    lines = list(kernel.lines)
    lines[at] = replace(lines[at], text=lines[at].instead)
    return replace(kernel, lines=tuple(lines), lost=kernel.lines[at])


@_few
@given(kernel=_kernels(), data=st.data())
def test_a_line_that_matters_is_missed(kernel: Written, data: st.DataObject, folder: Any) -> None:
    found_out = data.draw(broken(kernel))
    lost = found_out.lost
    assert lost is not None
    report = _launch(folder, found_out.text, kernel.block, *_arguments(kernel.block, 1))
    found = {hazard.kind for hazard in report.hazards}
    assert found == {lost.without}, f"without {lost.text}: {report}\n{found_out.text}"
    assert not report.ok
