"""A run and its plan: what the planner says of one layout, in days, energy and money as well."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from gpu_course.claims.kinds import PREDICTED
from gpu_course.errors import CourseError
from gpu_course.measure.state_formulas import MEGATRON_ADAM
from gpu_course.measure.transformer_shapes import Transformer
from gpu_course.planner import binds, machines
from gpu_course.planner.cluster import Cluster
from gpu_course.planner.layout import Batch, Layout
from gpu_course.planner.machines import Machine
from gpu_course.planner.memory import MEGATRON, Memory, memory
from gpu_course.planner.nearest import check
from gpu_course.planner.programs import MEGATRON_CORE, Program
from gpu_course.planner.step_time import StepTime, step_time
from gpu_course.units import TERA

DAY_S = 86_400


def _llama_3(layers: int, hidden: int, heads: int, mlp: int) -> Transformer:
    return Transformer(
        layers, hidden, heads, kv_heads=8, mlp=mlp, gated=True, vocabulary=128_256, norm="rms"
    )


MODELS: dict[str, Transformer] = {
    "Llama 3 8B": _llama_3(32, 4_096, 32, 14_336),
    "Llama 3 70B": _llama_3(80, 8_192, 64, 28_672),
    "Llama 3 405B": _llama_3(126, 16_384, 128, 53_248),
    "GPT-3 175B": Transformer(
        96, 12_288, 96, vocabulary=51_200, positions=2_048, tied=True, qkv_bias=True, bias=True
    ),
    "Mixtral 8x7B": Transformer(
        32, 4_096, 32, kv_heads=8, mlp=14_336, gated=True, experts=8, top_k=2, vocabulary=32_000,
        norm="rms",
    ),
}  # fmt: skip
"""Shapes by the names that their papers give them; GPT-3's vocabulary is Megatron-LM's.

Who has another model gives it a name here, as the lesson shows; a machine likewise."""
MACHINES: dict[str, Machine] = {
    each.name: each for each in (machines.H100, machines.A100, machines.H100_500W, machines.GB200)
}

GOODPUT = 0.9
"""What Llama 3's run had at least of its time: the paper says more than 90 %, section 3.3.4."""
BESIDE = 1.1 * (700 + 575) / 700
"""Watts of a cluster for each watt of its cards: 575 W beside 700 W in a server, and a tenth more.

Source: SemiAnalysis 2024, "100,000 H100 Clusters"; the same row stands in lesson 21."""
OFF = PREDICTED["rate"].share
"""How far off a predicted step may be, as the course's board has it for every rate."""


@dataclass(frozen=True)
class Between:
    """A number with its spread: not below the first, not above the last."""

    low: float
    high: float

    def times(self, by: float) -> Between:
        """Returns both, multiplied."""
        return Between(self.low * by, self.high * by)

    def said(self, unit: str = "") -> str:
        """Returns both with as many digits as they are worth.

        >>> Between(21.34, 31.2).said("days"), Between(0.034, 0.05).said()
        ('21 to 31 days', '0.034 to 0.05')
        """
        return f"{_two_digits(self.low)} to {_two_digits(self.high)} {unit}".rstrip()


def _two_digits(number: float) -> str:
    if not math.isfinite(number) or number == 0:
        return str(number)
    digits = 1 - math.floor(math.log10(abs(number)))
    rounded = round(number, digits)
    return f"{rounded:,.0f}" if digits <= 0 else f"{rounded:g}"


@dataclass(frozen=True)
class Run:
    """What is to be trained, on what.

    Attributes:
        model: its shape.
        card: the machine.
        gpus: how many of it.
        sequences: of a step.
        sequence: tokens of each.
        tokens: of the whole run.
        program: that trains.
    """

    model: Transformer
    card: Machine
    gpus: int
    sequences: int
    sequence: int
    tokens: float
    program: Program = MEGATRON_CORE

    @classmethod
    def of(
        cls,
        model: str = "Llama 3 70B",
        machine: str = "H100",
        gpus: int = 1_024,
        sequences: int = 1_024,
        sequence: int = 8_192,
        tokens: float = 1e12,
    ) -> Run:
        """Returns a run by the names of its model and its machine.

        Raises:
            CourseError: an unknown name, or a number that is none.
        """
        for name, known, what in ((model, MODELS, "model"), (machine, MACHINES, "machine")):
            if name not in known:
                raise CourseError(f"no {what} is called {name!r}", f"choose {', '.join(known)}")
        if not (math.isfinite(tokens) and tokens > 0):
            raise CourseError(f"{tokens!r} tokens are no run", "give a number above 0")
        return cls(MODELS[model], MACHINES[machine], gpus, sequences, sequence, tokens)

    @property
    def batch(self) -> Batch:
        """Of a step."""
        return Batch(self.sequences, self.sequence)

    @property
    def cluster(self) -> Cluster:
        """All the cards."""
        return Cluster(self.card, self.gpus)

    @property
    def steps(self) -> int:
        """How many steps the run has."""
        return math.ceil(self.tokens / (self.sequences * self.sequence))


