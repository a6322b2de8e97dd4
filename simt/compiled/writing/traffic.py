"""What an access of a warp costs, as functions in LLVM's language: sectors, wavefronts, wide loads.

They count as `observe.transactions` and `observe.counts` do. A warp that touches memory in the
pattern of the last one at this place, moved, costs the same as it: so a place keeps the pattern it
has seen last, and what that costs for each way in which its first byte can lie.
"""

from __future__ import annotations

from simt.compiled.writing.text import Writer
from simt.machine.lanes import WARP
from simt.observe.transactions import BANKS, SECTOR_BITS, SECTOR_BYTES, WORD_BYTES

MEMO_WORDS = 1 + WARP + WARP + 16 + 1
"""i64 that a place keeps: its lanes and what is known, where they stand, costs, keys of 16 bytes,
and of what shape the pattern is."""
SHAPE = MEMO_WORDS - 1
MIX, MIX_WARP, MIX_BITS = 807622669, 1109909025, 27
"""Patterns of other lanes or warps are kept apart, by the upper bits of the lanes' bits and a
multiple of the warp, times a number. These two keep all whole warps of 256 threads apart, and those
of which 1, 2, 4, 8 or 16 lanes take part, or all but so many, as in sums and scans by halves."""
NEAR = 1 << 16
"""Lanes whose elements lie so near to one another are told apart by 16 bits."""
SITE_WORDS = MEMO_WORDS << (32 - MIX_BITS)
"""i64 that a place keeps in all."""
IN_A_ROW, AT_ONE, OTHER = 1, 2, 0
"""Shapes: a whole warp at elements that follow one another, all of it at one, and all others."""
REQUESTS, SECTORS, LEAST, BYTES = range(4)
WAVEFRONTS, PASSES = 1, 2
TABLE = 1 << 13
"""Loads of 16 bytes that a warp can remember; the table holds two words for each."""
MAX_PROBES = 64


DECLARED = {f"declare i32 @llvm.{name}.i32(i32, i1)" for name in ("cttz", "ctlz")}
"""What these functions, and masks, call of LLVM's own."""


def functions(global_sizes: set[int], shared_sizes: set[int]) -> str:
    """Returns the functions that accesses of these widths need."""
    texts = [_distinct(type_) for type_ in ("i16", "i32") if global_sizes]
    texts += [_sectors(size) for size in sorted(global_sizes)]
    texts += [_banks(size) for size in sorted(shared_sizes)]
    if shared_sizes:
        texts.append(_wide())
    return "\n".join(texts)


def _pattern(w: Writer) -> tuple[str, str, str]:
    """Returns the first lane's element, for which places of it the cost is known, and whether the
    pattern is the one that is kept."""
    first = w.make("call i32 @llvm.cttz.i32(i32 %bits, i1 true)")
    base = w.load("%elements", "i64", w.make(f"zext i32 {first} to i64"))
    bits = w.make("zext i32 %bits to i64")
    places = w.at("%memo", "1", "i64")
    # All lanes at once, and those that take no part stand where the first one does.
    vector = "<32 x i64>"
    here = w.make("load <32 x i64>, ptr %elements, align 8")
    one = w.make(f"insertelement {vector} poison, i64 {base}, i32 0")
    all_ = w.make(f"shufflevector {vector} {one}, {vector} poison, <32 x i32> zeroinitializer")
    moved = w.make(f"sub {vector} {here}, {all_}")
    kept = w.make(f"load {vector}, ptr {places}, align 8")
    differ = w.make(f"icmp ne {vector} {moved}, {kept}")
    parts = w.make(f"bitcast <32 x i1> {differ} to i32")
    own = w.make(f"and i32 {parts}, %bits")
    head = w.load("%memo", "i64")
    lanes = w.make(f"and i64 {head}, 4294967295")
    same = w.make(f"icmp eq i64 {lanes}, {bits}")
    still = w.make(f"icmp eq i32 {own}, 0")
    known = w.make(f"and i1 {same}, {still}")
    return base, w.make(f"select i1 {known}, i64 {w.make(f'lshr i64 {head}, 32')}, i64 0"), known


