"""Random kernels for a race detector: many are ordered, and each order there is decides in some.

A kernel is a program of a small language, as data: `text` writes it for the simulator, and
`tests.simt.observe.witness` runs it by itself. It mixes the statements of a few patterns. Each has
cells of its own, which threads touch in ways that conflict, and what orders them: a barrier of one
of four sizes, or fences and flags. Now and then a pattern lacks exactly one part of that order.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

GLOBAL, FLAGS, SHARED = 48, 64, 56
"""How many cells g, f and s have: all int64, and all of g and f 0 at the start."""

HEAD = f"""from numba import cuda, int64
@cuda.jit
def kernel(g, f):
    s = cuda.shared.array({SHARED}, int64)
    t = cuda.threadIdx.x
    b = cuda.blockIdx.x
    i = cuda.grid(1)
    lane = t % 32
    x = 0
"""

# The language. Conditions, indices and masks are expressions of t, b, i, lane and numbers learned.


@dataclass(frozen=True)
class Touch:
    """One access to `array[index]`; what it finds is added to the variable `into`.

    Attributes:
        kind: "load", "store" or an atomic's name: "add", "max", "exch" or "cas".
        operands: what is written; of "cas", what is expected before it.
    """

    kind: str
    array: str
    index: str
    operands: tuple[str, ...] = ()
    into: str = ""

    def __str__(self) -> str:
        if self.kind == "store":
            return f"{self.array}[{self.index}] = {self.operands[0]}"
        value = f"{self.array}[{self.index}]"
        if self.kind != "load":
            value = (
                f"cuda.atomic.{self.kind}({', '.join([self.array, self.index, *self.operands])})"
            )
        return f"{self.into} += {value}" if self.into else value


@dataclass(frozen=True)
class Fence:
    """A fence of the device, or `within_block` of the block."""

    within_block: bool = False

    def __str__(self) -> str:
        return "cuda.threadfence_block()" if self.within_block else "cuda.threadfence()"


Size = Literal["part", "warp", "block", "grid"]


@dataclass(frozen=True)
class Meet:
    """A barrier; of a part of a warp, with its mask."""

    size: Size
    mask: str = ""

    def __str__(self) -> str:
        if self.size == "block":
            return "cuda.syncthreads()"
        return (
            "cuda.cg.this_grid().sync()" if self.size == "grid" else f"cuda.syncwarp({self.mask})"
        )


@dataclass(frozen=True)
class If:
    """Statements of the threads for which a condition holds."""

    condition: str
    body: tuple[Statement, ...]


Statement = Touch | Fence | Meet | If


@dataclass(frozen=True)
class Drawn:
    """A program and its launch: kernel(g int64 (GLOBAL,), f int64 (FLAGS,))."""

    program: tuple[Statement, ...]
    variables: tuple[str, ...]
    grid: int
    block: int

    @property
    def text(self) -> str:
        """The kernel as a file."""
        made = [HEAD, *(f"    {name} = 0\n" for name in self.variables)]
        return "".join(made + _lines(self.program, "    "))


def _lines(body: Sequence[Statement], indent: str) -> list[str]:
    lines = []
    for each in body:
        if isinstance(each, If):
            inner = _lines(each.body, indent + "    ") or [f"{indent}    pass\n"]
            lines += [f"{indent}if {each.condition}:\n", *inner]
        else:
            lines.append(f"{indent}{each}\n")
    return lines


def draw(seed: int) -> Drawn:
    """Returns the random kernel of a seed."""
    rng = random.Random(seed)
    big = rng.random() < 0.5
    block = rng.choice([34, 36, 40]) if big else rng.choice([1, 2, 3, 4, 6])
    grid = rng.choice([1, 2, 2, 3]) if big else rng.choice([2, 3, 4, 6])
    return _Maker(rng, grid, block).make()


CONFLICTS = [
    ("load", "store"),
    ("load", "store"),
    ("load", "add"),
    ("store", "load"),
    ("store", "add"),
    ("store", "store"),
    ("add", "load"),
    ("add", "store"),
]


class _Maker:
    """Draws the statements of one kernel."""

    def __init__(self, rng: random.Random, grid: int, block: int) -> None:
        self.rng, self.grid, self.block = rng, grid, block
        self.used = {"g": 0, "f": 0, "s": 0}
        self.variables: list[str] = []
        self.set_before: list[Statement] = []
        family = rng.choices(["barriers", "parts", "flags"], [3, 2, 6])[0]
        sizes: list[Size] = ["block", "warp", "grid"]
        self.sizes = sorted(rng.sample(sizes, rng.randint(1, 2)))
        self.patterns: list[Callable[[], list[Statement]]] = [self._gather]
        if family == "parts" or (family == "flags" and rng.random() < 0.25):
            self.sizes += ["part", "part"]
            self.patterns.append(self._overlap)
        if family == "flags":
            self.patterns += [*[self._flags] * 4, *[self._last] * 2, *[self._relay] * 3]
            self.patterns.append(self._counted)
        # Some kernels lack nothing, and in others each pattern may lack something.
        self.often = 0.0 if rng.random() < 0.45 else 0.85

    def make(self) -> Drawn:
        """Returns the kernel: the statements of its patterns, mixed."""
        rng = self.rng
        many = rng.randint(4, 6) if self.often else rng.randint(2, 5)
        drawn = [rng.choice(self.patterns)() for _ in range(many)]
        if self.often and rng.random() < 0.1:
            drawn.append([self._anything() for _ in range(rng.randint(1, 3))])
        whose = [number for number, part in enumerate(drawn) for _ in part]
        if rng.random() < 0.5:
            rng.shuffle(whose)
        parts = [iter(part) for part in drawn]
        mixed = [next(parts[number]) for number in whose]
        if self.set_before:
            mixed = [If("t == 0", tuple(self.set_before)), Meet("block"), *mixed]
        return Drawn(tuple(mixed), tuple(self.variables), self.grid, self.block)

    # What patterns are made of

    def _lack(self, *ways: str) -> str:
        """Returns what a pattern lacks; mostly nothing, ""."""
        return self.rng.choice(ways) if self.rng.random() < self.often else ""

    def _cells(self, array: str, many: int = 1) -> int:
        """Returns the first of some cells that no other pattern has."""
        first = self.used[array]
        self.used[array] += many
        assert self.used[array] <= {"g": GLOBAL, "f": FLAGS, "s": SHARED}[array]
        return first

    def _variable(self) -> str:
        self.variables.append(f"v{len(self.variables)}")
        return self.variables[-1]

    def _flag(self, array: str) -> str:
        """Returns the index of a new flag; one in shared memory is set to 0 at the start."""
        cell = str(self._cells(array))
        if array == "s":
            self.set_before.append(Touch("store", "s", cell, ("0",)))
        return cell

    def _pick(self, count: int) -> int:
        """Returns a number below a count: often the last, whose turn mostly comes last."""
        return count - 1 if self.rng.random() < 0.7 else self.rng.randrange(count)

    def _touch(self, kind: str, array: str, index: str) -> Touch:
        if kind == "load":
            return Touch(kind, array, index, into="x")
        return Touch(kind, array, index, ("i" if kind == "store" else "1",))

    def _lanes(self, lanes: Sequence[int]) -> list[int]:
        """Returns some of the lanes: any, or the last few."""
        if self.rng.random() < 0.7:
            return list(lanes[self.rng.randrange(len(lanes)) :])
        return sorted(self.rng.sample(lanes, self.rng.randint(1, len(lanes))))

    # Barriers

    def _gather(self) -> list[Statement]:
        """A group touches a cell, it meets, and it touches the cell again: all of it, or one."""
        rng = self.rng
        size = rng.choice(self.sizes)
        lack = self._lack("meeting", *["size"] * 3, *["others"] * 4, *["place"] * 5)
        block, warp = self._pick(self.grid), self._pick(-(-self.block // 32))
        first_of_warp = block * self.block + 32 * warp
        lanes = range(min(32, self.block - 32 * warp))
        chosen = self._lanes(lanes)
        mask = _mask(chosen)
        # From the smallest group that has a barrier to the largest: who is in it, and in words.
        groups: dict[Size, tuple[Sequence[int], str]] = {
            "part": ([first_of_warp + lane for lane in chosen], _in_mask(mask)),
            "warp": (range(first_of_warp, first_of_warp + len(lanes)), f"t // 32 == {warp}"),
            "block": (range(block * self.block, (block + 1) * self.block), f"b == {block}"),
            "grid": (range(self.grid * self.block), "True"),
        }
        order = list(groups)
        members, _ = groups[size]
        words = [groups[part][1] for part in order[:3]]
        inside = [*(" and ".join(reversed(words[n:])) for n in range(3)), "True"]
        level = order.index(size)
        one, other = members[self._pick(len(members))], rng.choice(members)
        everybody = inside[min(3, level + 1) if lack == "others" else level]

        meeting: list[Statement] = [If(groups[size][1], (Meet(size, mask),))]
        if size != "part":
            meet = Meet(size, rng.choice(["", "0xFFFFFFFF"]) if size == "warp" else "")
            meeting = [If(inside[level], (meet,)) if rng.random() < 0.4 else meet]
        if lack == "size" and size == "part" and len(chosen) > 1:
            fewer = _mask([lane for lane in chosen if lane != one % self.block % 32])
            meeting = [If(_in_mask(fewer), (Meet(size, fewer),))]
        elif lack == "size":
            meeting = [Meet(order[level - 1])] if level > 1 else []
        elif lack == "place" and size != "grid":
            meeting = [
                If(f"not ({inside[1 if size == 'part' else level]})", (Meet(order[max(level, 1)]),))
            ]
        elif lack in ("meeting", "place"):
            meeting = []

        array = "s" if size != "grid" and rng.random() < 0.4 else "g"
        cell = str(self._cells(array))
        before, after = rng.choice(CONFLICTS[:3] if rng.random() < 0.5 else CONFLICTS)
        return [
            If(
                f"i == {other}" if before == "store" else everybody,
                (self._touch(before, array, cell),),
            ),
            *meeting,
            If(everybody if after == "load" else f"i == {one}", (self._touch(after, array, cell),)),
        ]

    def _overlap(self) -> list[Statement]:
        """Two parts of a warp meet one after the other; a lane of both carries the order over."""
        rng = self.rng
        lack = self._lack("both", "turn")
        block, lanes = self._pick(self.grid), range(min(32, self.block))
        first = self._lanes(lanes)
        second = self._lanes(lanes)
        if lack == "both":
            second = [lane for lane in second if lane not in first] or [lanes[-1]]
        elif lack == "turn":  # the latest that touch the cell are known to all, and others to some
            first = sorted(rng.sample(lanes, max(1, 2 * len(lanes) // 3)))
            second = [lane for lane in lanes if lane not in first[:-2] and lane > first[0]]
            second = second or [first[0]]
        else:
            second = sorted({*second, rng.choice(first)})
        meetings: list[Statement] = [
            If(_in_mask(mask), (Meet("part", mask),)) for mask in (_mask(first), _mask(second))
        ]
        if lack == "turn":
            meetings.reverse()
        array = rng.choice("gs")
        cell = str(self._cells(array))
        before, after = ("load", "add") if lack == "turn" else rng.choice(CONFLICTS)
        one = f"b == {block} and t == {second[self._pick(len(second))]}"
        many = f"b == {block} and t < 32 and {_in_mask(_mask(first))}"
        if before == "store":
            many = f"b == {block} and t == {rng.choice(first)}"
        elif after == "add" and before == "load":
            one = f"b == {block} and t < 32 and {_in_mask(_mask(sorted({*first, *second})))}"
        return [
            If(many, (self._touch(before, array, cell),)),
            *meetings,
            If(one, (self._touch(after, array, cell),)),
        ]

    # Fences and flags

    def _group(self, thread: int) -> tuple[Meet, str]:
        """Returns a barrier of a thread's warp or block, and who meets there."""
        block, inside = divmod(thread, self.block)
        if self.rng.random() < 0.5:
            return Meet("warp"), f"b == {block} and t // 32 == {inside // 32}"
        return Meet("block"), f"b == {block}"

    def _flags(self) -> list[Statement]:
        """Some touch a cell and release a flag each; one that has acquired all touches it too."""
        rng = self.rng
        lack = self._lack(
            *("flag", "release", "narrow", "acquire", "meeting", "home", "home"),
            *("swap", "swap", "swap", "late", "late", "late", "narrow acquire", "narrow acquire"),
            *("crowd", "crowd", "crowd", "crowd"),
        )
        near = self.block > 1 and (lack == "home" or rng.random() < 0.3)
        home = rng.randrange(max(1, self.grid - (lack == "home")))
        around = range(home * self.block, (home + 1) * self.block)
        threads = around if near else range(self.grid * self.block)
        last, *others = rng.sample(threads, min(len(threads), rng.choice([2, 5, 6])))
        before, after = rng.choice(CONFLICTS if len(others) < 3 else CONFLICTS[:3])
        if lack == "crowd":
            before, after = "load", "add"
        array = "s" if lack == "home" or (near and rng.random() < 0.5) else "f"
        fence = Fence(within_block=near and lack != "home" and rng.random() < 0.7)
        common = self._flag(array) if not lack and rng.random() < 0.4 else ""
        flags = [common or self._flag(array) for _ in others]
        odd = rng.randrange(len(others)) if others and rng.random() < 0.4 else 0
        touch = self._touch(before, "g", str(self._cells("g")))
        again = self._touch(after, "g", touch.index)
        releases: list[Statement] = []
        for number, (thread, flag) in enumerate(zip(others, flags, strict=True)):
            wrong = lack if number == odd else ""
            told: list[Statement] = [Fence(True) if wrong == "narrow" else fence]
            if wrong == "release":
                told = []
            told.append(Touch("add", array, flag, ("1",)))
            if wrong == "swap" or (not common and rng.random() < 0.3):
                told[-1] = Touch("cas", array, flag, ("5" if wrong == "swap" else "0", "1"))
            if not near and before != "store" and rng.random() < 0.3:
                meet, group = self._group(thread)
                met = [] if wrong == "meeting" else [meet]
                if rng.random() < 0.5:  # each fences for itself, and then they meet
                    last_word = told.pop()
                    releases += [If(group, (touch, *told)), *met]
                    releases.append(If(f"i == {thread}", (last_word,)))
                else:
                    releases += [If(group, (touch,)), *met]
                    releases.append(If(f"i == {thread}", tuple(told)))
            elif wrong == "late":
                first = [touch] if rng.random() < 0.8 else []
                releases.append(If(f"i == {thread}", (*first, *told, touch)))
            else:
                releases.append(If(f"i == {thread}", (touch, *told)))
        if lack == "home":  # who acquires is in another block
            last = (last + self.block) % (self.grid * self.block)
        heard = [flag for n, flag in enumerate(flags) if n != odd or lack != "flag"]
        if common:
            heard = heard[:1]
        learned = self._variable()
        enough = 0 if lack == "home" else len(others) - (lack in ("flag", "swap") and bool(others))
        firm: list[Statement] = [Fence(True) if lack == "narrow acquire" else fence]
        if lack == "acquire":
            firm = []
        acquires = [Touch("add", array, flag, ("0",), learned) for flag in heard]
        if lack == "crowd":  # beside it comes a neighbour that has not acquired the odd flag
            beside = last // self.block * self.block + rng.randrange(self.block)
            last, beside = min(last, beside), max(last, beside)
            releases.append(
                If(f"i == {beside}", tuple(a for a in acquires if a.index != flags[odd]))
            )
            reach: list[Statement] = [
                If(f"(i == {last} or i == {beside}) and {learned} >= {enough - 1}", (*firm, again))
            ]
        else:
            reach = self._reach(last, learned, enough, firm, again)
        return [*releases, If(f"i == {last}", tuple(acquires)), *reach]

    def _reach(
        self, thread: int, learned: str, enough: int, firm: list[Statement], touch: Touch
    ) -> list[Statement]:
        """A thread that has learned enough touches a cell; or it tells its block, which does."""
        if self.block == 1 or self.rng.random() < 0.6:
            return [If(f"i == {thread} and {learned} >= {enough}", (*firm, touch))]
        cell, heard = str(self._cells("s")), self._variable()
        meet, group = self._group(thread)
        who = f"{group} and {heard} >= {enough}"
        if touch.kind != "load":
            who += f" and t == {self._pick(self.block)}"
        return [
            If(f"i == {thread}", (*firm, Touch("store", "s", cell, (learned,)))),
            meet,
            If(group, (Touch("load", "s", cell, into=heard),)),
            If(who, (touch,)),
        ]

    def _last(self) -> list[Statement]:
        """Each block touches a cell and counts itself; the last of them touches it once more.

        Either all threads fence and then meet, or they meet and then one fences; and at the end
        the one that has counted fences, or all of its block do after they have met.
        """
        rng = self.rng
        lack = self._lack("release", "narrow", "acquire", "meeting", "count", "one", "unasked")
        counter, learned = self._flag("f"), self._variable()
        before, after = rng.choice([(a, b) for a, b in CONFLICTS if a != "store"])
        cell = str(self._cells("g"))
        if rng.random() < 0.5:  # each block, or even each thread, stores in a cell of its own
            first = self._cells("g", self.grid)
            before, after, cell = "store", "load", f"{first} + b"
        who = self._pick(self.block)
        everybody = If(
            f"t == {who}" if before == "store" else "True", (self._touch(before, "g", cell),)
        )
        met: list[Statement] = [] if lack == "meeting" else [Meet("block")]
        odd = self._pick(self.grid)
        fence = Fence(within_block=lack == "narrow")
        told: list[Statement] = [If(f"b != {odd}", (fence,))] if lack == "release" else [fence]
        count = Touch("add", "f", counter, ("1",), learned)
        if rng.random() < 0.5:
            fenced = [If(f"t != {self._pick(self.block)}", tuple(told))] if lack == "one" else told
            counted: list[Statement] = [*fenced, *met, If("t == 0", (count,))]
        else:
            counted = [*met, If("t == 0", (*told, count))]
        found = f"{learned} == {max(0, self.grid - 1 - (lack == 'count'))}"
        firm: list[Statement] = [] if lack == "acquire" else [Fence()]
        touches: list[Statement] = [self._touch(after, "g", cell)]
        if before == "store":
            touches = [self._touch(after, "g", str(first + block)) for block in range(self.grid)]
        if rng.random() < 0.5:  # and the counter
            touches.append(self._touch(rng.choice(["load", "store"]), "f", counter))
        if lack == "unasked":
            return [everybody, *counted, If(f"t == 0 and b == {odd}", (*firm, *touches))]
        if rng.random() < 0.5:
            return [everybody, *counted, If(f"t == 0 and {found}", (*firm, *touches))]
        place, heard = str(self._cells("s")), self._variable()
        reader = self._pick(self.block)
        return [
            everybody,
            *counted,
            If("t == 0", (Touch("store", "s", place, (learned,)),)),
            Meet("block"),
            Touch("load", "s", place, into=heard),
            If(f"t == {reader} and {found.replace(learned, heard)}", (*firm, *touches)),
        ]

    def _counted(self) -> list[Statement]:
        """Some threads count in a cell, and one that has found enough touches it plainly."""
        rng = self.rng
        lack = self._lack("unasked", "unasked", "early", "meeting", "probe", "probe")
        counter, learned = self._flag("f"), self._variable()
        everybody = range(self.grid * self.block)
        counting = rng.sample(everybody, min(len(everybody), rng.randint(2, 4)))
        last = counting[-1]
        body: list[Statement] = []
        for thread in counting:
            kind = "cas" if lack == "probe" and thread != last and rng.random() < 0.7 else "add"
            touch = Touch(kind, "f", counter, ("7", "1") if kind == "cas" else ("1",), learned)
            body.append(If(f"i == {thread}", (touch,)))
        if lack != "early":
            rng.shuffle(body)
        enough = 0 if lack in ("early", "probe") else len(counting) - 1
        after = self._touch(rng.choice(["load", "store"]), "f", counter)
        if lack == "unasked":
            return [*body, If(f"i == {last}", (after,))]
        if self.block == 1 or rng.random() < 0.5:
            return [*body, If(f"{learned} >= {enough} and i in {tuple(counting)}", (after,))]
        place, heard = self._flag("s"), self._variable()
        mate = last // self.block * self.block + rng.randrange(self.block)
        met: list[Statement] = [] if lack == "meeting" else [Meet("block")]
        return [
            *body,
            If(f"i == {last}", (Touch("store", "s", place, (learned,)),)),
            *met,
            If(f"i == {mate}", (Touch("load", "s", place, into=heard),)),
            If(f"i == {mate} and {heard} >= {enough}", (after,)),
        ]

    def _relay(self) -> list[Statement]:
        """A thread touches a cell; others hand the news on, flag by flag; the last touches it.

        Between two that hand it on, one may tell a mate at a barrier. Within a block, a fence of
        the block may do.
        """
        rng = self.rng
        lack = self._lack("fence", "fence", "narrow", "flag", "meeting")
        count = self.grid * self.block
        if self.block > 1 and rng.random() < 0.4:  # two of one block are among them
            home = rng.randrange(self.grid) * self.block
            threads = rng.sample(range(home, home + self.block), 2)
            threads.insert(rng.choice([0, 2]), rng.randrange(count))
            threads = list(dict.fromkeys(threads))
        else:
            threads = rng.sample(range(count), min(count, rng.randint(2, 4)))
        cell = str(self._cells("g"))
        before, after = rng.choice(CONFLICTS)
        odd = self._pick(len(threads))
        statements: list[Statement] = []
        flag = ""
        for number, thread in enumerate(threads):
            # The first fence has to reach the last thread; a later one, whom it hears.
            near = self._alike(threads if number == 0 else threads[number - 1 : number + 1])
            near = near and rng.random() < 0.7
            fence: list[Statement] = [Fence(near or (number == odd and lack == "narrow"))]
            if number == odd and lack == "fence":
                fence = []
            first = [self._touch(before, "g", cell)] if number == 0 else []
            last = [self._touch(after, "g", cell)] if number == len(threads) - 1 else []
            heard = flag
            found = f"i == {thread}"
            if heard:
                learned = self._variable()
                statements.append(If(found, (Touch("add", "f", heard, ("0",), learned),)))
                found += f" and {learned} >= {0 if lack == 'flag' else 1}"
            statements.append(If(found, (*first, *fence, *last)))
            if number == len(threads) - 1:
                break
            flag = self._flag("f")
            teller, meet = thread, []
            if self.block > 1 and rng.random() < 0.6:
                barrier, _ = self._group(thread)
                size = 32 if barrier.size == "warp" else self.block
                inside = thread % self.block // size * size
                mates = range(inside, min(inside + size, self.block))
                teller = thread - thread % self.block + rng.choice(mates)
                meet = [] if lack == "meeting" else [barrier]
            statements += [*meet, If(f"i == {teller}", (Touch("add", "f", flag, ("1",)),))]
        return statements

    def _alike(self, threads: Sequence[int]) -> bool:
        return len({thread // self.block for thread in threads}) == 1

    # Anything

    def _anything(self) -> Statement:
        """Some threads touch some cell, atomics of all kinds among it."""
        rng = self.rng
        thread = rng.randrange(self.grid * self.block)
        who = rng.choice(
            [f"i == {thread}", f"t % 2 == {rng.randint(0, 1)}", f"b == {rng.randrange(self.grid)}"]
        )
        index = rng.choice([str(rng.randrange(4)), "b % 4", "(i + 1) % 4"])
        kind = rng.choice(["load", "store", "add", "max", "exch", "cas"])
        array = rng.choice("gggs") if kind in ("load", "store") else rng.choice("gf")
        if kind == "cas":
            return If(who, (Touch(kind, array, index, (str(rng.randint(0, 1)), "1")),))
        return If(who, (self._touch(kind, array, index),))


def _mask(lanes: Sequence[int]) -> str:
    return hex(sum(1 << lane for lane in lanes))


def _in_mask(mask: str) -> str:
    return f"({mask} >> lane) & 1 == 1"
