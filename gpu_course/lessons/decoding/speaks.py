"""A character GPT that speaks through the learner's kernels, token by token."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gpu_course.errors import CourseError
from gpu_course.grading.kernel.answers import mistake_answer, read_answer
from gpu_course.grading.learner.solution import course_solutions
from gpu_course.grading.verdicts.sections import WIDTH
from gpu_course.lessons.decoding.character_gpt import (
    EPS,
    HEAD,
    LETTERS,
    CharacterGPT,
    angles,
    text_of,
    tokens_of,
)
from gpu_course.lessons.decoding.paged import PAGE, shuffled_table
from gpu_course.lessons.decoding.pictures import TokenRun, draw_launches
from gpu_course.measure.threads import one_thread
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import telling
from gpu_course.notebook.own.kernels import OwnKernel, own_kernel, whose
from gpu_course.notebook.pictures import Picture
from gpu_course.puzzle import index
from simt import simulate

KERNELS = ("rmsnorm", "matvec", "rope", "kv_append_paged", "decode_attention_gqa", "top_k")
"""The puzzles whose kernels a token takes; `int4_matvec` comes in the place of `matvec`."""
GROUP = 32
"""Columns that share a scale in int4."""
CHOICES = 8
"""Of how many letters one is drawn, where the next letter is drawn."""
TEMPERATURE = 0.8
WEIGHTS = ("float32", "int4")
CACHES = ("float32", "fp8")


@dataclass(frozen=True)
class Spoken:
    """A text and how it came about.

    Attributes:
        prompt: what was given.
        tokens: the letters that were said, as numbers.
        logits: for each of them float32 (letters,), what it was chosen by.
        by: "plain torch", or whose kernels, and in which numbers.
        launches: how often each kernel was launched for one token, in the order of the first;
            empty for plain torch.
    """

    prompt: str
    tokens: tuple[int, ...]
    logits: tuple[np.ndarray, ...]
    by: str
    launches: Mapping[str, int]

    @property
    def text(self) -> str:
        """What was said, without the prompt."""
        return text_of(list(self.tokens))

    @property
    def launches_per_token(self) -> int:
        """All launches of a token."""
        return sum(self.launches.values())

    def __str__(self) -> str:
        return f"{self.prompt}|{self.text}"

    __repr__ = __str__


@dataclass(frozen=True)
class Difference:
    """The first letter that two texts do not share, and what each was chosen by.

    Attributes:
        place: its number among the letters said, from 0.
        read: letters that the model had read when it chose this one, the prompt's among them.
        before: the end of the text that both have up to there.
        letters: the two letters.
        logits: for each text the logits of these two letters.
        by: how each text came about.
    """

    place: int
    read: int
    before: str
    letters: tuple[str, str]
    logits: tuple[tuple[float, float], tuple[float, float]]
    by: tuple[str, str]

    def __str__(self) -> str:
        one, other = (repr(letter) for letter in self.letters)
        lines = [
            f"letter {self.place + 1} of the answer is the first that differs,",
            f"after {self.read} letters that were read, the last of them {self.before!r}",
        ]
        for by, letter, (a, b) in zip(self.by, (one, other), self.logits, strict=True):
            lines.append(f"  {letter}   logits {a:.4f} of {one}, {b:.4f} of {other}")
            lines += textwrap.wrap(by, WIDTH, initial_indent="  by  ", subsequent_indent="      ")
        return "\n".join(lines)

    __repr__ = __str__


def first_difference(one: Spoken, other: Spoken) -> Difference | None:
    """Returns where two texts part, with the logits there; None where they are the same.

    Up to there both were given the same letters, so the logits tell what the two ways of
    computing make of the same text.

    Args:
        one, other: from the same prompt.

    Raises:
        CourseError: they began with different prompts, or one is empty.
    """
    if one.prompt != other.prompt or not (one.tokens and other.tokens):
        raise CourseError(
            "two texts can be compared where both say something after the same prompt",
            "generate both with the same prompt",
        )
    for place, (a, b) in enumerate(zip(one.tokens, other.tokens, strict=False)):
        if a != b:
            logits = tuple(
                (float(s.logits[place][a]), float(s.logits[place][b])) for s in (one, other)
            )
            before = (one.prompt + text_of(list(one.tokens[:place])))[-20:]
            return Difference(
                place,
                len(one.prompt) + place,
                before,
                (LETTERS[a], LETTERS[b]),
                (logits[0], logits[1]),
                (one.by, other.by),
            )
    return None


def speak_in_torch(
    model: CharacterGPT, prompt: str, letters: int = 60, *, drawn: int | None = None
) -> Spoken:
    """Returns what a model says, computed by PyTorch anew from the whole text for each letter.

    Args:
        model: of `character_gpt.train`.
        prompt: what it goes on from.
        letters: how many it says.
        drawn: None for the likeliest letter each time; a number for a draw from the 8 likeliest,
            by the Philox stream of that key: the same number gives the same draws.

    Raises:
        CourseError: the prompt is empty, or the text is too long for the model.
    """
    read = _prompt(model, prompt, letters)
    uniform = _uniform(drawn)
    said: list[int] = []
    kept = []
    with one_thread(), torch.no_grad():
        for _ in range(letters):
            logits = model(torch.tensor([[*read, *said]]))[0, -1]
            # Of equal logits the lower letter comes first, as top_k has it.
            order = torch.sort(logits, descending=True, stable=True)
            count = 1 if uniform is None else CHOICES
            chosen = _choose(order.values[:count].numpy(), uniform)
            said.append(int(order.indices[chosen]))
            kept.append(logits.numpy())
    return Spoken(prompt, tuple(said), tuple(kept), "plain torch", {})


@asks_for_answers
def speak(
    model: CharacterGPT,
    prompt: str,
    letters: int = 60,
    *,
    drawn: int | None = None,
    weights: str = "float32",
    cache: str = "float32",
    kernels: Mapping[str, Any] | None = None,
) -> Spoken:
    """Returns what a model says by the learner's kernels, each launched in the simulator.

    Every product, norm, turn, append, attention and choice is a launch. Adding two rows, GELU and
    looking a letter up are left to NumPy between them. Keys and values lie in pages, in an order
    that is drawn. Where the learner has no kernel yet, the solution's stands in, and `by` says so.

    Args:
        model, prompt, letters, drawn: as `speak_in_torch` takes them.
        weights: "float32", or "int4": groups of 32 columns with a scale and a zero each, and
            `int4_matvec` instead of `matvec`.
        cache: "float32", or "fp8": keys and values are rounded to E4M3 before they are kept, with
            a scale for each head. The pages hold float32 all the same.
        kernels: what to launch instead of the learner's kernels, by the puzzle's name: whatever
            `simulate` takes.

    Raises:
        CourseError: as `speak_in_torch`; other weights or another cache.
        KernelRefused: a kernel is refused, with its line.
        HazardError: a launch goes wrong, where and with which threads.
    """
    for what, given, known in (("weights", weights, WEIGHTS), ("cache", cache, CACHES)):
        if given not in known:
            raise CourseError(f"{what} is {given!r}", f"{what} is one of {', '.join(known)}")
    read = _prompt(model, prompt, letters)
    engine = _Engine(model, len(read) + letters, weights, cache, kernels or {})
    uniform = _uniform(drawn)
    count = 1 if uniform is None else CHOICES
    said: list[int] = []
    kept = []
    for place in range(len(read) + letters - 1):
        token = read[place] if place < len(read) else said[-1]
        logits = engine.step(token, place)
        if place >= len(read) - 1:
            values, places = engine.largest(logits, count)
            said.append(int(places[_choose(values, uniform)]))
            kept.append(logits)
        if place == len(read) - 1:
            launches = dict(engine.launches - engine.before)
        engine.before = engine.launches.copy()
    return Spoken(prompt, tuple(said), tuple(kept), engine.by, launches)


@asks_for_answers
def where_it_changes(
    model: CharacterGPT,
    prompt: str,
    letters: int = 40,
    *,
    weights: str = "float32",
    cache: str = "float32",
    texts: int = 5,
) -> Difference | None:
    """Returns the first letter that narrower numbers change, in the first text that they change.

    The likeliest letters are tried first, then texts whose letters are drawn. None where all stay
    as plain torch has them.

    Args:
        model, prompt, letters, weights, cache: as `speak` takes them.
        texts: how many are tried.
    """
    for drawn in (None, *range(texts - 1)):
        plain = speak_in_torch(model, prompt, letters, drawn=drawn)
        narrow = speak(model, prompt, letters, drawn=drawn, weights=weights, cache=cache)
        if found := first_difference(plain, narrow):
            return found
    return None


@asks_for_answers
@telling
def tokens_with_launches(
    model: CharacterGPT, prompt: str, letters: int = 4, weights: str = "float32"
) -> Picture:
    """Returns the first letters that a model says, each with its launches and their bytes.

    Args:
        model: of `character_gpt.train`.
        prompt: what it goes on from.
        letters: how many it says.
        weights: "float32" or "int4".
    """
    read = _prompt(model, prompt, letters)
    engine = _Engine(model, len(read) + letters, weights, "float32", {}, counted=True)
    runs: list[TokenRun] = []
    token = read[0]
    for place in range(len(read) + letters - 1):
        engine.moved.clear()
        logits = engine.step(token, place)
        if place + 1 < len(read):
            token = read[place + 1]
            continue
        token = int(engine.largest(logits, 1)[1][0])
        runs.append(TokenRun(LETTERS[token], tuple(engine.moved)))
    return Picture(draw_launches(runs))


def mistaken(puzzle: str, function: str) -> Any:
    """Returns a wrong kernel that learners write, one of those that the grader knows by name.

    Args:
        puzzle: a kernel puzzle of one function.
        function: the name of the mistake.

    Raises:
        CourseError: the puzzle has no such mistake.
    """
    found = index.find(puzzle)
    for mistake in found.mistakes:
        if mistake.function == function:
            answer = mistake_answer(found, mistake, course_solutions())
            return read_answer(found, answer).kernels[found.functions[0]]
    raise CourseError(
        f"{puzzle} has no mistake {function!r}",
        f"it has {', '.join(each.function for each in found.mistakes)}",
    )


def launch_table(spoken: Spoken) -> str:
    """Returns whose kernels spoke, and the launches of one token as a table, kernel by kernel."""
    rows = textwrap.wrap(spoken.by, WIDTH)
    rows += [f"{name:<22}{count:>3}" for name, count in spoken.launches.items()]
    return "\n".join([*rows, f"{'launches for a token':<22}{spoken.launches_per_token:>3}"])


class _Engine:
    """The kernels, the weights as they want them, and the pages."""

    def __init__(
        self,
        model: CharacterGPT,
        longest: int,
        weights: str,
        cache: str,
        given: Mapping[str, Any],
        *,
        counted: bool = False,
    ) -> None:
        self.sizes = sizes = model.sizes
        self.cache = cache
        self.launches: Counter[str] = Counter()
        self.before: Counter[str] = Counter()
        names = list(KERNELS) if weights == "float32" else [*KERNELS, "int4_matvec"]
        if weights == "int4":
            names.remove("matvec")
        own = [own_kernel(name) for name in names if name not in given]
        self.by = _by(own, [name for name in names if name in given], weights, cache)
        kernels = {each.name: each.kernel for each in own} | dict(given)
        self._runs = {
            name: simulate(kernels[name], counters=counted, raise_on_hazard=True) for name in names
        }
        self.counted = counted
        self.moved: list[tuple[str, int]] = []
        state = {name: each.detach().numpy() for name, each in model.named_parameters()}
        self.state = state
        self.packed = (
            {name: packed_int4(each) for name, each in state.items() if each.ndim == 2}
            if weights == "int4"
            else {}
        )
        table, pages = shuffled_table(np.random.default_rng(7), [longest])
        self.table = table
        shape = (sizes.layers, 2, pages, PAGE, sizes.kv_heads, HEAD)
        self.pages = np.full(shape, np.nan, np.float32)
        self.cos, self.sin = (each.numpy() for each in angles(longest))

    def step(self, token: int, place: int) -> np.ndarray:
        """Returns the logits float32 (letters,) of the letter after a token at a place."""
        sizes, state = self.sizes, self.state
        heads, kv_heads, half = sizes.heads, sizes.kv_heads, HEAD // 2
        length = np.array([place + 1], np.int32)
        position = np.array([place], np.int32)
        x = state["letters.weight"][token]
        for number in range(sizes.layers):
            name = f"layers.{number}"
            row = self._product(f"{name}.qkv.weight", self._norm(f"{name}.norm_attention", x))
            q, k, v = (
                part.reshape(1, -1, HEAD).copy()
                for part in np.split(row, [heads * HEAD, (heads + kv_heads) * HEAD])
            )
            grid = 1, -(-(heads + kv_heads) * half // 64)
            self._launch(
                "rope", grid, 64, q, k, position, self.cos, self.sin, heads, kv_heads, half
            )
            if self.cache == "fp8":
                k, v = rounded_to_fp8(k), rounded_to_fp8(v)
            keys, values = self.pages[number]
            kept = keys, values, k, v, self.table, length, kv_heads, HEAD
            self._launch("kv_append_paged", (1, -(-kv_heads * HEAD // 64)), 64, *kept)
            mixed = np.full_like(q, np.nan)
            group = heads // kv_heads
            asked = mixed, q, keys, values, self.table, length, np.float32(HEAD**-0.5), group
            self._launch("decode_attention_gqa", (1, kv_heads), 128 * group, *asked)
            x = x + self._product(f"{name}.out.weight", mixed.reshape(-1))
            inner = self._product(f"{name}.up.weight", self._norm(f"{name}.norm_mlp", x))
            x = x + self._product(f"{name}.down.weight", _gelu(inner))
        return self._product("letters.weight", self._norm("norm", x))

    def largest(self, logits: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns the largest logits and their letters, by top_k: two of (count,)."""
        values = np.full((1, count), np.nan, np.float32)
        places = np.zeros((1, count), np.int32)
        self._launch("top_k", 1, 128, values, places, logits[None], len(logits), count)
        return values[0], places[0]

    def _norm(self, name: str, x: np.ndarray) -> np.ndarray:
        out = np.full((1, len(x)), np.nan, np.float32)
        self._launch("rmsnorm", 1, 128, out, x[None], self.state[name], len(x), np.float32(EPS))
        return out[0]

    def _product(self, name: str, x: np.ndarray) -> np.ndarray:
        rows, cols = self.state[name].shape
        out = np.full(rows, np.nan, np.float32)
        if self.packed:
            grid = -(-rows // 16)
            self._launch("int4_matvec", grid, 128, out, *self.packed[name], x, rows, cols)
        else:
            self._launch("matvec", -(-rows // 4), (32, 4), out, self.state[name], x, rows, cols)
        return out

    def _launch(self, name: str, grid: Any, block: Any, *arguments: Any) -> None:
        report = self._runs[name][grid, block](*arguments)
        self.launches[name] += 1
        if self.counted:
            asked = report.counters
            self.moved.append((name, asked.global_load.bytes + asked.global_store.bytes))


def packed_int4(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns a matrix as `int4_matvec` reads it: each 32 columns of a row on a scale of 16 steps.

    Args:
        weights: float32 (rows, cols); 32 divides cols.

    Returns:
        uint32 (rows, cols / 8), eight to a word; the scales float32 and the zeros uint8, both
        (rows, cols / 32).
    """
    rows, cols = weights.shape
    groups = weights.reshape(rows, cols // GROUP, GROUP).astype(np.float64)
    low = np.minimum(groups.min(-1), 0)
    high = np.maximum(groups.max(-1), 0)
    scale = np.where(high > low, (high - low) / 15, 1).astype(np.float32)
    zero = np.clip(np.rint(-low / scale), 0, 15).astype(np.uint8)
    numbers = np.clip(np.rint(groups / scale[..., None]) + zero[..., None], 0, 15)
    eights = numbers.astype(np.uint32).reshape(rows, cols // 8, 8)
    packed = (eights << np.arange(0, 32, 4, dtype=np.uint32)).sum(-1, dtype=np.uint32)
    return packed, scale, zero


def rounded_to_fp8(heads: np.ndarray) -> np.ndarray:
    """Returns keys or values rounded to E4M3, whose largest number is 448, a scale for each head.

    Args:
        heads: float32 (1, kv_heads, 32).
    """
    most = np.abs(heads).max(-1, keepdims=True)
    scale = np.where(most > 0, most / np.float32(448), np.float32(1)).astype(np.float32)
    narrow = torch.from_numpy(heads / scale).to(torch.float8_e4m3fn).float().numpy()
    return np.asarray(narrow * scale, np.float32)


def _gelu(x: np.ndarray) -> np.ndarray:
    return torch.nn.functional.gelu(torch.from_numpy(x)).numpy()


def _prompt(model: CharacterGPT, prompt: str, letters: int) -> list[int]:
    read: Tensor = tokens_of(prompt)
    if not len(read) or letters < 1:
        raise CourseError(
            "there has to be a prompt of one letter or more, and a letter to say",
            "give it the beginning of a sentence",
        )
    if len(read) != len(prompt):
        unknown = next(letter for letter in prompt if letter not in LETTERS)
        raise CourseError(
            f"the model knows no letter {unknown!r}", "write the prompt in plain ASCII"
        )
    if len(read) + letters > model.sizes.context:
        raise CourseError(
            f"{len(read)} letters and {letters} more are {len(read) + letters}, and the context is "
            f"{model.sizes.context}",
            "say less, or begin with less",
        )
    return [int(token) for token in read]


def _uniform(drawn: int | None) -> Iterator[float] | None:
    """Yields numbers from 0 up to 1 of the Philox stream with a key; None where none is drawn."""
    if drawn is None:
        return None
    stream = np.random.Generator(np.random.Philox(key=drawn))
    return iter(stream.random, None)


def _choose(values: np.ndarray, uniform: Iterator[float] | None) -> int:
    """Returns which of some logits, the largest first, is taken: the first, or a drawn one."""
    if uniform is None:
        return 0
    weights = np.exp((values.astype(np.float64) - float(values[0])) / TEMPERATURE)
    below = np.cumsum(weights) / weights.sum()
    return min(int(np.searchsorted(below, next(uniform), side="right")), len(values) - 1)


def _by(own: list[OwnKernel], given: list[str], weights: str, cache: str) -> str:
    if not given and all(each.own for each in own):
        kernels = "your kernels"
    elif not given and not any(each.own for each in own):
        kernels = "our kernels, until there are some of yours"
    else:
        parts = [f"{', '.join(given)} as given"] if given else []
        kernels = "; ".join([*parts, *([whose(own)] if own else [])])
    numbers = [f"{weights} weights"] if weights != "float32" else []
    numbers += [f"an {cache} cache"] if cache != "float32" else []
    return ", ".join([kernels, *numbers])
