"""A GPT that reads the course's own prose letter by letter: small enough to train in a lesson."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

import gpu_course
from gpu_course.errors import CourseError
from gpu_course.measure.threads import one_thread
from gpu_course.units import format_bytes

LETTERS = "\n" + "".join(map(chr, range(32, 127)))
"""What is read and said: a line's end, and all that can be typed in ASCII."""
MOST_PARAMETERS = 2_000_000
"""Of a model that is trained here: ten times as many take a hundred times as long."""
BYTES_PER_PARAMETER = 16
"""Weight, gradient and AdamW's two states, in float32."""
HEAD = 32
"""Numbers of a head; the kernels are written for this many."""
EPS = 1e-5
BASE = 10_000.0
"""Of the angles of rope."""


@dataclass(frozen=True)
class Sizes:
    """The numbers of a character GPT.

    Attributes:
        layers: how many layers.
        heads: query heads of a layer, of 32 numbers each; the model is as wide as all of them.
        kv_heads: heads of keys and values; they divide `heads`.
        inner: numbers between the two products of an MLP.
        context: tokens of the longest text.

    >>> Sizes().parameters, Sizes().hidden
    (373376, 128)
    """

    layers: int = 2
    heads: int = 4
    kv_heads: int = 2
    inner: int = 512
    context: int = 256

    @property
    def hidden(self) -> int:
        """The width of the model."""
        return self.heads * HEAD

    @property
    def parameters(self) -> int:
        """How many numbers are trained; the embedding is the last product's matrix as well."""
        h = self.hidden
        attention = (2 * self.heads + 2 * self.kv_heads) * HEAD * h
        layer = attention + 2 * h * self.inner + 2 * h
        return self.layers * layer + len(LETTERS) * h + h