def _keep_pattern(w: Writer) -> None:
    """Keeps a pattern of which nothing is known yet."""
    bits = w.make("zext i32 %bits to i64")
    w.store(bits, "%memo", "i64")
    moved = _moved(w)
    vector = f"<{WARP} x i64>"
    w.do(f"store {vector} {moved}, ptr {w.at('%memo', '1', 'i64')}, align 8")
    whole, shape = w.make("icmp eq i32 %bits, -1"), str(OTHER)
    each = ", ".join(f"i64 {lane}" for lane in range(WARP))
    for wanted, number in ((f"<{each}>", IN_A_ROW), ("zeroinitializer", AT_ONE)):
        differ = w.make(f"icmp ne {vector} {moved}, {wanted}")
        same = w.make(f"icmp eq i32 {w.make(f'bitcast <{WARP} x i1> {differ} to i32')}, 0")
        fits = w.make(f"and i1 {whole}, {same}")
        shape = w.make(f"select i1 {fits}, i64 {number}, i64 {shape}")
    w.store(shape, "%memo", "i64", str(SHAPE))


def _moved(w: Writer) -> str:
    """By how many elements each lane stands after the first one; 0 for one that takes no part."""
    vector = f"<{WARP} x i64>"
    here = w.make(f"load {vector}, ptr %elements, align 8")
    moved = w.make(f"sub {vector} {here}, {w.splat('%base', 'i64', WARP)}")
    part = w.make(f"bitcast i32 %bits to <{WARP} x i1>")
    return w.make(f"select <{WARP} x i1> {part}, {vector} {moved}, {vector} zeroinitializer")


def _distinct(type_: str) -> str:
    """How many different numbers there are in 32, of which those from a last one on are alike."""
    vector = f"<{WARP} x {type_}>"
    w = Writer(f"define internal i64 @distinct_{type_}(ptr %numbers, i64 %last) noinline")
    all_ = w.make(f"load {vector}, ptr %numbers, align 64")
    again = w.memory("i32")
    w.store("0", again, "i32")
    with w.loop("%last") as lane:
        one = w.splat(w.load("%numbers", type_, lane), type_, WARP)
        same = w.make(f"bitcast <{WARP} x i1> {w.make(f'icmp eq {vector} {all_}, {one}')} to i32")
        later = w.make(f"shl i32 -2, {w.make(f'trunc i64 {lane} to i32')}")
        found = w.make(f"and i32 {same}, {later}")
        w.store(w.make(f"or i32 {w.load(again, 'i32')}, {found}"), again, "i32")
    count = w.make(f"call i32 @llvm.ctpop.i32(i32 {w.load(again, 'i32')})")
    first = w.make(f"sub i32 {WARP}, {count}")
    w.do(f"ret i64 {w.make(f'zext i32 {first} to i64')}")
    return w.text()


def _sorted(w: Writer, low: str, high: str, bits: str) -> tuple[str, str]:
    """Puts the places of lanes low to high in order; returns (memory with them, their number)."""
    places, number = w.memory("i64", WARP), w.memory("i64")
    w.store("0", number, "i64")
    kept = w.at("%memo", "1", "i64")
    spot = w.memory("i64")
    with w.loop(w.make(f"sub i64 {high}, {low}")) as turn:
        lane = w.make(f"add i64 {low}, {turn}")
        here = w.make(f"trunc i64 {w.make(f'lshr i64 {bits}, {lane}')} to i1")
        with w.when(here):
            place = w.load(kept, "i64", lane)
            count = w.load(number, "i64")
            w.store(count, spot, "i64")
            with w.repeat() as done:
                at = w.load(spot, "i64")
                w.leave_unless(w.make(f"icmp sgt i64 {at}, 0"), done)
                before = w.make(f"sub i64 {at}, 1")
                other = w.load(places, "i64", before)
                w.leave_unless(w.make(f"icmp sgt i64 {other}, {place}"), done)
                w.store(other, places, "i64", at)
                w.store(before, spot, "i64")
            w.store(place, places, "i64", w.load(spot, "i64"))
            w.store(w.make(f"add i64 {count}, 1"), number, "i64")
    return places, w.load(number, "i64")


