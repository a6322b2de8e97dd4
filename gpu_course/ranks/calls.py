"""What a rank asked of the wire, and the bytes that are booked for it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

NEW_GROUP = "new_group"
"""What the making of a group is called; it is no call on the wire, and books nothing."""
KINDS = (
    "send",
    "recv",
    "all_reduce",
    "reduce_scatter",
    "all_gather",
    "all_to_all",
    "broadcast",
    "reduce",
    "gather",
    "scatter",
    "barrier",
)


@dataclass(frozen=True)
class Call:
    """One call of one rank.

    Attributes:
        rank: who called.
        number: the how-manieth call of this rank, from 0.
        kind: one of KINDS.
        group: the ranks of its group, as the world numbers them.
        place: the how-manieth collective of this rank in this group, from 0; for a send or a
            receive, the how-manieth between these two with this tag.
        sizes: elements of each tensor this rank brings, or is to receive.
        payload_bytes: of these tensors, together.
        peer: whom a send goes to, whom a receive is from, the root of a collective that has one;
            None for all others.
        tag: of a send or receive.
        line: of the learner's file; 0 where none of its lines is on the stack.
        dtype: of the tensors, such as "float32"; "" where there is none.
        gives, takes: of an all-to-all, elements for each rank of the group and from each; else ().
        op: how an all-reduce, a reduce or a reduce-scatter joins them, such as "SUM"; else "".
    """

    rank: int
    number: int
    kind: str
    group: tuple[int, ...]
    place: int
    sizes: tuple[int, ...]
    payload_bytes: int
    peer: int | None = None
    tag: int = 0
    line: int = 0
    dtype: str = ""
    op: str = ""
    gives: tuple[int, ...] = ()
    takes: tuple[int, ...] = ()

    @property
    def booked_bytes(self) -> Fraction:
        """What this rank sends for the call.

        A send is its payload, exactly. A collective is booked at the volume of a ring, which is the
        least for an all-reduce, a reduce-scatter and an all-gather, whatever the backend really
        does. Of n ranks with S bytes each: all-reduce 2 S (n-1)/n, reduce-scatter S (n-1)/n,
        all-gather S (n-1). An all-to-all sends all but the rank's part for itself, S (n-1)/n where
        no parts are told. A broadcast and a reduce pass S along a chain, the last of which sends
        nothing; a gather sends S to the root, a scatter all but one part of S from it.

        Source: Patarasuk and Yuan 2009, "Bandwidth optimal all-reduce algorithms".

        >>> whole = Call(0, 0, "all_reduce", (0, 1, 2, 3), 0, (1000,), 4000)
        >>> int(whole.booked_bytes)
        6000
        >>> int(Call(0, 0, "all_to_all", (0, 1), 0, (100,), 400, gives=(0, 100)).booked_bytes)
        400
        """
        size, n = Fraction(self.payload_bytes), len(self.group)
        share = Fraction(n - 1, n)
        is_root = self.peer == self.rank
        match self.kind:
            case "send":
                return size
            case "all_reduce":
                return 2 * size * share
            case "all_to_all" if sum(self.gives):
                own = self.gives[self.group.index(self.rank)]
                return size * Fraction(sum(self.gives) - own, sum(self.gives))
            case "reduce_scatter" | "all_to_all":
                return size * share
            case "all_gather":
                return size * (n - 1)
            case "broadcast" | "reduce":
                return Fraction(0) if self._ends_the_chain else size
            case "gather":
                return Fraction(0) if is_root else size
            case "scatter":
                return size * share if is_root else Fraction(0)
        return Fraction(0)

    @property
    def _ends_the_chain(self) -> bool:
        """Whether nobody comes after this rank: a broadcast runs from the root, a reduce to it."""
        if self.peer not in self.group or len(self.group) == 1:
            return len(self.group) == 1
        step = self.group.index(self.rank) - self.group.index(self.peer)
        return step % len(self.group) == (len(self.group) - 1 if self.kind == "broadcast" else 0)
