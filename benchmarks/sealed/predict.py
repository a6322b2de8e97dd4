"""What the course's models predict of measurements whose values are sealed.

    python -m benchmarks.sealed.predict           writes predictions.toml beside this file
    python -m benchmarks.sealed.predict ROWS      the same for another file of rows

`rows.toml` holds the inputs of each row. A prediction is a value, a margin as a part of it, and the
name of the model. Margins come from how far off the models are on open rows of the same source,
which the board shows (`gpu-course doctor --published`), and grow where a row lies beyond those.
What each class of rows is given, and why, stands in `CLASSES`. Values that are opened later get
places of their own on the board, since what stands at the places named here is read as open.
"""

from __future__ import annotations

import csv
import math
import textwrap
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.sealed import runs, training
from gpu_course.claims import published
from gpu_course.lessons.host_and_device.claims import host
from gpu_course.lessons.shared_memory.claims import l1_loads
from gpu_course.lessons.warps.claims import streams

HERE = Path(__file__).parent
ROWS, PREDICTIONS = HERE / "rows.toml", HERE / "predictions.toml"
INPUTS = "_sealed_inputs.csv"
"""How the name of a file ends that has nothing but inputs."""
DATE = "2026-11-26"
DATES = dict.fromkeys((*training.CLASSES, *runs.CLASSES), "2026-11-27")
"""The day on which a class of rows was predicted, where it is another."""
SOURCE = "gpu-benches"
LANES = "for a warp's load that hits L1"

COUNTED = 0.01
"""A counter over a launch, divided: a whole number to two digits or more."""
NEIGHBOUR = 0.05
"""What a second pipe may cost that is busier than in any open row. Nothing tells how much."""

CLASSES = {
    "banks": f"""
        Wavefronts: the simulator counts them, and gave every open row exactly. The margin is
        {COUNTED:.0%}, the digits of a counter that was divided; the next other count lies farther
        off.""",
    "cycles-A100": f"""
        Clocks on an A100: the slower of banks and tags. Where banks bind, the margin is the
        largest error of the open rows in which they do. Where tags bind, it is twice the largest
        error of the rule for tags on open rows of strides that touch 4 lines a load or more, and
        of the others where a row touches fewer; twice, since the tags set the time in one open row
        alone. In blocks of two columns a load has 16 lines that lie 16 KiB apart, as in no open
        row: there the margin reaches down to four lines a pass. Where the second pipe is busier
        than in any open row of more than one pass, {NEIGHBOUR:.0%} are added: a guess.
        Doubles at strides 1 and 4 stand among the open rows too, and test nothing.""",
    "cycles-A40": f"""
        Clocks on an A40: the slowest of banks at 64 bytes a clock, tags, and multiply-adds in
        float64, two a clock. Rows of floats have the margin of banks on an A100. Rows of doubles
        have twice the error of the one open row. {NEIGHBOUR:.0%} are added as on an A100.
        Floats at stride 1 stand among the open rows too, and test nothing.""",
    "stream": """
        Bandwidths: Little's law from the row of 32 threads, with a latency that grows in
        proportion to the load, up to a ceiling. The growth is that of the same card and kernel, by
        its largest open blocks; triad and init take that of scale, and an A40 the mean of A100 and
        V100. The margin has two parts. The first is what an error does to the value that is once
        for each doubling beyond the last open row as large as the largest on open rows, when 128
        threads are predicted from 32 and 64. The second is the most that one of these does to it:
        a latency that grows as a queue does; the lowest and the highest ceiling of the cards, 81
        and 90 % of the data sheet; a growth as far off as the printed digits allow, or that of
        another card or kernel (for init, none).""",
    "blockrate": """
        Blocks of 32 threads are given out as fast as the GPU can, and their number in a second is
        taken for larger blocks too, up to the ceiling of an H200's memory. Where one of the two
        limits is less than half of the other the margin is 10 %, since one run of untold spread is
        in it; where they are nearer, each takes something from the other, and it is 15 %.""",
    "launch": """
        Launches back to back: a fixed gap and a rate beyond it, both from two open rows. A third
        open row between the two is 2 % off. The other way to read the two rows, in which gap and
        kernel overlap, is off by what the margin allows: 6 % up to a fifth of the larger open
        row, 10 % between that and the row itself. Beyond it the rate may grow to that of L2, and
        the margin is 20 %.""",
    "graph": """
        In a graph the gap between two kernels is no longer than in a stream, and one small kernel
        took 70 / 80 of a microsecond elsewhere. The value takes the geometric mean of the two; the
        margin, 40 %, is what the nearer of the two is off, and nothing tells more.""",
    **training.CLASSES,
    **runs.CLASSES,
}
OF_TRAINING = {**training.PREDICT, **runs.PREDICT}