def _sectors(size: int) -> str:
    """An access to global memory; each known cost is sectors and cells, in one word."""
    w = Writer(
        f"define internal void @sectors{size}(ptr %elements, i32 %bits, i64 %address, ptr %memo, "
        "ptr %counts) alwaysinline"
    )
    base, known, kept = _pattern(w)
    start = w.make(f"add i64 %address, {w.make(f'mul i64 {base}, {size}')}")
    phase = w.make(f"and i64 {start}, {SECTOR_BYTES - 1}")
    there = w.make(f"trunc i64 {w.make(f'lshr i64 {known}, {phase}')} to i1")
    with w.when(w.make(f"xor i1 {there}, true")):
        w.do(
            f"call void @sectors{size}_new(ptr %elements, i32 %bits, i64 {base}, i64 {phase}, "
            f"i1 {kept}, ptr %memo)"
        )
    cost = w.load(w.at("%memo", str(1 + WARP), "i64"), "i64", phase)
    cells = w.make(f"lshr i64 {cost}, 32")
    wanted = w.make(f"mul i64 {cells}, {size}")
    least = w.make(f"lshr i64 {w.make(f'add i64 {wanted}, {SECTOR_BYTES - 1}')}, 5")
    w.add("1", "%counts", str(REQUESTS))
    w.add(w.make(f"and i64 {cost}, 4294967295"), "%counts", str(SECTORS))
    w.add(least, "%counts", str(LEAST))
    w.add(wanted, "%counts", str(BYTES))
    w.do("ret void")
    return w.text() + _new_sectors(size)


def _new_sectors(size: int) -> str:
    """Works out what an access costs in a way in which it has not been seen."""
    w = Writer(
        f"define internal void @sectors{size}_new(ptr %elements, i32 %bits, i64 %base, "
        "i64 %phase, i1 %kept, ptr %memo) noinline cold"
    )
    with w.when(w.make("xor i1 %kept, true")):
        _keep_pattern(w)
    # Arrays of more cells than fit into 32 bits stay with the interpreter. In fewer bits, more
    # numbers are compared at once.
    wide, moved, cost = f"<{WARP} x i64>", _moved(w), w.memory("i64")
    low = w.make(f"add {wide} {moved}, splat (i64 {NEAR // 2})")
    far = w.make(f"icmp uge {wide} {low}, splat (i64 {NEAR - SECTOR_BYTES})")
    none = w.make(f"icmp eq i32 {w.make(f'bitcast <{WARP} x i1> {far} to i32')}, 0")
    with w.either(none) as otherwise:
        w.store(_cost(w, moved, size, "i16"), cost, "i64")
        otherwise()
        w.store(_cost(w, moved, size, "i32"), cost, "i64")
    cost = w.load(cost, "i64")
    w.store(cost, w.at("%memo", str(1 + WARP), "i64"), "i64", "%phase")
    _know(w, "%phase")
    w.do("ret void")
    return w.text()


def _cost(w: Writer, moved: str, size: int, type_: str) -> str:
    """Sectors and cells in one word, worked out in numbers of a type."""
    vector, shift = f"<{WARP} x {type_}>", size.bit_length() - 1
    # Lanes that take no part stand where the first one does, and so does one behind the last.
    after = w.make("call i32 @llvm.ctlz.i32(i32 %bits, i1 false)")
    end = w.make(f"sub i32 {WARP}, {after}")
    last = w.make(f"zext i32 {end} to i64")
    cells = w.make(f"trunc <{WARP} x i64> {moved} to {vector}")
    phase = w.make(f"trunc i64 {w.make(f'lshr i64 %phase, {shift}')} to {type_}")
    from_sector = w.make(f"add {vector} {cells}, {w.splat(phase, type_, WARP)}")
    sectors = w.make(f"ashr {vector} {from_sector}, splat ({type_} {SECTOR_BITS - shift})")
    counts = []
    for numbers in (cells, sectors):
        place = w.memory(type_, WARP)
        w.do(f"store {vector} {numbers}, ptr {place}, align 64")
        counts.append(w.make(f"call i64 @distinct_{type_}(ptr {place}, i64 {last})"))
    return w.make(f"or i64 {w.make(f'shl i64 {counts[0]}, 32')}, {counts[1]}")


def _know(w: Writer, phase: str) -> None:
    """Notes that what an access costs is known for a place of its first byte."""
    bit = w.make(f"shl i64 1, {w.make(f'add i64 {phase}, 32')}")
    w.store(w.make(f"or i64 {w.load('%memo', 'i64')}, {bit}"), "%memo", "i64")