def refuse_what_is_no_model(sizes: Sizes) -> None:
    """Refuses sizes that the kernels or this computer cannot work with, before anything is built.

    Raises:
        CourseError: with the number that is wrong, and what to try.
    """
    for name in ("layers", "heads", "kv_heads", "inner", "context"):
        value = getattr(sizes, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise CourseError(f"{name} is {value!r}", f"{name} is a whole number, 1 or more")
    if sizes.parameters > MOST_PARAMETERS:
        held = format_bytes(BYTES_PER_PARAMETER * sizes.parameters)
        ours = Sizes().parameters
        raise CourseError(
            f"a model of {sizes.parameters:,} parameters is not built here: with its gradient and "
            f"AdamW's states it takes {held}, and a letter {sizes.parameters // ours} times the "
            "work of the lesson's model",
            f"stay below {MOST_PARAMETERS:,} parameters; the lesson's model has {ours:,}",
        )
    if sizes.heads % sizes.kv_heads:
        raise CourseError(
            f"{sizes.kv_heads} KV heads do not divide {sizes.heads} query heads",
            "each KV head belongs to equally many query heads",
        )
    if sizes.heads // sizes.kv_heads > 8 or sizes.hidden > 1024:
        raise CourseError(
            f"the kernels stop at 8 query heads for each KV head and a width of 1,024; here it is "
            f"{sizes.heads // sizes.kv_heads} and {sizes.hidden:,}",
            "take fewer heads",
        )
    if sizes.inner % HEAD:
        raise CourseError(
            f"inner is {sizes.inner}, and int4 weights come in groups of {HEAD}",
            f"take a multiple of {HEAD}",
        )


def turned(x: Tensor, positions: Tensor) -> Tensor:
    """Returns queries or keys turned by their positions, as the puzzle `rope` turns them.

    Args:
        x: (..., tokens, heads, 32).
        positions: (tokens,) of whole numbers.
    """
    cos, sin = (each[positions, None] for each in angles(int(positions.max()) + 1))
    a, b = x[..., : HEAD // 2], x[..., HEAD // 2 :]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def angles(positions: int) -> tuple[Tensor, Tensor]:
    """Returns cosines and sines of every position and pair of a head: two of (positions, 16)."""
    pairs = torch.arange(HEAD // 2, dtype=torch.float64) * 2 / HEAD
    found = torch.arange(positions, dtype=torch.float64)[:, None] * BASE**-pairs
    return found.cos().float(), found.sin().float()


class Layer(nn.Module):
    """Attention with few KV heads, and an MLP with GELU, each behind an RMS norm; no biases."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        h = sizes.hidden
        self.norm_attention = nn.Parameter(torch.ones(h))
        self.qkv = nn.Linear(h, (sizes.heads + 2 * sizes.kv_heads) * HEAD, bias=False)
        self.out = nn.Linear(h, h, bias=False)
        self.norm_mlp = nn.Parameter(torch.ones(h))
        self.up = nn.Linear(h, sizes.inner, bias=False)
        self.down = nn.Linear(sizes.inner, h, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Returns (b, s, h) for x of (b, s, h)."""
        x = x + self._attended(functional.rms_norm(x, x.shape[-1:], self.norm_attention, EPS))
        inner = functional.gelu(self.up(functional.rms_norm(x, x.shape[-1:], self.norm_mlp, EPS)))
        return x + self.down(inner)

    def _attended(self, x: Tensor) -> Tensor:
        heads, kv_heads = self.sizes.heads, self.sizes.kv_heads
        all_heads = self.qkv(x).view(*x.shape[:-1], heads + 2 * kv_heads, HEAD)
        q, k, v = all_heads.split([heads, kv_heads, kv_heads], -2)
        positions = torch.arange(x.shape[1])
        q, k = turned(q, positions), turned(k, positions)
        q, k, v = (each.transpose(1, 2) for each in (q, k, v))
        mixed = functional.scaled_dot_product_attention(
            q, k, v, is_causal=True, enable_gqa=True
        )  # (b, heads, s, 32)
        return self.out(mixed.transpose(1, 2).flatten(2))


class CharacterGPT(nn.Module):
    """Letters in, logits of the next letter out.

    Args:
        sizes: its numbers.

    Raises:
        CourseError: before it is built; see `refuse_what_is_no_model`.
    """

    def __init__(self, sizes: Sizes) -> None:
        refuse_what_is_no_model(sizes)
        super().__init__()
        self.sizes = sizes
        self.letters = nn.Embedding(len(LETTERS), sizes.hidden)
        nn.init.normal_(self.letters.weight, std=0.05)
        self.layers = nn.ModuleList(Layer(sizes) for _ in range(sizes.layers))
        self.norm = nn.Parameter(torch.ones(sizes.hidden))

    def forward(self, tokens: Tensor) -> Tensor:
        """Returns logits (b, s, letters) for tokens (b, s) of int64."""
        x = self.letters(tokens)
        for layer in self.layers:
            x = layer(x)
        x = functional.rms_norm(x, x.shape[-1:], self.norm, EPS)
        return functional.linear(x, self.letters.weight)


@dataclass(frozen=True)
class Trained:
    """A model and how it was trained.

    Attributes:
        model: in evaluation mode.
        losses: the mean loss of each tenth of the training, in nats for a letter.
        letters: how many letters the prose has.
        steps: of AdamW.
    """

    model: CharacterGPT
    losses: tuple[float, ...]
    letters: int
    steps: int

    def __str__(self) -> str:
        fall = " ".join(f"{loss:.2f}" for loss in self.losses)
        return (
            f"{self.model.sizes.parameters:,} parameters, {self.steps} steps on {self.letters:,} "
            f"letters of prose\nloss by tenths, nats: {fall}"
        )

    __repr__ = __str__


def train(
    sizes: Sizes | None = None,
    *,
    steps: int = 420,
    batch: int = 8,
    length: int = 64,
    seed: int = 0,
    prose: str | None = None,
) -> Trained:
    """Returns a character GPT trained on the course's own prose, the same for the same seed.

    The lesson's model takes about 13 seconds of one processor.

    Args:
        sizes: of the model; default the lesson's.
        steps: of AdamW, with a rate that rises and falls.
        batch, length: sequences of a step, and the letters of each.
        seed: of the weights and of the places in the prose.
        prose: what is read; default `course_prose()`.

    Raises:
        CourseError: sizes that cannot be trained here, before anything is built; or a prose that
            is shorter than one sequence.
    """
    sizes = sizes or Sizes()
    refuse_what_is_no_model(sizes)
    read = tokens_of(course_prose() if prose is None else prose)
    if len(read) <= length:
        raise CourseError(
            f"the prose has {len(read)} letters, and a sequence takes {length + 1}",
            "give it more to read, or shorter sequences",
        )
    if length > sizes.context:
        raise CourseError(
            f"sequences of {length} letters do not fit into a context of {sizes.context}",
            "make length smaller, or context larger",
        )
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = CharacterGPT(sizes)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1.0, betas=(0.9, 0.95))
        rate = torch.optim.lr_scheduler.LambdaLR(optimizer, _rate(steps))
        found = []
        for _ in range(steps):
            starts = torch.randint(0, len(read) - length, (batch, 1))
            window = read[starts + torch.arange(length + 1)]
            logits = model(window[:, :-1])
            loss = functional.cross_entropy(logits.flatten(0, 1), window[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            rate.step()
            found.append(loss.item())
    tenths = tuple(float(part.mean()) for part in np.array_split(found, min(10, steps)))
    return Trained(model.eval(), tenths, len(read), steps)


def _rate(steps: int, most: float = 8e-3) -> Callable[[int], float]:
    """A rate that rises over the first tenth, and falls in a straight line to a twentieth."""
    rise = max(1, steps // 10)
    return lambda step: (
        most * min((step + 1) / rise, 1 - 0.95 * (step - rise) / max(1, steps - rise))
    )


def tokens_of(text: str) -> Tensor:
    """Returns the numbers of a text's letters, (letters,) of int64; what LETTERS lacks is left out.

    >>> tokens_of("a b").tolist(), text_of([66, 1, 67])
    ([66, 1, 67], 'a b')
    """
    number = {letter: place for place, letter in enumerate(LETTERS)}
    return torch.tensor([number[letter] for letter in text if letter in number])


def text_of(tokens: list[int]) -> str:
    """Returns the text of some tokens."""
    return "".join(LETTERS[token] for token in tokens)


def course_prose() -> str:
    """Returns what the lessons say, without code, tables, headings and links.

    Raises:
        CourseError: this is no checkout of the course.
    """
    folder = Path(gpu_course.__path__[0]).parent / "notebooks" / "source"
    files = sorted(folder.glob("[0-9]*.md"))
    if not files:
        raise CourseError(
            f"no lesson lies in {folder}", "run this in a checkout of the course, or give a prose"
        )
    return "\n".join(
        paragraph for file in files for paragraph in paragraphs(file.read_text(encoding="utf-8"))
    )


def paragraphs(text: str) -> Iterator[str]:
    """Yields the paragraphs of a lesson's source as plain text, each in one line.

    >>> list(paragraphs("# 1\\n\\nA **warp**\\nhas 32.\\n\\n```py\\nx\\n```\\n\\n| a |\\n"))
    ['A warp has 32.']
    """
    text = re.sub(r"\A---\n.*?^---\n", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^(`{3,}|~{3,}).*?^\1", "", text, flags=re.DOTALL | re.MULTILINE)
    for part in re.split(r"\n\s*\n", text):
        if re.match(r"\s*([#|<:(+>-]|\d+\.|!\[|$)", part):
            continue
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", part).replace("*", "").replace("`", "")
        yield " ".join(plain.split())