@dataclass(frozen=True)
class Plan:
    """A layout of a run, and what the planner says of it.

    Attributes:
        run: what is trained.
        layout: how.
        memory: bytes of each stage.
        parts: of a step.

    Raises:
        CourseError: the layout cannot be; the planner's sentence says why, and what is near.
    """

    run: Run
    layout: Layout
    memory: Memory = field(init=False)
    parts: StepTime = field(init=False)

    def __post_init__(self) -> None:
        run = self.run
        check(run.model, self.layout, run.batch, run.cluster)
        set_field = object.__setattr__
        set_field(self, "memory", memory(run.model, self.layout, run.batch, MEGATRON))
        parts = step_time(run.model, self.layout, run.batch, run.card, run.program)
        set_field(self, "parts", parts)

    @classmethod
    def of(cls, run: Run, **layout: Any) -> Plan:
        """Returns the plan whose data parallelism takes what the other axes leave.

        Args:
            run: what is trained.
            layout: numbers of a `Layout`, without dp.

        Raises:
            CourseError: the layout cannot be.
        """
        known = [each.name for each in fields(Layout) if each.name not in ("dp", "recipe")]
        if odd := [name for name in layout if name not in known]:
            raise CourseError(f"a layout has no {odd[0]}", f"it has {', '.join(known)}")
        axes = {axis: layout.get(axis, 1) for axis in ("tp", "pp", "cp")}
        for axis, value in axes.items():
            if isinstance(value, bool) or not isinstance(value, int):
                raise CourseError(f"{axis} is {value!r:.40}", "give a whole number, without quotes")
        others = math.prod(axes.values())
        dp = max(run.gpus // max(others, 1), 1)
        return cls(run, Layout(dp=dp, recipe=MEGATRON_ADAM, **layout))

    @property
    def fits(self) -> bool:
        """Whether it fits into a card's memory."""
        return self.memory.bytes <= self.run.card.memory_bytes

    @cached_property
    def seconds(self) -> dict[str, float]:
        """Seconds of a step, part by part; parts of nothing are left out."""
        found = {name: float(value) for name, value in self.parts.parts().items()}
        return {name: value for name, value in found.items() if value > 0}

    @property
    def step_s(self) -> float:
        """Seconds of a step."""
        return sum(self.seconds.values())

    @property
    def mfu(self) -> float:
        """Model FLOP for each FLOP of a rate that large products reach, as on the card."""
        flop, _ = self.run.model.training_flop(self.run.sequence)
        tokens = self.run.sequences * self.run.sequence
        return flop * tokens / (self.step_s * self.run.gpus * self.run.card.gemm_flop_per_s)

    @property
    def tflop_per_s(self) -> float:
        """Model TFLOP/s of each card."""
        return self.mfu * self.run.card.gemm_flop_per_s / TERA

    def days(self, training: float = GOODPUT) -> Between:
        """Returns the days of the run, from the planner's error below to its error above.

        Args:
            training: the part of the time in which it trains; the rest is lost to failures.
        """
        days = self.step_s * self.run.steps / DAY_S / training
        return Between(days * (1 - OFF), days * (1 + OFF))

    def gpu_hours(self, training: float = GOODPUT) -> Between:
        """Returns the hours of all cards together."""
        return self.days(training).times(24 * self.run.gpus)

    def megawatt_hours(self, training: float = GOODPUT) -> Between:
        """Returns the energy, from the cards alone to all that stands around them."""
        hours, watts = self.gpu_hours(training), self.run.card.watts / 1e6
        return Between(hours.low * watts, hours.high * watts * BESIDE)

    def cost(self, dollars_per_gpu_hour: float, training: float = GOODPUT) -> Between:
        """Returns what the run costs, in dollars."""
        return self.gpu_hours(training).times(dollars_per_gpu_hour)

    def binds(self) -> str:
        """Returns what of a step binds, and which single change would make it shorter."""
        run = self.run
        return binds.says(run.model, self.layout, run.batch, run.card, run.program)