def is_known(w: Writer, memo: str, bits: str, phase: str, warp: str) -> str:
    """Whether what it costs is kept for these lanes of a warp, and a place of their first byte.

    Only where a memo is for one pattern, of which each warp has its own part.
    """
    head = w.load(memo, "i64")
    lanes = w.make(f"icmp eq i32 {w.make(f'trunc i64 {head} to i32')}, {bits}")
    of_warp = w.make(f"icmp eq i64 {w.load(memo, 'i64', str(SHAPE))}, {_named(w, warp)}")
    there = w.make(f"lshr i64 {w.make(f'lshr i64 {head}, 32')}, {phase}")
    same = w.make(f"and i1 {lanes}, {of_warp}")
    return w.make(f"and i1 {same}, {w.make(f'trunc i64 {there} to i1')}")


def keep_warp(w: Writer, memo: str, warp: str) -> None:
    """Notes whose pattern it is, in the place of its shape."""
    w.store(_named(w, warp), memo, "i64", str(SHAPE))


def _named(w: Writer, warp: str) -> str:
    return w.make(f"add i64 {warp}, {AT_ONE + 1}")


def count_known(w: Writer, memo: str, phase: str, counts: str) -> None:
    """Counts what an access to shared memory costs, which is kept."""
    cost = w.load(w.at(memo, str(1 + WARP), "i64"), "i64", phase)
    w.add("1", counts, str(REQUESTS))
    w.add(w.make(f"and i64 {cost}, 4294967295"), counts, str(WAVEFRONTS))
    w.add(w.make(f"lshr i64 {cost}, 32"), counts, str(PASSES))


def key_of(w: Writer, memo: str, phase: str, byte: str) -> str:
    """What wide loads are known by: pieces beside one another have entries beside one another."""
    key = w.load(w.at(memo, str(1 + 2 * WARP), "i64"), "i64", phase)
    return w.make(f"add i64 {key}, {w.make(f'ashr i64 {byte}, 4')}")


def _banks(size: int) -> str:
    """An access to shared memory; returns what its wide loads are known by."""
    w = Writer(
        f"define internal i64 @banks{size}(ptr %elements, i32 %bits, i64 %address, ptr %memo, "
        "ptr %counts) alwaysinline"
    )
    base, known, kept = _pattern(w)
    own = w.make(f"mul i64 {base}, {size}")
    # What lies in which 16 bytes counts from the array's own first byte.
    phase = w.make(f"and i64 {own}, 15")
    there = w.make(f"trunc i64 {w.make(f'lshr i64 {known}, {phase}')} to i1")
    with w.when(w.make(f"xor i1 {there}, true")):
        w.do(
            f"call void @banks{size}_new(ptr %elements, i32 %bits, i64 {base}, i64 {phase}, "
            f"i64 %address, i1 {kept}, ptr %memo)"
        )
    count_known(w, "%memo", phase, "%counts")
    w.do(f"ret i64 {key_of(w, '%memo', phase, own)}")
    return w.text() + _new_banks(size)


