"""One chain, from a bank of shared memory to a month on 1,024 GPUs: each link computed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from gpu_course.grading.answer_file import AnswerProblem
from gpu_course.grading.kernel import trial
from gpu_course.grading.learner.solution import course_solutions
from gpu_course.grading.python.answers import read_python_answer
from gpu_course.grading.seeds import LISTED_SEED
from gpu_course.hardware.cards import DeviceCard, device
from gpu_course.lessons.plan_my_run.plans import DAY_S, MODELS, Plan, Run
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.own.kernels import own_kernel
from gpu_course.notebook.own.ranks import ranked_puzzle
from gpu_course.planner.layout import Layout
from gpu_course.planner.machines import A100, Machine
from gpu_course.planner.programs import MEGATRON
from gpu_course.puzzle import KernelPuzzle, index
from gpu_course.ranks.runner import Source, run_with
from gpu_course.ranks.traffic import booked_bytes
from gpu_course.units import TERA
from simt.simulator import simulate

WHOLE_TILES = 2
"""The case of `matmul_register` in which every thread has work: a square of 64."""


@dataclass(frozen=True)
class Counted:
    """What a matrix product costs an SM, as the simulator counts it.

    Attributes:
        kernel: whose it is.
        fma: fused multiply-adds, lane by lane.
        wavefronts: passes through the banks of shared memory.
        card: whose SM it is.
    """

    kernel: str
    fma: int
    wavefronts: int
    card: DeviceCard

    @property
    def fma_cycles(self) -> float:
        """Cycles that the SM's cores need for the multiply-adds."""
        cores = self.card.limits.fp32_cores_per_sm
        assert cores is not None, "both cards of this lesson are measured"
        return self.fma / cores

    @property
    def bank_cycles(self) -> int:
        """Cycles that shared memory needs: a wavefront each."""
        return self.wavefronts

    @property
    def roof_flop_per_s(self) -> float:
        """What the whole card reaches at most with this kernel: the slower of both sets it."""
        rate = self.card.fp32_flop_per_s
        assert rate is not None, "both cards of this lesson are measured"
        return rate * self.fma_cycles / max(self.fma_cycles, self.bank_cycles)

    def __str__(self) -> str:
        slow = self.bank_cycles > self.fma_cycles
        binds = "shared memory binds" if slow else "the cores bind"
        roof = self.roof_flop_per_s / TERA
        return "\n".join(
            (
                f"{self.kernel}: {self.fma:,} multiply-adds",
                f"  cores          {self.fma_cycles:>8,.0f} cycles",
                f"  shared memory  {self.bank_cycles:>8,} cycles: a wavefront each",
                f"  so {binds}: at most {roof:.1f} TFLOP/s on an {self.card.name}",
            )
        )


@asks_for_answers
def counted(name: str = "matmul_register", on: str = "A100") -> Counted:
    """Returns what the learner's matrix product costs, or ours until there is one.

    Args:
        name: of a kernel puzzle.
        on: the name of a card.

    Raises:
        CourseError: the kernel cannot be read.
    """
    own = own_kernel(name)
    puzzle = index.find(name)
    assert isinstance(puzzle, KernelPuzzle), "own_kernel has refused all others"
    given = trial.prepare(puzzle, puzzle.cases[WHOLE_TILES], LISTED_SEED)
    (launch,) = given.launches
    values: dict[str, Any] = {**given.outputs, **given.inputs}
    copies = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in values.items()}
    shape = (launch.grid, launch.block, 0, launch.shared_bytes)
    report = simulate(own.kernel)[shape](*(copies[n] for n in launch.args))
    counters = report.counters
    passes = counters.shared_load.wavefronts + counters.shared_store.wavefronts
    return Counted(str(own), counters.fma, passes, device(on))


@dataclass(frozen=True)
class Reduced:
    """An all-reduce, as it was counted on ranks of this machine.

    Attributes:
        whose: "your all_reduce", or ours.
        ranks: how many.
        size_bytes: of the buffer on each.
        sent_bytes: what the busiest rank sent.
        messages: how many it sent.
    """

    whose: str
    ranks: int
    size_bytes: int
    sent_bytes: int
    messages: int

    def seconds(self, size_bytes: float, ranks: int, machine: Machine) -> float:
        """Returns what it takes for another size in a node: two ways round, and their bytes.

        Args:
            size_bytes: of the buffer.
            ranks: how many.
            machine: whose NVLink it is.
        """
        # As counted, each rank sends all parts but its own, and so with more ranks.
        of_parts = self.sent_bytes / self.size_bytes * self.ranks / (self.ranks - 1)
        share = of_parts * (ranks - 1) / ranks
        return of_parts * machine.hop_s + share * size_bytes / machine.nvlink_bytes_per_s

    def __str__(self) -> str:
        return (
            f"{self.whose} on {self.ranks} ranks: a rank sends {self.sent_bytes:,} bytes for"
            f" {self.size_bytes:,},\nin {self.messages} messages"
        )


