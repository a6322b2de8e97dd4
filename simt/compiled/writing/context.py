"""What all that write one function share: its text, its block, its state and its counters."""

from __future__ import annotations

from simt.compiled.writing.text import Register, Writer
from simt.machine.lanes import WARP
from simt.report import Dim3

_POINTERS = {"counters", "memos", "tables", "clocks"}
_KINDS_OF_POINTERS = ("data ", "shadow ", "unset ", "left ", "place ", "loaded ")


class Context:
    """A function that runs one block, while it is written.

    Args:
        block: of the launch.

    Attributes:
        w: its text.
        threads, lanes, warps: of a block; the lanes of a last warp that is not full count too.
        is_whole: whether all warps are full.
        slots: what the function finds in its state, by name -> the word.
        counted: (line, what) -> its first counter.
        counters: how many there are.
        declared: what it calls of LLVM's own functions, each as it is declared.
        spent: pointer to the steps that the block has spent, i64.
        epoch: pointer to a number that goes up with each barrier, from block to block.
        first_epoch: what that was when the block began.
        met: pointer to how often the block has met at a barrier.
        synced: pointer to how often each warp has met by itself; "" where no warp does.
        turns: of each loop, by identity, the words that hold the most turns it has made: several of
            a function that is called from several places.
        clocks: pointer to a clock for each warp, which goes on where it may see something new in
            shared memory; "" in a kernel without any.
    """

    def __init__(self, block: Dim3) -> None:
        self.w = Writer("define i32 @block(ptr noalias %state)")
        self.block = block
        self.threads = block[0] * block[1] * block[2]
        self.lanes = -(-self.threads // WARP) * WARP
        self.warps = self.lanes // WARP
        self.is_whole = self.threads == self.lanes
        self.slots: dict[str, int] = {}
        self.counted: dict[tuple[int, str], int] = {}
        self.counters = 0
        self.declared = {
            "declare i32 @llvm.ctpop.i32(i32)",
            "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
        }
        self.spent = self.epoch = self.first_epoch = self.met = self.synced = self.clocks = ""
        self.turns: dict[int, list[int]] = {}
        self._read: dict[str, Register] = {}

    def begin(self, *, syncs_warps: bool, has_tiles: bool) -> None:
        """Writes where the block begins to count.

        Args:
            syncs_warps: whether warps meet by themselves.
            has_tiles: whether there is shared memory.
        """
        w = self.w
        self.epoch = w.memory("i64")
        w.store(self.slot("epoch"), self.epoch, "i64")
        self.first_epoch = self.slot("epoch")
        self.met = w.memory("i64")
        w.store("0", self.met, "i64")
        self.spent = w.memory("i64")
        w.store("0", self.spent, "i64")
        if syncs_warps:
            self.synced = w.memory("i64", max(self.warps, 2))
            with w.loop(str(self.warps)) as warp:
                w.store("0", self.synced, "i64", warp)
        if has_tiles:
            self.clocks = w.memory("i64", self.warps)
            with w.loop(str(self.warps)) as warp:
                at = w.at(self.slot("clocks"), warp, "i64")
                w.store(w.make(f"add i64 {w.load(at, 'i64')}, 1"), self.clocks, "i64", warp)

    def no_turns(self) -> Register:
        """Begins to count the turns of a loop; returns a pointer to their number."""
        made = self.w.memory("i64")
        self.w.store("0", made, "i64")
        return made

    def turned(self, made: Register) -> None:
        """Counts a turn."""
        self.w.add("1", made)

    def most_turns(self, loop: object, made: Register) -> None:
        """Keeps the most turns that any block has made in a loop that ends here."""
        w = self.w
        words = self.turns.setdefault(id(loop), [])
        word = self.number_of(f"turns {id(loop)} {len(words)}")
        words.append(word)
        at = w.at("%state", str(word), "i64")
        now, most = w.load(made, "i64"), w.load(at, "i64")
        more = w.make(f"icmp sgt i64 {now}, {most}")
        w.store(w.make(f"select i1 {more}, i64 {now}, i64 {most}"), at, "i64")

    def end(self) -> None:
        """Writes how the block hands on what the next one goes on from."""
        w = self.w
        if self.clocks:
            with w.loop(str(self.warps)) as warp:
                w.store(w.load(self.clocks, "i64", warp), self.slot("clocks"), "i64", warp)
        epoch = w.make(f"add i64 {w.load(self.epoch, 'i64')}, 1")
        w.store(epoch, w.at("%state", str(self.number_of("epoch")), "i64"), "i64")
        spent = w.load(self.spent, "i64")
        w.store(spent, w.at("%state", str(self.number_of("steps")), "i64"), "i64")

    def number_of(self, name: str) -> int:
        """Returns the word of the state that has a name."""
        return self.slots.setdefault(name, len(self.slots))

    def slot(self, name: str) -> Register:
        """Returns a word of the state, as an i64 or a pointer to memory."""
        if name not in self._read:
            number = self.number_of(name)
            pointer = name.startswith(_KINDS_OF_POINTERS) or name in _POINTERS
            at = f"%s{number}"
            self.w.own.append(f"  {at}.at = getelementptr inbounds i64, ptr %state, i64 {number}")
            self.w.own.append(f"  {at} = load {'ptr' if pointer else 'i64'}, ptr {at}.at")
            self._read[name] = at
        return self._read[name]

    def count(self, line: int, what: str, size: int = 1) -> Register:
        """Returns a pointer to the first counter of something at a line."""
        if (line, what) not in self.counted:
            self.counted[line, what] = self.counters
            self.counters += size
        return self.w.at(self.slot("counters"), str(self.counted[line, what]), "i64")

    def spend(self, steps: int) -> None:
        """Takes steps off the launch's budget."""
        self.w.add(str(steps), self.spent)

    def declare(self, function: str) -> None:
        """Declares a function of LLVM's own, which the text may call from then on."""
        self.declared.add(function)

    def suspect_if(self, condition: str) -> None:
        """Gives up if an i1 is true."""
        n = self.w.number()
        self.w.do(f"br i1 {condition}, label %suspect, label %clean{n}")
        self.w.lines.append(f"clean{n}:")

    def zeroed(self, type_: str, count: int, bytes_: int) -> Register:
        """Returns memory of the function's own, of which so many bytes are 0 when it begins."""
        cells = self.w.memory(type_, count)
        self.w.own.append(
            f"  call void @llvm.memset.p0.i64(ptr {cells}, i8 0, i64 {bytes_}, i1 false)"
        )
        return cells
