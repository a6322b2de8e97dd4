"""The pipeline schedules that have names, each as its rule writes it down.

`gpipe`, `one_f_one_b`, `interleaved`, `breadth_first`, `zb_h1`, `zb_h2`, `dualpipe`: a function of
how many ranks and microbatches there are, which returns a Schedule. None needs to know what an
action takes.

Sources: Huang et al. 2019 (GPipe), Narayanan et al. 2021 (interleaved), Lamy-Poirier 2023
(breadth-first), Qi et al. 2024 (arXiv 2401.10241: ZB-H1 and ZB-H2, figures 3), DeepSeek-AI 2024
(arXiv 2412.19437: DualPipe, figure 5).
"""

from __future__ import annotations

from gpu_course.errors import CourseError
from gpu_course.measure.pipelines.actions import (
    BACKWARD,
    FORWARD,
    INPUT,
    WEIGHT,
    Action,
    Schedule,
    looped,
    straight,
    v_shaped,
)


def gpipe(ranks: int, microbatches: int) -> Schedule:
    """Returns all forward passes, then all backward passes in the same order of microbatches.

    >>> gpipe(2, 2).lines()
    ['0F0 0F1 0B0 0B1', '1F0 1F1 1B0 1B1']
    """
    _check(ranks, microbatches)
    orders = tuple(
        tuple(
            Action(rank, kind, each) for kind in (FORWARD, BACKWARD) for each in range(microbatches)
        )
        for rank in range(ranks)
    )
    return Schedule(straight(ranks), orders, microbatches, "GPipe")


def one_f_one_b(ranks: int, microbatches: int) -> Schedule:
    """Returns the order in which a rank holds at most as many microbatches as ranks follow it.

    >>> one_f_one_b(2, 3).lines()
    ['0F0 0F1 0B0 0F2 0B1 0B2', '1F0 1B0 1F1 1B1 1F2 1B2']
    """
    _check(ranks, microbatches)
    orders = []
    for rank in range(ranks):
        warm = min(ranks - rank, microbatches)
        forwards = [Action(rank, FORWARD, each) for each in range(microbatches)]
        backwards = [Action(rank, BACKWARD, each) for each in range(microbatches)]
        orders.append(tuple(_alternated(forwards, backwards, warm)))
    return Schedule(straight(ranks), tuple(orders), microbatches, "1F1B")


def _alternated(forwards: list[Action], backwards: list[Action], warm: int) -> list[Action]:
    """Returns `warm` forward passes, then one backward and one forward in turn, then the rest."""
    order, done = forwards[:warm], 0
    for action in forwards[warm:]:
        order += [backwards[done], action]
        done += 1
    return order + backwards[done:]


def interleaved(ranks: int, microbatches: int, chunks: int) -> Schedule:
    """Returns Megatron-LM's interleaved 1F1B: each rank holds `chunks` stages, `ranks` apart.

    Microbatches go through the chunks in groups of `ranks`. Rank r begins with
    2 (ranks - r - 1) + (chunks - 1) ranks forward passes.

    Args:
        ranks, microbatches: the second is a multiple of the first.
        chunks: how many stages each rank holds.

    >>> interleaved(2, 2, 2).lines()[1]
    '1F0 1F1 3F0 3B0 3F1 3B1 1B0 1B1'
    """
    _check(ranks, microbatches, chunks)
    if microbatches % ranks:
        raise CourseError(
            f"the interleaved order sends microbatches in groups of {ranks}, one for each rank, "
            f"and {microbatches} are not a multiple of it",
            f"the next that is: {-(-microbatches // ranks) * ranks}",
        )
    orders = []
    for rank in range(ranks):
        forwards = _in_groups(rank, FORWARD, ranks, microbatches, range(chunks))
        backwards = _in_groups(rank, BACKWARD, ranks, microbatches, range(chunks - 1, -1, -1))
        warm = min(2 * (ranks - rank - 1) + (chunks - 1) * ranks, len(forwards))
        order, done = forwards[:warm], 0
        for action in forwards[warm:]:
            order += [action, backwards[done]]
            done += 1
        orders.append(tuple(order + backwards[done:]))
    return Schedule(looped(ranks, chunks), tuple(orders), microbatches, "interleaved 1F1B")