def _new_banks(size: int) -> str:
    """Works out what an access costs in a way in which it has not been seen."""
    unit = max(size, WORD_BYTES)
    served = BANKS * WORD_BYTES // unit
    shift = unit.bit_length() - 1
    w = Writer(
        f"define internal void @banks{size}_new(ptr %elements, i32 %bits, i64 %base, i64 %phase, "
        "i64 %address, i1 %kept, ptr %memo) noinline cold"
    )
    with w.when(w.make("xor i1 %kept, true")):
        _keep_pattern(w)
    bits = w.make("zext i32 %bits to i64")
    start = w.make(f"add i64 %address, {w.make(f'mul i64 %base, {size}')}")
    inside = w.make(f"and i64 {start}, {unit - 1}")
    passes, turns, key = w.memory("i64"), w.memory("i64"), w.memory("i64")
    in_bank, most = w.memory("i64", BANKS), w.memory("i64")
    for word in (passes, turns):
        w.store("0", word, "i64")
    with w.loop(str(WARP // served)) as turn:
        low = w.make(f"mul i64 {turn}, {served}")
        high = w.make(f"add i64 {low}, {served}")
        places, count = _sorted(w, low, high, bits)
        with w.loop(str(served)) as bank:
            w.store("0", in_bank, "i64", bank)
        w.store("0", most, "i64")
        with w.loop(count) as k:
            word = _unit(w, inside, w.load(places, "i64", k), size, shift)
            first = w.make(f"icmp eq i64 {k}, 0")
            at = w.make(f"select i1 {first}, i64 0, i64 {w.make(f'sub i64 {k}, 1')}")
            before = _unit(w, inside, w.load(places, "i64", at), size, shift)
            new = w.make(f"or i1 {first}, {w.make(f'icmp ne i64 {word}, {before}')}")
            with w.when(new):
                bank = w.make(f"and i64 {word}, {served - 1}")
                w.add("1", in_bank, bank)
                here = w.load(in_bank, "i64", bank)
                known = w.load(most, "i64")
                more = w.make(f"icmp sgt i64 {here}, {known}")
                w.store(w.make(f"select i1 {more}, i64 {here}, i64 {known}"), most, "i64")
        w.add(w.load(most, "i64"), passes)
        some = w.make(f"icmp sgt i64 {count}, 0")
        w.add(w.make(f"zext i1 {some} to i64"), turns)
    both = w.make(f"shl i64 {w.load(turns, 'i64')}, 32")
    cost = w.make(f"or i64 {both}, {w.load(passes, 'i64')}")
    w.store(cost, w.at("%memo", str(1 + WARP), "i64"), "i64", "%phase")
    w.store(bits, key, "i64")
    rest = w.at("%memo", "1", "i64")
    with w.loop(str(WARP)) as lane:
        away = w.make(f"mul i64 {w.load(rest, 'i64', lane)}, {size}")
        piece = w.make(f"ashr i64 {w.make(f'add i64 %phase, {away}')}, 4")
        mixed = _mixed(w, w.make(f"xor i64 {w.load(key, 'i64')}, {piece}"))
        w.store(mixed, key, "i64")
    whole = w.make(f"xor i64 {w.load(key, 'i64')}, %address")
    w.store(_mixed(w, whole), w.at("%memo", str(1 + 2 * WARP), "i64"), "i64", "%phase")
    _know(w, "%phase")
    w.do("ret void")
    return w.text()


def _unit(w: Writer, inside: str, place: str, size: int, shift: int) -> str:
    byte = w.make(f"add i64 {inside}, {w.make(f'mul i64 {place}, {size}')}")
    return w.make(f"ashr i64 {byte}, {shift}")


def _mixed(w: Writer, value: str) -> str:
    """A word in which each bit hangs on many of a word's; multiplied and turned round twice."""
    for factor in ("-7046029254386353131", "-4417276706812531889"):
        product = w.make(f"mul i64 {value}, {factor}")
        high = w.make(f"lshr i64 {product}, 29")
        value = w.make(f"xor i64 {product}, {high}")
    return value


def _wide() -> str:
    """Counts a load that no earlier one brings; returns 1 where there is no room to remember it."""
    w = Writer(
        "define internal i32 @wide(i64 %key, ptr %table, i64 %clock, ptr %count) alwaysinline"
    )
    entry = _entry(w, "0")
    time = w.make(f"icmp eq i64 {w.load(entry, 'i64', '1')}, %clock")
    same = w.make(f"icmp eq i64 {w.load(entry, 'i64')}, %key")
    with w.when(w.make(f"and i1 {time}, {same}")):
        w.do("ret i32 0")
        w.lines.append(f"dead{w.number()}:")
    found = w.make("call i32 @wide_new(i64 %key, ptr %table, i64 %clock, ptr %count)")
    w.do(f"ret i32 {found}")
    return w.text() + _new_wide()


def _entry(w: Writer, tries: str) -> str:
    at = w.make(f"and i64 {w.make(f'add i64 %key, {tries}')}, {TABLE - 1}")
    return w.at("%table", w.make(f"shl i64 {at}, 1"), "i64")


def _new_wide() -> str:
    w = Writer(
        "define internal i32 @wide_new(i64 %key, ptr %table, i64 %clock, ptr %count) noinline"
    )
    tries = w.memory("i64")
    w.store("0", tries, "i64")
    with w.repeat() as full:
        n = w.load(tries, "i64")
        w.leave_unless(w.make(f"icmp slt i64 {n}, {MAX_PROBES}"), full)
        entry = _entry(w, n)
        old = w.make(f"icmp ne i64 {w.load(entry, 'i64', '1')}, %clock")
        with w.when(old):
            w.store("%key", entry, "i64")
            w.store("%clock", entry, "i64", "1")
            w.add("1", "%count")
            w.do("ret i32 0")
            w.lines.append(f"dead{w.number()}:")
        same = w.make(f"icmp eq i64 {w.load(entry, 'i64')}, %key")
        with w.when(same):
            w.do("ret i32 0")
            w.lines.append(f"dead{w.number()}:")
        w.store(w.make(f"add i64 {n}, 1"), tries, "i64")
    w.do("ret i32 1")
    return w.text()
