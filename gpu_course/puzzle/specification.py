"""What a puzzle and a lesson are: the trusted description that stubs, grader and lessons share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simt.report import Counters

Values = dict[str, Any]
"""Named arguments of a puzzle: NumPy arrays and Python scalars."""


@dataclass(frozen=True)
class Case:
    """One set of sizes a puzzle is checked at.

    Args:
        name: how messages call it, such as "visible example" or "one thread too many".
        sizes: the numbers `inputs` and `launches` need, such as {"size": 10, "block": 4}.
        visible: True for the example a learner sees and pictures are drawn from.
        whole: False where the launch finds a part of the work done already, so that what it costs
            is not what the sizes ask for.
        special: NaN, infinities and zeros that stand among the numbers of its arrays.
    """

    name: str
    sizes: Mapping[str, int]
    visible: bool = False
    whole: bool = True
    special: tuple[float, ...] = ()


@dataclass(frozen=True)
class Launch:
    """One kernel launch of a puzzle.

    Args:
        function: the name of the learner's kernel.
        grid, block: as Numba takes them, an int or a tuple of 1 to 3 ints.
        args: for each parameter of the kernel the *name* of an input, output or scratch value.
        shared_bytes: dynamic shared memory of the launch in bytes.
    """

    function: str
    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    args: tuple[str, ...]
    shared_bytes: int = 0


@dataclass(frozen=True)
class Share:
    """What one thread of a kernel puzzle is given to do.

    Args:
        words: one sentence, which the statement says too: "Each thread writes one cell."
        cells: the most cells of one output that one thread may write: a number, or a function of
            (case, name of the output).
        reads: False where one thread may read for its whole block, as in a look-back.
    """

    words: str
    cells: int | Callable[[Case, str], int] = 1
    reads: bool = True

    def rule(self) -> str:
        """Returns the sentence as a message quotes it."""
        return f"The puzzle says: {self.words[:1].lower()}{self.words[1:]}"

    def most(self, case: Case, output: str) -> int:
        """Returns the most cells of an output that one thread may write in a case."""
        return self.cells(case, output) if callable(self.cells) else self.cells


@dataclass(frozen=True)
class Budget:
    """A counter that may not go past a limit, whatever the result.

    Args:
        counter: a dotted path into Counters, such as "global_load.excess_sectors"; or several,
            joined by " + ", which are added up. Or, of the launch that takes most, "shared_bytes",
            the shared memory of a block, or "indexed_bytes", local arrays of a thread that are
            indexed by what is known only as the kernel runs.
        limit: the most allowed; a number, or a function of (case, reference solution's Counters).
        lesson: one sentence on what the excess costs and where to look.
        words: what is counted, in words the lesson has used by then: "bytes loaded"; default the
            counter's name.
        fact: instead of a count, what the excess shows: "out is not written in order".
        spare: (reference solution's Counters) -> what may be had beyond the limit and is not worth
            a word; None for nothing.
    """

    counter: str
    limit: int | Callable[[Case, Counters], int]
    lesson: str
    words: str = ""
    fact: str = ""
    spare: Callable[[Counters], int] | None = None


DIFFICULTIES = {
    "easy": "the lesson has just shown the idea",
    "medium": "several ideas of the lesson have to meet",
    "hard": "a thought of your own is needed, and paper helps",
}
"""How hard a puzzle is -> what that means."""


@dataclass(frozen=True)
class Bonus:
    """A goal beyond passing, for an answer to kernels that is right already.

    Args:
        counter: a dotted path into Counters, or several as in a Budget.
        limit: case -> the most that meets the goal, in every case.
    """

    counter: str
    limit: Callable[[Case], int]


@dataclass(frozen=True)
class Debrief:
    """What a learner reads once an answer passes. All of it is true of any answer that can pass.

    Args:
        shows: what is said of the learner's own run of the visible example: dotted paths into
            Counters for kernels, names of results and measurements for Python.
        why: two sentences on why it works.
        alternative: what another good answer looks like, in words.
        goal: what could be fewer, for those who want more, and no word on how; or "". The puzzle's
            `bonus` says when it is met.
        picture: of what in the learner's run a pass shows a picture, a key of PICTURES; "" for who
            touches what.
    """

    shows: tuple[str, ...]
    why: str
    alternative: str
    goal: str = ""
    picture: str = ""


PICTURES = {
    "lanes": "the lines that a warp carries out, and the lanes that are at work in each",
    "sectors": "the sectors of global memory that the worst load and the worst store move",
    "banks": "the banks that the worst access of a tile asks for",
    "barriers": "who writes and reads which cell of a tile between two barriers",
}
"""What a pass can show a picture of -> what that is; a lesson names one for all its puzzles, and a
puzzle another."""


@dataclass(frozen=True)
class Mistake:
    """A wrong answer learners really give, in solutions/NN_topic/mistakes/NAME.py.

    Args:
        function: the name of the wrong kernel in that file (its place in the answer is that of the
            puzzle's function named by `stands_for`).
        reason: the Verdict.reason it must end with ("hazard", "wrong-result", "refused" ...).
        diagnosis: the key of the diagnosis it must be given (see Puzzle.diagnoses).
        stands_for: the puzzle function it replaces.
        thought: what the learner was thinking.
    """

    function: str
    reason: str
    diagnosis: str
    stands_for: str
    thought: str


@dataclass(frozen=True, kw_only=True)
class Puzzle:
    """What every puzzle has, whatever its answer is written in; see the two kinds below.

    Args:
        name: "NN_topic/name"; the last part is unique in the course.
        title: a few words.
        statement: what is asked: the docstring of the solution, and so of the stub.
        parameters: for each function an answer must define its parameter names, in order.
        cases: the sizes checked, the visible one first.
        random_case: draws one more case from a fresh seed.
        inputs: (rng, case) -> named inputs, never constant, symmetric or sorted by accident.
        reference: (inputs, case) -> the expected value of each output that is compared.
        tolerance: (rtol, atol); (0, 0) asks for equality.
        diagnoses: pattern key -> what to tell the learner. A puzzle may override any sentence the
            grader has of its own.
        diagnose: (inputs, case, expected, got) -> a key of `diagnoses`, or None: for wrong results
            that no named mistake stands for, since much about them is free. It is asked once none
            of the mistakes has given the same.
        hints: three, of rising strength; none holds the answer.
        constants: module constants whose value is fixed, such as {"TPB": 256}.
        points: what passing is worth.
        difficulty: a key of DIFFICULTIES.
        minutes: how long it takes a learner who has just read the lesson up to it.
        debrief: what is said once an answer passes.
        bonus: what an answer to kernels can have for less, or None.
        source: where the idea comes from, or "".
        equivalent_mutants: mutant name -> why it is no different.
        read_mistakes: reads the named mistakes, which most who know a puzzle never ask for.
    """

    name: str
    title: str
    statement: str
    parameters: Mapping[str, tuple[str, ...]]
    cases: tuple[Case, ...]
    random_case: Callable[[np.random.Generator], Case]
    inputs: Callable[[np.random.Generator, Case], Values]
    reference: Callable[[Values, Case], Values]
    hints: tuple[str, str, str]
    tolerance: tuple[float, float] = (0.0, 0.0)
    diagnoses: Mapping[str, str] = field(default_factory=dict)
    diagnose: Callable[[Values, Case, Values, Values], str | None] | None = None
    constants: Mapping[str, int | float] = field(default_factory=dict)
    points: int = 10
    difficulty: str = "easy"
    minutes: int = 5
    debrief: Debrief | None = None
    bonus: Bonus | None = None
    source: str = ""
    equivalent_mutants: Mapping[str, str] = field(default_factory=dict)
    read_mistakes: Callable[[], tuple[Mistake, ...]] = tuple

    @property
    def functions(self) -> tuple[str, ...]:
        """The functions an answer must define, in order."""
        return tuple(self.parameters)

    @property
    def mistakes(self) -> tuple[Mistake, ...]:
        """The named mistakes, in the order of their file."""
        return self.read_mistakes()

    @property
    def short_name(self) -> str:
        """The last part of the name, enough where a person types."""
        return self.name.rpartition("/")[2]

    @property
    def lesson(self) -> str:
        """The lesson the puzzle belongs to, such as "01_threads"."""
        return self.name.partition("/")[0]


@dataclass(frozen=True)
class Stalled:
    """A case in which every block comes to wait for one that is held up outside the launch.

    So the launch has no end, and must have none. What the blocks have left in memory by then says
    what each has done before it began to wait.

    Args:
        case: the case; it is none of the puzzle's `cases`.
        left: (inputs, case) -> what these outputs are to hold while all blocks wait.
        diagnosis: the key of the diagnosis, where an output holds something else.
    """

    case: Case
    left: Callable[[Values, Case], Values]
    diagnosis: str


@dataclass(frozen=True, kw_only=True)
class KernelPuzzle(Puzzle):
    """A puzzle whose answer is kernels: read and interpreted, never executed.

    Diagnosis keys the grader finds by itself: hazard kinds ("out-of-bounds", "race" ...),
    "refused", "unwritten" (no output cell was written), "tail-unwritten", "block-unwritten" (whole
    blocks of threads wrote nothing), "tail-wrong", "only-first-block-right", "shifted" (right
    values at an offset), "transposed", "reversed", "copied-input", "constant-offset",
    "constant-factor", "not-a-number" (NaN where a number belongs, of an input that has NaN or
    infinities), "unusual-numbers" (some cells are wrong, of such an input), "made-nan" (NaN, of an
    input that has neither), "partly-wrong" and "wrong" (anything else), "over-budget",
    "order-dependent", "input-changed", "missing-function", "endless-loop",
    "waits-for-a-block-outside" (with one block resident a loop never ends),
    "no-fence-after" (what an atomic has told of is touched with no fence in between), "rebound"
    (the name of an output is assigned, not a cell of it), "other-bits" (see same_bits),
    "not-shared" and "done-again" (see Share). "race in global memory" is told instead of "race"
    where the cell is not in a tile. "race on NAME" stands for a race on that argument, where a
    puzzle has a sentence for it.

    Args:
        launches: (case) -> the launches, in order.
        scratch: (inputs, case) -> named arrays of the shapes and dtypes that launches need beside
            inputs and outputs; None where they need none.
        budgets: the counters held to a limit.
        share: how the work is shared among the threads; None where a puzzle asks for no kernel of
            many threads.
        together: True where all blocks of a launch are there at the same time, as a cooperative
            launch promises; otherwise kernels that wait are also run with room for one block.
        stalled: cases without an end, tried once an answer is right in all others; an answer that
            waits for nobody there is not judged by them.
        same_bits: outputs that hold the same bits, all of them and in every order of blocks; which
            bits these are is free, within the tolerance.
        signed_zeros: outputs in which -0 is another result than 0, as its bits are.
        codes: arrays of whole numbers that stand for bits: shown in hexadecimal.
        naive: (inputs, case) -> the outputs as float32 arithmetic gives them without any trick, in
            one order of its sums and products or in several, for results whose rounding hangs on
            the numbers. Where it is there, it takes the place of `tolerance`: see `tolerances`.
        large: (bytes that its arrays are to have at least) -> the case a real GPU is timed at, as
            `large_case` gives it; None leaves that to `large_case`, which enlarges a checked case.
    """

    launches: Callable[[Case], tuple[Launch, ...]]
    scratch: Callable[[Values, Case], dict[str, np.ndarray]] | None = None
    budgets: tuple[Budget, ...] = ()
    share: Share | None = None
    together: bool = False
    stalled: tuple[Stalled, ...] = ()
    same_bits: tuple[str, ...] = ()
    signed_zeros: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    naive: Callable[[Values, Case], tuple[Values, ...]] | None = None
    large: Callable[[int], Case] | None = None

    def tolerances(
        self, inputs: Values, case: Case, expected: Values
    ) -> dict[str, tuple[float, float]]:
        """Returns for each expected output how far (rtol, atol) a result may be off.

        Of a puzzle that has a `naive` way: twice as far as the worst cell of that, in the order in
        which it is worst, the naive way taken to be off by one step of float32 at the largest
        number, which by chance it may not be.

        Source: flash-attention's tests/test_flash_attn.py, which holds the largest difference from
        a reference of more digits to twice that of plain PyTorch.
        """
        if self.naive is None:
            return dict.fromkeys(expected, self.tolerance)
        with np.errstate(all="ignore"):
            ways = self.naive(inputs, case)
        return {
            name: (0.0, max(_twice_as_far(way[name], expected[name]) for way in ways))
            for name in expected
        }

    def outputs(
        self, inputs: Values, case: Case, expected: Values | None = None
    ) -> dict[str, np.ndarray]:
        """Returns the arrays that launches write: one like each expected output, and the scratch.

        The grader poisons them before every launch.
        """
        like = self.reference(inputs, case) if expected is None else expected
        made = {name: np.zeros_like(value, order="C") for name, value in like.items()}
        return made | (self.scratch(inputs, case) if self.scratch is not None else {})


def _twice_as_far(naive: np.ndarray, expected: np.ndarray) -> float:
    """Twice the largest difference among numbers and a step of float32 at the largest of them."""
    numbers = np.isfinite(naive) & np.isfinite(expected)
    if not numbers.any():
        return 0.0
    right = expected[numbers].astype(np.float64)
    furthest = np.abs(naive[numbers].astype(np.float64) - right).max()
    return 2 * (float(furthest) + float(np.spacing(np.float32(np.abs(right).max()))))


@dataclass(frozen=True)
class Judgement:
    """What a puzzle's own judgement found wrong with a result.

    Args:
        key: the diagnosis, a key of Puzzle.diagnoses.
        fact: one line with the values in it: "stage 3 is run 4 times; the plan says 3".
        reason: the Verdict.reason it ends with: "wrong-result", "over-budget" or "refused".
        line: of the answer, where it shows; 0 where none does.
    """

    key: str
    fact: str
    reason: str = "wrong-result"
    line: int = 0


@dataclass(frozen=True)
class PerRank:
    """An input of which each rank gets a part of its own.

    Args:
        parts: one for each rank.
    """

    parts: tuple[Any, ...]


@dataclass(frozen=True)
class Held:
    """A large case, run within a limit of memory that the system's kernel keeps.

    What a harness measures it measures in the answer's own process, where an answer can change it.
    The kernel counts every byte of that process, whoever takes it: PyTorch, NumPy, a thread, an
    object that outlives a call.

    Args:
        case: sizes at which the bytes a right answer saves are many times those that Python, its
            libraries and the allocator take as they like.
        bytes: the most the process may take on top of what it held before it read the answer;
            about half way between what a right answer and the most modest wrong one need.
    """

    case: Case
    bytes: int


@dataclass(frozen=True, kw_only=True)
class PythonPuzzle(Puzzle):
    """A puzzle whose answer is ordinary Python: it runs, in a child process of its own.

    Inputs go in and values come out: None, bools, numbers, strings, NumPy arrays, and tuples, lists
    and dicts with string keys of them (a torch tensor comes out as an array). Expected values never
    enter the child; the comparison happens outside it.

    A wrong result that is right as far as float32 holds numbers is "seven-digits" where the puzzle
    has a sentence for that.

    Diagnosis keys the grader finds by itself: "missing-output", "missing-name", "wrong-type",
    "wrong-shape", "wrong-dtype", "not-finite", "off-by-one", "constant-offset", "constant-factor",
    "partly-wrong", "wrong", "exception", "crash", "deadline", "memory", "input-changed",
    "missing-function", "same-every-time" (no parameter is read), "left-as-set" (a name is
    returned as it was set at first), "other-order", "rounded".
    Of an answer on ranks also: "nothing-sent", "standstill", "left-early", "calls-differ",
    "sizes-differ", "roots-differ", "dtypes-differ", "ops-differ", "new-group", "groups-crossed",
    "sends-to-itself", "not-waited", "library-collective", "group-ended", "group-of-its-own",
    "wire-disagrees".

    Args:
        harness: "" to call `functions[0]` with the inputs that its parameters name, and compare
            what it returns as the output "result"; else the full name of a module,
            whose `run(answer, **inputs)` calls the answer's functions as attributes of `answer`,
            and returns a dict of named outputs and measurements.
        reference: (inputs, case) -> the expected value of each output that is compared. It runs
            outside the child and may import torch inside. An output it does not name is left to
            `judge`.
        follow: (inputs, case, got) -> the outputs that are compared and judged, worked out by the
            grader itself from what came back. For results that say what is to be done, such as a
            schedule: what it takes is measured where the answer cannot reach it. Raises
            harness.Unusable for a result that cannot be followed.
        judge: (inputs, case, got) -> what is wrong, or None. Called once all that is compared is
            right: for results with more than one right value, and for what was measured.
        shown: (inputs, case, expected, got) -> what a picture shows of a result that is wrong or
            over budget, as `grading.verdicts.pictures` draws it, or None. It may raise: there is no
            picture then.
        self_check: what only a count inside the answer's own process tells, or "".
        held: large cases that are run within a limit the kernel keeps, once all else is right.
        call: inputs -> the call of a case as the learner's function gets it, for messages; default
            every input by its name, each cut short.
        torch: True where the answer or the harness needs PyTorch.
        ranks: case -> on how many processes the answer runs, `torch.distributed` initialised; None
            for one, without a group. See below.
        seconds: wall clock for one case.
        memory_bytes: what the answer may hold on top of the interpreter and its libraries.

    An answer on ranks is called on each of them. An input that is a PerRank goes to each rank as
    its own part, any other to all; without a harness, arrays arrive as tensors. Each output is a
    tuple with what each rank gave, in `reference` and in what comes back. In there is also

        "wire": every `parallel.calls.Call` of the case, rank by rank, each rank's in order;
        "told": for each rank ("begins", "waits", "over" or "future", number of a call) and ("mark",
            number) of `parallel.wire.mark` in a harness, in the order of the rank;
        "bytes_sent", "messages": for each rank the payload of its own sends, and their number;
        "booked_bytes": for each rank its sends, and its collectives at the volume of a ring;
        "tcp_bytes": {(from, to): bytes the kernel sent over TCP}, or None where it tells none.

    These the grader has written down itself, and has held against the kernel's own counters.
    Where the ranks do not come to their end, `diagnose` gets "wire", and under "failed" the
    grader's key: "standstill", "deadline", "calls-differ", "sizes-differ", "roots-differ",
    "not-waited", "crash"; under "finished" the ranks that are through. One group runs many cases;
    it is needless to draw them by ranks.
    """

    harness: str = ""
    follow: Callable[[Values, Case, Values], Values] | None = None
    judge: Callable[[Values, Case, Values], Judgement | None] | None = None
    shown: Callable[[Values, Case, Values, Values], Values | None] | None = None
    held: tuple[Held, ...] = ()
    self_check: str = ""
    call: Callable[[Values], str] | None = None
    torch: bool = False
    ranks: Callable[[Case], int] | None = None
    seconds: float = 10.0
    memory_bytes: int = 1 << 30


@dataclass(frozen=True)
class Sealed:
    """What a prediction keeps back until the learner has guessed.

    Args:
        seen: what we saw and why, in whole sentences. `code`, *stress* and **terms** are marked as
            in Markdown; an empty line begins a paragraph.
        answer: the right answer where no run gives it; or a function from what the run gave to the
            choice it stands for. Default: what the run gave is the answer.
    """

    seen: str
    answer: Any = None

    def right(self, value: Any) -> Any:
        """Returns the right answer, given what the run gave (None where there was no run)."""
        if callable(self.answer):
            return self.answer(value)
        return value if self.answer is None else self.answer


@dataclass(frozen=True)
class Term:
    """One word of the course; there is one word for each idea, and lessons and messages keep to it.

    Args:
        name: the word.
        meaning: one sentence.
        lesson: the lesson in which it is met first.
        entry: its article in Modal's GPU Glossary, as a path, or "".
        also: other words for the same thing in other texts.
    """

    name: str
    meaning: str
    lesson: str
    entry: str = ""
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lesson:
    """One lesson: its place in the course and the puzzles in it.

    Args:
        name: "NN_topic".
        title: as it stands in the map.
        part: 0 to 5.
        minutes: how long it takes a learner, puzzles included.
        goal: one sentence: what the learner can do afterwards.
        puzzles: in the order the lesson brings them.
        predictions: {question: what comes after the guess}, in the lesson's words.
        terms: the words of the course that are met first in it.
    """

    name: str
    title: str
    part: int
    minutes: int
    goal: str
    puzzles: tuple[Puzzle, ...]
    predictions: Mapping[str, Sealed] = field(default_factory=dict, compare=False)
    terms: tuple[Term, ...] = field(default=(), compare=False)