def _in_groups(rank: int, kind: str, ranks: int, microbatches: int, chunks: range) -> list[Action]:
    """Returns a rank's passes of one kind: `ranks` microbatches through a chunk, then the next."""
    return [
        Action(chunk * ranks + rank, kind, first + each)
        for first in range(0, microbatches, ranks)
        for chunk in chunks
        for each in range(ranks)
    ]


def breadth_first(ranks: int, microbatches: int, chunks: int) -> Schedule:
    """Returns the order in which a chunk sees every microbatch before the next chunk begins.

    >>> breadth_first(1, 2, 2).lines()
    ['0F0 0F1 1F0 1F1 1B0 1B1 0B0 0B1']
    """
    _check(ranks, microbatches, chunks)
    orders = tuple(
        tuple(
            Action(chunk * ranks + rank, kind, each)
            for kind, order in ((FORWARD, range(chunks)), (BACKWARD, range(chunks - 1, -1, -1)))
            for chunk in order
            for each in range(microbatches)
        )
        for rank in range(ranks)
    )
    return Schedule(looped(ranks, chunks), orders, microbatches, "breadth-first")


def zb_h1(ranks: int, microbatches: int) -> Schedule:
    """Returns ZB-H1: 1F1B with W put off, and no rank holds more than 1F1B's first rank.

    Rank r begins with ranks - r forward passes, and puts off r of its W.

    >>> zb_h1(2, 3).lines()
    ['0F0 0F1 0I0 0W0 0F2 0I1 0W1 0I2 0W2', '1F0 1I0 1F1 1I1 1W0 1F2 1I2 1W1 1W2']
    """
    _check(ranks, microbatches)
    warm = [ranks - rank for rank in range(ranks)]
    return _handcrafted(warm, list(range(ranks)), microbatches, "ZB-H1")


def zb_h2(ranks: int, microbatches: int) -> Schedule:
    """Returns ZB-H2: twice the memory of 1F1B buys a pipeline that is full to the end.

    Rank r begins with 2 (ranks - r) - 1 forward passes, and puts off 2 r of its W.
    """
    _check(ranks, microbatches)
    warm = [2 * (ranks - rank) - 1 for rank in range(ranks)]
    return _handcrafted(warm, [2 * rank for rank in range(ranks)], microbatches, "ZB-H2")


def _handcrafted(warm: list[int], put_off: list[int], microbatches: int, name: str) -> Schedule:
    """Returns an order of I, F and W for each rank: after I comes the W that is due, then F."""
    orders = []
    for rank, (first, late) in enumerate(zip(warm, put_off, strict=True)):
        forwards = [Action(rank, FORWARD, each) for each in range(microbatches)]
        order = forwards[:first]
        for each in range(microbatches):
            order.append(Action(rank, INPUT, each))
            if each >= late:
                order.append(Action(rank, WEIGHT, each - late))
            order += forwards[first + each : first + each + 1]
        order += [
            Action(rank, WEIGHT, each) for each in range(max(microbatches - late, 0), microbatches)
        ]
        orders.append(tuple(order))
    return Schedule(straight(len(warm)), tuple(orders), microbatches, name)