@dataclass(frozen=True)
class Prediction:
    """What is said of one row before its value is known.

    Attributes:
        id: of the row.
        value: in the row's unit.
        margin: how far off the value may be, as a part of it.
        formula: the model's name.
    """

    id: str
    value: float
    margin: float
    formula: str


def read(path: Path = ROWS) -> list[dict[str, Any]]:
    """Returns the rows of a file that there are models for, in its order.

    Then come those of the files of inputs beside it, `SOURCE_KIND_sealed_inputs.csv`, whose rows
    have numbers and no seals: row 3 of vtrain_multi is vtrain-multi-3. One that the file has too
    comes once.
    """
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["row"]
    known = {row["id"] for row in rows}
    for file in sorted(path.parent.glob(f"*{INPUTS}")):
        with file.open(encoding="utf-8", newline="") as lines:
            for line in csv.DictReader(lines):
                numbers = {name: int(value) for name, value in line.items()}
                name = f"{file.name.removesuffix(INPUTS).replace('_', '-')}-{numbers.pop('row')}"
                rows += [] if name in known else [{"id": name, "inputs": numbers}]
    return [row for row in rows if class_of(row["id"])]


def class_of(name: str) -> str:
    """Returns the class of a row, the longest name that fits; "" for one of another kind.

    >>> class_of("cycles-A40-float-block-8"), class_of("deepep-dispatch-16")
    ('cycles-A40', '')
    """
    fitting = [each for each in CLASSES if f"{name}-".startswith(f"{each}-")]
    return max(fitting, key=len, default="")


def predict(row: dict[str, Any]) -> Prediction:
    """Returns the prediction of one row."""
    name, inputs = row["id"], row["inputs"]
    kind = class_of(name)
    if kind == "stream":
        value, margin, formula = _stream(name, inputs)
    elif kind in OF_TRAINING:
        value, margin, formula = OF_TRAINING[kind](name, inputs)
    elif kind in HOST:
        value, margin, formula = HOST[kind](inputs)
    else:
        load = _load(name, inputs)
        value, margin, formula = _wavefronts(load) if kind == "banks" else _cycles(kind, load)
    return Prediction(name, float(f"{value:.4g}"), math.ceil(margin * 1000) / 1000, formula)


# Banks and clocks


def _load(name: str, inputs: dict[str, Any]) -> dict[str, int]:
    """Returns the arguments of the models of loads, as a row's name and inputs give them."""
    _, itemsize, pattern, number = name.removeprefix("cycles-").rsplit("-", 3)
    if int(number) != inputs["stride_or_width"]:
        raise ValueError(f"{name} has the input {inputs['stride_or_width']}: mend the row")
    key = {"stride": "stride", "block": "width"}[pattern]
    return {"itemsize": {"float": 4, "double": 8}[itemsize], key: int(number)}


def _wavefronts(load: dict[str, int]) -> tuple[float, float, str]:
    return l1_loads.data_wavefronts(**load), COUNTED, "data_wavefronts"


def _cycles(kind: str, load: dict[str, int]) -> tuple[float, float, str]:
    card = kind.removeprefix("cycles-")
    pipes = l1_loads.pipes(l1_loads.SMS[card], **load)
    *_, second, first = sorted(pipes.values())
    binding = max(pipes, key=lambda pipe: pipes[pipe])
    if binding == "tags":
        margin = _tags_off(load, first)
    elif card == "A40" and load["itemsize"] == 8:
        margin = 2 * max(_off(row) for row in _open("A40") if row.arguments["itemsize"] == 8)
    else:
        margin = max(_off(row) for row in _banks_bind())
    if second / first > max(_tags_busy(row) for row in _banks_bind() if row.mine > 1):
        margin += NEIGHBOUR
    return first, margin, "l1_cycles"