@asks_for_answers
def reduced(ranks: int = 4, length: int = 4_096) -> Reduced:
    """Returns what the learner's all-reduce of lesson 21 sends, or ours until there is one.

    Args:
        ranks: how many.
        length: float64 numbers of the buffer.

    Raises:
        CourseError: the answer cannot be read, or came to no end.
    """
    from gpu_course.lessons.plan_my_run import runs

    puzzle, whose = ranked_puzzle("all_reduce"), "your all_reduce"
    try:
        text = read_python_answer(puzzle).text
    except AnswerProblem as problem:
        if problem.status != "not-started":
            raise problem.error() from None
        whose = "our all_reduce"
        text = read_python_answer(puzzle, course_solutions() / f"{puzzle.name}.py").text
    source = Source(f"{puzzle.short_name}.py", text, puzzle.functions)
    run = run_with([source], runs.called_once, ranks, {"length": length})
    own = [[call for call in run.calls if call.rank == rank] for rank in range(ranks)]
    sent = [int(booked_bytes(calls)) for calls in own]
    busiest = sent.index(max(sent))
    messages = sum(1 for call in own[busiest] if booked_bytes([call]))
    return Reduced(whose, ranks, 8 * length, sent[busiest], messages)


@lru_cache
def month(gpus: int = 1_024, sequences: int = 1_536) -> Plan:
    """Returns Megatron-LM's plan of GPT-3: 300 billion tokens, eight GPUs a layer, eight stages.

    Args:
        gpus: A100 of 80 GB.
        sequences: of a step, 2,048 tokens each.

    Source: Narayanan and others 2021, section 5.1, where the run is said to take 34 days.
    """
    run = Run(MODELS["GPT-3 175B"], A100, gpus, sequences, 2_048, 300e9, MEGATRON)
    tp, pp = 8, 8
    layout = Layout(
        dp=gpus // tp // pp, tp=tp, pp=pp, sequence_parallel=False, recompute="full", flash=False
    )
    return Plan(run, layout)


def all_reduces_of_step(plan: Plan) -> int:
    """Returns how many all-reduces along tp a GPU waits for in a step."""
    again = 6 if plan.layout.recompute == "full" else 4
    layers = plan.run.model.layers // plan.layout.pp
    return again * layers * plan.layout.microbatches(plan.run.batch)


def days(plan: Plan) -> float:
    """Returns the days of a run that never stops."""
    return plan.step_s * plan.run.steps / DAY_S


def layer_bytes(plan: Plan) -> int:
    """Returns the bytes of an all-reduce along tp: a vector of each token, in 16 bit."""
    return 2 * plan.layout.microbatch * plan.run.sequence * plan.run.model.hidden


def chain_text(count: Counted, reduce: Reduced, plan: Plan) -> str:
    """Returns the whole chain, a line for each link.

    Args:
        count, reduce, plan: the links.
    """
    each = reduce.seconds(layer_bytes(plan), plan.layout.tp, plan.run.card)
    many = all_reduces_of_step(plan)
    rate = plan.run.card.gemm_flop_per_s
    rows = (
        ("a wavefront", f"{count.fma / count.wavefronts:.0f} multiply-adds"),
        ("an SM's roof", f"{count.roof_flop_per_s / TERA:.1f} TFLOP/s on all SMs"),
        (
            "tensor cores",
            f"{rate / TERA:.0f} TFLOP/s, {rate / count.roof_flop_per_s:.0f} x as much",
        ),
        ("an all-reduce", f"{each * 1e3:.2f} ms, and {many:,} of them in a step"),
        ("a step", f"{plan.step_s:.1f} s, {plan.tflop_per_s:.0f} TFLOP/s of a GPU"),
        ("the run", f"{plan.run.steps:,} steps, {days(plan):.1f} days"),
    )
    return "\n".join(f"{name:<14} {said}" for name, said in rows)