def dualpipe(ranks: int, microbatches: int) -> Schedule:
    """Returns DeepSeek-V3's order: two pipelines in opposite directions over the same ranks.

    The first half of the microbatches goes down, through stages 0 to ranks - 1 on ranks 0, 1, 2 and
    so on; the second half comes up, through stages ranks to 2 ranks - 1 on the same ranks, the last
    one first. Stage ranks + s is a copy of stage s. In the middle of its order a rank does an F of
    one way together with a B of the other.

    Args:
        ranks: an even number.
        microbatches: an even number, at least 2 ranks.

    >>> dualpipe(2, 4).lines()[0]
    '0F0 3F2 0F1 3B2 3F3&0B0 3B3 0I1 0W1'
    """
    _check(ranks, microbatches)
    if ranks % 2 or microbatches % 2 or microbatches < 2 * ranks:
        raise CourseError(
            f"DualPipe has no order for {ranks} ranks and {microbatches} microbatches",
            "give an even number of ranks, and twice as many microbatches or more, an even number",
        )
    made = [_DualPipeRank(rank, ranks, microbatches) for rank in range(ranks)]
    return Schedule(
        v_shaped(ranks),
        tuple(tuple(each.order) for each in made),
        microbatches,
        "DualPipe",
        ways=2,
        pairs=tuple(frozenset(each.pairs) for each in made),
    )


class _DualPipeRank:
    """One rank's order as it is written down, phase by phase.

    `near` is the way that begins nearer to the rank, `far` the other one, whose microbatches come
    late, and whose gradients begin nearby.
    """

    def __init__(self, rank: int, ranks: int, microbatches: int) -> None:
        self.order: list[Action] = []
        self.pairs: set[int] = set()
        self.put_off: list[Action] = []
        self.stages = (rank, 2 * ranks - 1 - rank)
        self.next = {(FORWARD, 0): 0, (INPUT, 0): 0}
        self.next |= {(FORWARD, 1): microbatches // 2, (INPUT, 1): microbatches // 2}
        near = 0 if rank < ranks // 2 else 1
        self.write(near, 1 - near, min(rank, ranks - 1 - rank), ranks, microbatches // 2)

    def write(self, near: int, far: int, outside: int, ranks: int, each_way: int) -> None:
        """Writes the whole order; `outside` ranks stand between this one and the nearer end."""
        inside = ranks // 2 - 1 - outside
        for _ in range(2 * inside):
            self.forward(near)
        for _ in range(outside + 1):
            self.forward(near)
            self.forward(far)
        for _ in range(inside):
            self.input(far)
            self.weight()
            self.forward(far)
        for each in range(each_way - ranks + outside + 1):
            # The two ranks in the middle begin apart: what F gives, the other of them waits for.
            self.both(near, far, apart=not each and not inside)
            self.both(far, near)
        for _ in range(inside):
            self.backward(far)
            self.both(far, near)
        for number in range(2 * (outside + 1)):
            step = self.input if number > outside else self.backward
            step(far if number % 2 == 0 else near)
        for _ in range(inside):
            self.weight()
            self.input(near)
        for _ in range(outside + 1):
            self.weight()

    def take(self, way: int, kind: str, count: str) -> Action:
        action = Action(self.stages[way], kind, self.next[count, way])
        self.next[count, way] += 1
        self.order.append(action)
        return action

    def forward(self, way: int) -> None:
        self.take(way, FORWARD, FORWARD)

    def backward(self, way: int) -> None:
        self.take(way, BACKWARD, INPUT)

    def both(self, forward: int, backward: int, apart: bool = False) -> None:
        if not apart:
            self.pairs.add(len(self.order))
        self.forward(forward)
        self.backward(backward)

    def input(self, way: int) -> None:
        done = self.take(way, INPUT, INPUT)
        self.put_off.append(Action(done.stage, WEIGHT, done.microbatch))

    def weight(self) -> None:
        self.order.append(self.put_off.pop(0))


def _check(ranks: int, microbatches: int, chunks: int = 1) -> None:
    for count, what in ((ranks, "ranks"), (microbatches, "microbatches"), (chunks, "chunks")):
        if count < 1:
            raise CourseError(
                f"a pipeline of {count} {what} does nothing", f"give at least one of the {what}"
            )
