"""A tiny GPT that trains on the learner's GELU as an operator, beside one on PyTorch's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from gpu_course.errors import CourseError
from gpu_course.grading.answer_file import AnswerProblem
from gpu_course.grading.learner.solution import course_solutions
from gpu_course.grading.python.answers import PythonAnswer, read_python_answer
from gpu_course.hardware.device_arrays import taken
from gpu_course.hardware.run import cuda_module, gpu_available, kernels_of
from gpu_course.measure.model import GPT, Layer, Shape, next_token_loss
from gpu_course.measure.threads import one_thread
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.own.kernels import OwnKernel, own_kernel
from gpu_course.puzzle import PythonPuzzle, index
from gpu_course.puzzle.specification import Launch
from simt import simulate

KERNEL, OPERATOR = "bias_gelu", "kernel_as_operator"
TPB, ROWS = 64, 4
"""Columns and rows of a block, as the puzzle bias_gelu has them."""
SHAPE = Shape(hidden=64, layers=2, heads=2, sequence=16, vocabulary=32, dropout=0.0)
BATCH = 4
"""Four sequences of 16 tokens, and four times 64 columns between the MLP's layers: 16,384 cells."""
NEXT = 3
"""How many tokens can follow a token, in what is trained on."""
RATE = 3e-3


