"""How a run is spread over ranks, read from one line, and the sizes of the GPT that it trains."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields

from gpu_course.errors import CourseError
from gpu_course.measure.meshes import Mesh


@dataclass(frozen=True)
class Shape:
    """The numbers of a small GPT with experts, and of the batch that it gets.

    Attributes:
        hidden: width (h).
        heads: attention heads; they divide `hidden`.
        layers: how many layers, each with attention and experts.
        sequence: tokens of a sequence.
        vocabulary: how many tokens there are; the head is the table of tokens once more.
        inside: width inside an expert.
        experts: of each layer.
        top_k: experts that a token goes through.
        batch: sequences of a step.
        microbatches: parts that a rank's sequences are done in, one after the other.
    """

    hidden: int = 16
    heads: int = 4
    layers: int = 2
    sequence: int = 8
    vocabulary: int = 24
    inside: int = 12
    experts: int = 4
    top_k: int = 2
    batch: int = 12
    microbatches: int = 2


@dataclass(frozen=True)
class Configuration:
    """How many ranks there are along each axis.

    Attributes:
        dp: copies of the model, each with its own sequences.
        tp: ranks among which heads and the insides of experts are cut.
        cp: ranks among which a sequence is cut.
        pp: stages, each with some of the layers.
        ep: ranks among which experts are dealt out, each with its own sequences.
        zero3: whether weights lie cut over dp, gathered for use and freed after it.
        sp: whether tokens are cut over tp where weights are not.

    >>> Configuration.read("dp=2 zero3 tp=2 sp")
    Configuration(dp=2, tp=2, cp=1, pp=1, ep=1, zero3=True, sp=True)
    """

    dp: int = 1
    tp: int = 1
    cp: int = 1
    pp: int = 1
    ep: int = 1
    zero3: bool = False
    sp: bool = False

    @classmethod
    def read(cls, line: str) -> Configuration:
        """Returns the configuration of a line such as "dp=2 tp=2 sp"; what it leaves out is off.

        Raises:
            CourseError: a word is none of those that a configuration has.
        """
        found: dict[str, int | bool] = {}
        for word in line.split():
            name, _, number = word.partition("=")
            flag = name in ("zero3", "sp")
            if name not in {field.name for field in fields(cls)} or name in found:
                raise CourseError(
                    f"{word!r} is no part of a configuration, or stands there twice",
                    "write dp=2, tp=2, cp=2, pp=2, ep=2, zero3 and sp, as many as you like",
                )
            if flag == bool(number) or not (flag or number.isdecimal()):
                raise CourseError(
                    f"{word!r} does not say how many ranks", "write dp=2, but zero3 and sp alone"
                )
            found[name] = True if flag else int(number)
        return cls(**found)  # type: ignore[arg-type]

    def __str__(self) -> str:
        """The line that it is read from.

        >>> str(Configuration(dp=2, zero3=True, cp=2))
        'dp=2 zero3 cp=2'
        """
        words = [f"{axis}={size}" for axis, size in self.sizes.items() if size > 1]
        if self.zero3:
            words.insert(1 if self.dp > 1 else 0, "zero3")
        return " ".join([*words, *(["sp"] if self.sp else [])]) or "one rank"

    @property
    def sizes(self) -> dict[str, int]:
        """Ranks along each axis."""
        return {axis: getattr(self, axis) for axis in ("dp", "tp", "cp", "pp", "ep")}

    @property
    def ranks(self) -> int:
        """How many ranks it takes."""
        return math.prod(self.sizes.values())

    @property
    def mesh(self) -> Mesh:
        """Its ranks in Megatron's order, tp-cp-ep-dp-pp.

        >>> Configuration(dp=2, tp=2).mesh.coords(2)
        {'tp': 0, 'cp': 0, 'ep': 0, 'dp': 1, 'pp': 0}
        """
        return Mesh.ordered(("tp", "cp", "ep", "dp", "pp"), self.sizes)

    def as_dict(self) -> dict[str, int | bool]:
        """Its attributes by name, as a puzzle gives them."""
        return asdict(self)

    def check(self, shape: Shape, world: int | None = None) -> None:
        """Holds it against a model and a number of ranks.

        Args:
            shape: of the model.
            world: ranks that there are, or None.

        Raises:
            CourseError: it cannot cut this model so, or takes another number of ranks.
        """
        for axis, size in self.sizes.items():
            if size < 1:
                raise CourseError(f"{axis} is {size}; the least is 1, which is no cut")
        if world is not None and world != self.ranks:
            sizes = " x ".join(f"{axis} {size}" for axis, size in self.sizes.items())
            raise CourseError(
                f"{sizes} takes {self.ranks} ranks, and there are {world}",
                "the sizes of all axes multiply to the number of ranks",
            )
        if self.sp and self.tp == 1:
            raise CourseError(
                "sp cuts tokens among the ranks of tp, and tp is 1", "give tp=2, or leave sp out"
            )
        if self.zero3 and self.dp == 1:
            raise CourseError(
                "zero3 cuts weights among the ranks of dp, and dp is 1",
                "give dp=2, or leave it out",
            )
        needs = {
            "pp": (self.pp, shape.layers, "layers"),
            "tp": (self.tp, shape.heads, "heads"),
            "the width inside an expert": (self.tp, shape.inside, "numbers"),
            "ep": (self.ep, shape.experts, "experts"),
            "cp and sp": (self.cp * (self.tp if self.sp else 1), shape.sequence, "tokens"),
            "dp, ep and microbatches": (
                self.dp * self.ep * shape.microbatches, shape.batch, "sequences",
            ),
        }  # fmt: skip
        for what, (parts, there, of) in needs.items():
            if there % parts:
                raise CourseError(
                    f"{what}: {there} {of} cannot be cut into {parts} equal parts",
                    f"choose a number that divides {there}",
                )
