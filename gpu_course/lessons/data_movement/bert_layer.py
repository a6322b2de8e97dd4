"""A training step of one layer of a transformer, operator by operator: FLOP, bytes, and a class.

Every operator is a kernel of its own here, as in a framework that fuses nothing. An addition, a
product, a division, a comparison and an exp are one FLOP each; a multiply-add of a product of
matrices is two. Numbers have `WIDTH` bytes, and the mask of a dropout has one for each.

Source: the operators and their classes are those of Ivanov, Dryden, Ben-Nun, Li and Hoefler, "Data
Movement Is All You Need" (2020), for a layer of BERT-large. FLOP and bytes are counted here, from
the shapes alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gpu_course.hardware.cards import DeviceCard
from gpu_course.lessons.data_movement.operations import CONTRACTION, MAP, ROW
from gpu_course.measure.transformer_shapes import Transformer

BERT_LARGE = Transformer(layers=1, hidden=1024, heads=16, vocabulary=30522)
"""One layer of it."""
BATCH, SEQUENCE = 8, 512
WIDTH = 2

CLASSES = {
    CONTRACTION: "products of matrices",
    ROW: "sums over rows or columns",
    MAP: "each number by itself",
}
"""A class of operators -> what it is called here; the paper calls them tensor contractions,
statistical normalisation and element-wise."""


@dataclass(frozen=True)
class Operator:
    """One kernel of a training step.

    Attributes:
        name: such as "softmax".
        kind: a key of CLASSES.
        flop: operations.
        moved_bytes: each tensor that it reads or writes, once.
    """

    name: str
    kind: str
    flop: int
    moved_bytes: int

    def floor_s(self, card: DeviceCard) -> float:
        """Returns the longer of FLOP and bytes, each over the card's rate; seconds."""
        rate = card.tensor_flop_per_s if self.kind == CONTRACTION else card.fp32_flop_per_s
        if rate is None or card.bandwidth_bytes_per_s is None:
            raise ValueError(f"no data sheet says how fast {card.name} is")
        return max(self.flop / rate, self.moved_bytes / card.bandwidth_bytes_per_s)


def training_step(
    model: Transformer = BERT_LARGE, batch: int = BATCH, sequence: int = SEQUENCE
) -> tuple[Operator, ...]:
    """Returns the operators of one layer's forward and backward pass, in their order.

    Args:
        model: whose layer, with a head for each query and no gate.
        batch: sequences.
        sequence: tokens in each.
    """
    tokens, h, inner = batch * sequence, model.hidden, model.inside
    n, s, u = tokens * h, batch * model.heads * sequence**2, tokens * inner
    found: list[Operator] = []

    def product(name: str, flop: int, left: int, right: int, out: int) -> None:
        """A product, of which each of the three tensors is a factor or the result."""
        found.append(Operator(name, CONTRACTION, flop, WIDTH * (left + right + out)))

    def other(name: str, kind: str, flop: int, numbers: int, mask: int = 0) -> None:
        found.append(Operator(name, kind, flop, WIDTH * numbers + mask))

    def dropped(name: str, size: int) -> None:
        other(name, MAP, size, 2 * size, size)

    def end_of_half(name: str) -> None:
        other(f"{name} bias", MAP, n, 2 * n)
        dropped(f"{name} dropout", n)
        other(f"{name} residual", MAP, n, 3 * n)
        other(f"{name} norm", ROW, 7 * n, 2 * n)

    def back_to_half(name: str) -> None:
        other(f"{name} norm, dX", ROW, 10 * n, 3 * n)
        other(f"{name} norm, dW", ROW, 5 * n, 2 * n)
        dropped(f"{name} dropout, dX", n)
        other(f"{name} bias, dW", ROW, n, n)

    heads = {
        "qkv": (6 * n * h, n, 3 * h * h, 3 * n),
        "scores": (2 * n * sequence, n, n, s),
        "values": (2 * n * sequence, s, n, n),
        "projection": (2 * n * h, n, h * h, n),
        "up": (2 * n * inner, n, h * inner, u),
        "down": (2 * n * inner, u, h * inner, n),
    }

    def back(name: str) -> None:
        for side in ("first factor", "second factor"):
            product(f"{name}, d of the {side}", *heads[name])

    product("qkv", *heads["qkv"])
    other("qkv bias", MAP, 3 * n, 6 * n)
    product("scores", *heads["scores"])
    other("scaled softmax", ROW, 6 * s, 2 * s)
    dropped("scores dropout", s)
    product("values", *heads["values"])
    product("projection", *heads["projection"])
    end_of_half("attention")
    product("up", *heads["up"])
    other("up bias", MAP, u, 2 * u)
    other("ReLU", MAP, u, 2 * u)
    dropped("up dropout", u)
    product("down", *heads["down"])
    end_of_half("MLP")
    back_to_half("MLP")
    back("down")
    dropped("up dropout, dX", u)
    other("ReLU, dX", MAP, u, 3 * u)
    other("up bias, dW", ROW, u, u)
    back("up")
    other("MLP residual, dX", MAP, n, 3 * n)
    back_to_half("attention")
    back("projection")
    back("values")
    dropped("scores dropout, dX", s)
    other("softmax, dX", ROW, 5 * s, 3 * s)
    back("scores")
    other("qkv bias, dW", ROW, 3 * n, 3 * n)
    back("qkv")
    other("attention residual, dX", MAP, n, 3 * n)
    return tuple(found)


def shares(amounts: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Returns how many per cent of the sum each class has.

    Args:
        amounts: (class, how much) of each operator.

    >>> shares([("map", 1), ("row", 2), ("map", 1)])
    {'contraction': 0.0, 'row': 50.0, 'map': 50.0}
    """
    sums = dict.fromkeys(CLASSES, 0.0)
    for kind, amount in amounts:
        sums[kind] += amount
    whole = sum(sums.values())
    return {kind: 100 * part / whole for kind, part in sums.items()}


def flop_shares(operators: Iterable[Operator]) -> dict[str, float]:
    """Returns the per cent of the FLOP that each class does."""
    return shares((each.kind, each.flop) for each in operators)


def byte_shares(operators: Iterable[Operator]) -> dict[str, float]:
    """Returns the per cent of the bytes that each class moves."""
    return shares((each.kind, each.moved_bytes) for each in operators)


def floor_shares(operators: Iterable[Operator], card: DeviceCard) -> dict[str, float]:
    """Returns the per cent of the time that each class takes at least, at a data sheet's rates."""
    return shares((each.kind, each.floor_s(card)) for each in operators)