def _tags_off(load: dict[str, int], passes: float) -> float:
    lines = l1_loads.mean_lines(**load)
    if "width" in load:
        return 1 - lines / l1_loads.TAG_BANKS / passes
    alike = [
        _off(row)
        for row in published.printed(SOURCE, f"passes through the tags {LANES}, A100")
        if "stride" in row.arguments
        and (l1_loads.mean_lines(**row.arguments) >= l1_loads.TAG_BANKS)
        == (lines >= l1_loads.TAG_BANKS)
    ]
    return 2 * max(alike)


def _open(card: str) -> tuple[published.Row, ...]:
    return published.printed(SOURCE, f"clocks of an SM {LANES}, {card}")


@lru_cache(maxsize=1)
def _banks_bind() -> list[published.Row]:
    """The open rows of an A100 in which no pipe is slower than the banks."""
    return [row for row in _open("A100") if _tags_busy(row) <= 1 and row.mine % 1 == 0]


def _tags_busy(row: published.Row) -> float:
    """What part of the time of an open row its tags take."""
    load = {name: value for name, value in row.arguments.items() if name != "card"}
    return l1_loads.tag_passes(**load) / row.mine


def _off(row: published.Row) -> float:
    """How far off the model is on an open row, as a part of what was printed."""
    return abs(row.difference) / row.published


# Streams

CARDS = {
    "h200": "H200",
    "a100_80": "A100",
    "v100": "V100",
    "h100_pcie": "H100 PCIe",
    "a40": "A40",
}
FIRST = 32
"""Threads of a block in the row whose value is given."""
HALF_A_DIGIT = 0.5
Law = Callable[..., float]


@dataclass(frozen=True)
class Curve:
    """The two open rows of one card and kernel that a growth is found from: GB/s by threads."""

    first: float
    later: float
    threads: int
    ceiling: float

    def growth(self, of: Law, off: float = 0.0) -> float:
        """Returns the growth, with the first row so much lower and the later one higher."""
        return of(self.first - off, FIRST, self.later + off, self.threads, self.ceiling)


def curves(peaks: dict[str, float]) -> dict[tuple[str, str], Curve]:
    """Returns {(card, kernel): its open rows}, with the largest blocks that are open.

    Args:
        peaks: GB/s of the data sheet, by card.
    """
    found = {}
    for threads, first in ((64, "measured"), (128, "first")):
        for row in published.printed(SOURCE, f"two blocks of {threads} threads on each SM"):
            card, _, kernel = row.what.rpartition(", ")
            ceiling = streams.REACHED[card] * peaks[card]
            found[card, kernel] = Curve(row.arguments[first], row.published, threads, ceiling)
    return found


@lru_cache(maxsize=1)
def _curves() -> dict[tuple[str, str], Curve]:
    sheets = (row for row in read() if class_of(row["id"]) == "stream")
    return curves({_card(row["id"])[0]: row["inputs"]["peak_GB_per_s"] for row in sheets})


def _card(name: str) -> tuple[str, str, int]:
    """Returns the card, the kernel and the threads of a row's name."""
    _, card, kernel, threads = name.split("-")
    return CARDS[card], kernel, int(threads)


def _growths(card: str, kernel: str) -> tuple[float, float, list[float]]:
    """Returns the growth of the straight law, that of a queue, and what the first might be."""
    known = _curves()
    like = kernel if kernel == "read" else "scale"
    own = known.get((card, like))
    straight, queue = streams.growth, streams.queue_growth
    if own is None:
        others = [known[each, like] for each in ("A100", "V100")]
        several = [each.growth(straight) for each in others]
        queues = [each.growth(queue) for each in others]
        return sum(several) / 2, sum(queues) / 2, several
    found = own.growth(straight)
    if kernel == "init":
        others = [0.0]
    elif kernel == "triad":
        others = [known[card, "read"].growth(straight)]
    else:
        others = [max(0.0, own.growth(straight, off)) for off in (-HALF_A_DIGIT, HALF_A_DIGIT)]
    return found, own.growth(queue), others


@lru_cache(maxsize=1)
def _one_doubling_off() -> float:
    """How far off the law is at most on open rows of 128 threads, from those of 32 and 64."""
    return max(
        _off(row) for row in published.printed(SOURCE, "two blocks of 128 threads on each SM")
    )