@dataclass(frozen=True)
class Trained:
    """Two runs of the same training.

    Attributes:
        own: the loss before each step, with the learner's operator.
        library: the same with torch.nn.functional.gelu.
        launches: of the kernel, over all steps.
        cells: that one launch writes.
        whose: which kernel, and which operator, in words.
        where: "the simulator", or the name of the GPU.
    """

    own: tuple[float, ...]
    library: tuple[float, ...]
    launches: int
    cells: int
    whose: str
    where: str

    @property
    def apart(self) -> float:
        """The largest difference of the two losses at one step."""
        return max(abs(a - b) for a, b in zip(self.own, self.library, strict=True))

    def __str__(self) -> str:
        steps = len(self.own)
        shown = sorted({0, steps // 4, steps // 2, 3 * steps // 4, steps - 1})
        lines = [
            f"{self.whose}; in {self.where}",
            f"{self.launches:,} launches of {self.cells:,} cells",
            "",
            "step   your operator   torch's gelu",
            *(f"{k:>4}   {self.own[k]:>13.3f}   {self.library[k]:>12.3f}" for k in shown),
            "",
            f"the losses differ by at most {_power(self.apart)}",
        ]
        return "\n".join(lines)

    __repr__ = __str__


@asks_for_answers
def train_on_own(steps: int = 100, seed: int = 0) -> Trained:
    """Returns a tiny GPT trained twice: on the learner's GELU as an operator, and on PyTorch's.

    The operator is what `kernel_as_operator` returns, around the kernel `bias_gelu`; until the
    learner has one of them, the solution's stands in. Both runs begin with the same weights and
    see the same batches. Where there is a GPU the model lies on it, and Numba launches the kernel
    on PyTorch's own memory; else the simulator runs it, some milliseconds for each launch.

    Args:
        steps: of AdamW.
        seed: of weights and batches.

    Raises:
        CourseError: an answer cannot be read, the kernel is refused or goes wrong, or the operator
            doesn't train.
    """
    kernel = own_kernel(KERNEL)
    make, own = _own_function()
    launch = Native(kernel) if _gpu_for_both() else Simulated(kernel)
    with one_thread():
        library = _train(steps, seed, launch.device, _library)
        try:
            own_loss = _train(steps, seed, launch.device, make(launch))
        except CourseError:
            raise  # the kernel's, with its line
        except Exception as error:  # whatever the learner's operator may raise
            first = str(error).strip().partition("\n")[0]
            raise CourseError(
                f"the operator of {OPERATOR} does not train: {type(error).__name__}: {first}",
                f'check("{OPERATOR}") says what it lacks',
            ) from error
    words = f"{kernel}, in {'your' if own else 'our'} {OPERATOR}"
    return Trained(
        own_loss,
        library,
        launch.launches,
        BATCH * SHAPE.sequence * 4 * SHAPE.hidden,
        words,
        launch.where,
    )


class Simulated:
    """Launches bias_gelu in the simulator, on the memory of tensors of the CPU: no copy is made.

    Args:
        kernel: what to launch.
    """

    device = "cpu"
    where = "the simulator"

    def __init__(self, kernel: OwnKernel) -> None:
        self.launches = 0
        self._run = simulate(kernel.kernel, counters=False, raise_on_hazard=True)

    def __call__(self, out: Tensor, x: Tensor, bias: Tensor) -> None:
        """Writes gelu(x + bias) into out.

        Args:
            out, x: float32 (rows, cols), contiguous.
            bias: float32 (cols,).

        Raises:
            HazardError: the kernel goes wrong, where and with which threads.
        """
        rows, cols = x.shape
        arrays = (each.detach().numpy() for each in (out, x, bias))
        self._run[_grid(rows, cols), TPB](*arrays, rows, cols)
        self.launches += 1


class Native:
    """Launches bias_gelu on a GPU by Numba, which takes PyTorch's tensors without a copy.

    Numba's default stream and PyTorch's are the same one, so neither has to wait for the other.

    Args:
        kernel: whose file is compiled.
    """

    device = "cuda"

    def __init__(self, kernel: OwnKernel) -> None:
        self.launches = 0
        self.where = torch.cuda.get_device_name()
        self._cuda = cuda_module()
        asked = Launch(KERNEL, 1, TPB, ("out", "x", "bias", "rows", "cols"))
        self._kernel = kernels_of(kernel.file, [asked], self._cuda)[KERNEL]

    def __call__(self, out: Tensor, x: Tensor, bias: Tensor) -> None:
        """Writes gelu(x + bias) into out, as `Simulated` does."""
        rows, cols = x.shape
        given = {"out": out, "x": x, "bias": bias}
        arrays = (taken(name, each.detach(), self._cuda) for name, each in given.items())
        self._kernel[_grid(rows, cols), TPB](*arrays, rows, cols)
        self.launches += 1


def _grid(rows: int, cols: int) -> tuple[int, int]:
    return -(-cols // TPB), -(-rows // ROWS)


def _gpu_for_both() -> bool:
    """True where both PyTorch and Numba can use a GPU."""
    return torch.cuda.is_available() and gpu_available()


class _Bend(nn.Module):
    """An MLP whose bias and GELU are one operator, between the two products."""

    def __init__(self, up: nn.Linear, down: nn.Linear, bias_gelu: Callable[..., Any]) -> None:
        super().__init__()
        self.up, self.down, self.bias_gelu = up, down, bias_gelu

    def forward(self, x: Tensor) -> Tensor:
        """Returns (b, s, h) for x of (b, s, h)."""
        wide = functional.linear(x, self.up.weight)  # (b, s, h) @ (h, 4h) = (b, s, 4h)
        return self.down(self.bias_gelu(wide, self.up.bias))


def _library(x: Tensor, bias: Tensor) -> Tensor:
    return functional.gelu(x + bias)


def _train(steps: int, seed: int, device: str, bias_gelu: Callable[..., Any]) -> tuple[float, ...]:
    """Returns the loss before each step."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = GPT(SHAPE)
        followers = torch.randint(0, SHAPE.vocabulary, (SHAPE.vocabulary, NEXT))
    for layer in model.layers:
        assert isinstance(layer, Layer)
        layer.mlp = _Bend(layer.mlp.up, layer.mlp.down, bias_gelu)  # type: ignore[assignment]
    model.to(device)
    drawn = torch.Generator().manual_seed(seed + 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    losses = []
    for _ in range(steps):
        tokens = _walks(followers, drawn).to(device)
        loss = next_token_loss(model(tokens), tokens)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return tuple(losses)


def _walks(followers: Tensor, drawn: torch.Generator) -> Tensor:
    """Returns (BATCH, sequence) tokens, each one of those that can follow the one before it."""
    steps = [torch.randint(0, SHAPE.vocabulary, (BATCH,), generator=drawn)]
    for _ in range(SHAPE.sequence - 1):
        chosen = torch.randint(0, NEXT, (BATCH,), generator=drawn)
        steps.append(followers[steps[-1], chosen])
    return torch.stack(steps, 1)


def _own_function() -> tuple[Callable[..., Any], bool]:
    """Returns `kernel_as_operator` and whether it is the learner's; the solution's until then."""
    puzzle = index.find(OPERATOR)
    assert isinstance(puzzle, PythonPuzzle)
    own = True
    try:
        answer = read_python_answer(puzzle)
    except AnswerProblem as problem:
        if problem.status != "not-started":
            raise problem.error() from None
        own, answer = False, read_python_answer(puzzle, course_solutions() / f"{puzzle.name}.py")
    return _loaded(answer), own


def _loaded(answer: PythonAnswer) -> Callable[..., Any]:
    scope: dict[str, Any] = {"__name__": "answer"}
    exec(compile(answer.text, answer.file, "exec", dont_inherit=True), scope)
    made: Callable[..., Any] = scope[OPERATOR]
    return made


def _power(size: float) -> str:
    """Returns a size as the next power of ten, which no processor's rounding changes.

    >>> _power(3.2e-7), _power(0.0)
    ('1e-06', '0')
    """
    return f"{10.0 ** math.ceil(math.log10(size)):.0e}" if size else "0"