def _stream(name: str, inputs: dict[str, Any]) -> tuple[float, float, str]:
    card, kernel, threads = _card(name)
    measured, peak = inputs["measured_with_32_threads_per_block"], inputs["peak_GB_per_s"]
    ceiling = streams.REACHED[card] * peak
    growth, queue_growth, growths = _growths(card, kernel)

    def law(measured: float, ceiling: float, growth: float) -> float:
        return streams.loaded_gb_per_s(measured, FIRST, threads, ceiling, growth)

    value = law(measured, ceiling, growth)
    reached = streams.REACHED.values()
    others = [
        streams.queued_gb_per_s(measured, FIRST, threads, ceiling, queue_growth),
        *(law(measured, part * peak, growth) for part in (min(reached), max(reached))),
        *(law(measured, ceiling, each) for each in growths),
    ]
    own = _curves().get((card, kernel))
    doublings = math.log2(threads / (own.threads if own else FIRST))
    off = doublings * _one_doubling_off()
    moved = [law(measured * each, ceiling, growth) for each in (1 - off, 1 + off)]
    margin = sum(max(abs(each / value - 1) for each in several) for several in (moved, others))
    return value, margin, "loaded_gb_per_s"


# Launches and blocks

OPEN_LAUNCHES = {"bytes_one": 131_744, "gb_one": 52, "bytes_two": 6_159_216, "gb_two": 1735}
"""The two open rows that the sealed ones name: 8,234 and 384,951 float64, and their GB/s."""
SMALL_GRAPH_US = 70 / 80
"""A small kernel in a graph, by CUDA.jl's documentation: an open row."""
GIGA = 1e9


def _block_rate(inputs: dict[str, Any]) -> tuple[float, float, str]:
    measured, threads = inputs["measured_with_32_threads_per_block"], inputs["threads_per_block"]
    ceiling = streams.REACHED["H200"] * inputs["peak_GB_per_s"]
    value = host.block_rate_gb_per_s(measured, FIRST, threads, ceiling)
    near = 0.5 < measured * threads / FIRST / ceiling < 2
    return value, 0.15 if near else 0.10, "block_rate_gb_per_s"


def _launch(inputs: dict[str, Any]) -> tuple[float, float, str]:
    moved = inputs["bytes"]
    value = host.back_to_back_gb_per_s(moved, **OPEN_LAUNCHES)
    larger = OPEN_LAUNCHES["bytes_two"]
    margin = 0.06 if 5 * moved < larger else 0.10 if moved < larger else 0.20
    return value, margin, "back_to_back_gb_per_s"


def _graph(inputs: dict[str, Any]) -> tuple[float, float, str]:
    moved = inputs["bytes"]
    _, bytes_per_s = host.launch_gap_s(**OPEN_LAUNCHES)
    in_stream_s = moved / (inputs["stream_GB_per_s"] * GIGA) - moved / bytes_per_s
    value = host.graph_gb_per_s(moved, in_stream_s * 1e6, SMALL_GRAPH_US, bytes_per_s)
    return value, 0.40, "graph_gb_per_s"


HOST: dict[str, Callable[[dict[str, Any]], tuple[float, float, str]]] = {
    "blockrate": _block_rate, "launch": _launch, "graph": _graph,
}  # fmt: skip


# The file


def written(predictions: list[Prediction]) -> str:
    """Returns predictions as text, with what the margins of each class come from."""
    head = [
        "# Predictions of the sealed rows of rows.toml, by python -m benchmarks.sealed.predict,",
        "# made before any value was opened. A margin is a part of the value.",
    ]
    for reason in dict.fromkeys(CLASSES.values()):
        head.append("#")
        head += textwrap.wrap(
            " ".join(reason.split()), 100, initial_indent="# ", subsequent_indent="# "
        )
    return "\n".join(head) + "\n" + "".join(_text(each) for each in predictions)


def _text(each: Prediction) -> str:
    date = DATES.get(class_of(each.id), DATE)
    return (
        f'\n[[row]]\nid = "{each.id}"\nvalue = {each.value!r}\nmargin = {each.margin!r}\n'
        f'formula = "{each.formula}"\ndate = "{date}"\n'
    )


def main(
    rows: Annotated[Path, typer.Argument(help="a file of sealed rows", exists=True)] = ROWS,
    out: Annotated[Path, typer.Option(help="where the predictions go")] = PREDICTIONS,
) -> None:
    """Writes the predictions of all rows that there are models for."""
    predictions = [predict(row) for row in read(rows)]
    out.write_text(written(predictions), encoding="utf-8")
    typer.echo(f"{len(predictions)} predictions in {out}")


if __name__ == "__main__":
    typer.run(main)
