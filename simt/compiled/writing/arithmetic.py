"""Numbers in registers: how each operation is written so that it gives what NumPy gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simt.compiled.facts.analysis import NotCompiled
from simt.compiled.writing.context import Context
from simt.compiled.writing.text import Register, constant, name_of
from simt.kernel import types
from simt.kernel.types import BOOL, FLOAT32, FLOAT64

Number = np.dtype[Any]

_OF_FLOATS = {"Add": "fadd", "Sub": "fsub", "Mult": "fmul", "Div": "fdiv"}
_OF_BOOLS = {"BitAnd": "and", "BitOr": "or", "BitXor": "xor"}
_OF_INTEGERS = {**_OF_BOOLS, "Add": "add", "Sub": "sub", "Mult": "mul"}
_COMPARED = {
    "Eq": ("eq", "eq", "oeq"), "NotEq": ("ne", "ne", "une"), "Lt": ("slt", "ult", "olt"),
    "LtE": ("sle", "ule", "ole"), "Gt": ("sgt", "ugt", "ogt"), "GtE": ("sge", "uge", "oge"),
}  # fmt: skip
"""Operator -> how it is called between signed numbers, between unsigned ones, and floats."""
OF_BITS = {
    "cuda.popc": "ctpop", "cuda.clz": "ctlz", "cuda.ffs": "cttz", "cuda.brev": "bitreverse",
}  # fmt: skip


def memory_type(dtype: Any) -> str:
    """Returns what LLVM calls a number in memory.

    Raises:
        NotCompiled: it has no name for it.
    """
    try:
        return name_of(dtype)
    except KeyError:
        raise NotCompiled(f"numbers of type {dtype}") from None


def register_type(dtype: Any) -> str:
    """Returns what LLVM calls a number in a register; raises NotCompiled as `memory_type` does."""
    return "i1" if dtype == BOOL else memory_type(dtype)


def number_type(type_: Any, what: str = "a value that is no number") -> Number:
    """Returns a type that is a number's; raises NotCompiled for any other."""
    if not isinstance(type_, np.dtype):
        raise NotCompiled(what)
    return type_


def constant_of(value: Any, type_: Any) -> str:
    """Returns a number that is written down; raises NotCompiled for what is none."""
    if type_ == BOOL:
        return "true" if value else "false"
    dtype = number_type(type_, "a constant that is no number")
    return constant(np.float32(value) if dtype == FLOAT32 else value, dtype)


class Arithmetic:
    """Operations on numbers of one lane, or on those that all lanes share."""

    def __init__(self, context: Context) -> None:
        self.context, self.w = context, context.w

    def in_memory(self, text: str, dtype: Number) -> str:
        """Returns a number as it lies in memory, where a bool is a byte."""
        if dtype != BOOL:
            return text
        return self.w.make(f"zext i1 {text} to i8")

    def from_memory(self, text: str, dtype: Number) -> str:
        """Returns a number that has been loaded as it is in a register."""
        if dtype != BOOL:
            return text
        return self.w.make(f"icmp ne i8 {text}, 0")

    def from_word(self, word: Register, dtype: Number) -> Register:
        """Returns a number out of the low bits of an i64."""
        w, size = self.w, dtype.itemsize * 8
        narrow = word if size == 64 else w.make(f"trunc i64 {word} to i{size}")
        if dtype.kind == "f":
            return w.make(f"bitcast i{size} {narrow} to {name_of(dtype)}")
        if dtype == BOOL:
            return w.make(f"icmp ne i8 {narrow}, 0")
        return narrow

    def binary(self, operator: str, left: str, right: str, dtype: Number) -> str:
        """Returns left op right in a type; the operator is called as in `ast`."""
        w, type_ = self.w, register_type(dtype)
        if dtype.kind == "f":
            if operator not in _OF_FLOATS:
                raise NotCompiled(f"{operator} of floats")
            return w.make(f"{_OF_FLOATS[operator]} {type_} {left}, {right}")
        if dtype == BOOL:
            if operator not in _OF_BOOLS:
                raise NotCompiled(f"{operator} of bools")
            return w.make(f"{_OF_BOOLS[operator]} i1 {left}, {right}")
        if operator in _OF_INTEGERS:
            return w.make(f"{_OF_INTEGERS[operator]} {type_} {left}, {right}")
        if operator in ("FloorDiv", "Mod"):
            return self._divided(operator, left, right, dtype)
        if operator in ("LShift", "RShift"):
            return self._shifted(operator, left, right, dtype)
        raise NotCompiled(f"{operator} of whole numbers")

    def updated(self, name: str, old: str, operands: Sequence[str], dtype: Number) -> str:
        """Returns what an atomic leaves in a cell; raises NotCompiled for one that is not known.

        Args:
            name: "add", "max", "cas" ...
            old: what is in the cell.
            operands: its operands, in the cell's type.
            dtype: that type.
        """
        w, type_, real = self.w, register_type(dtype), dtype.kind == "f"
        first, last = operands[0], operands[-1]
        letter = "s" if dtype.kind == "i" else "u"
        if name in ("max", "min"):
            # As Python's: a NaN in memory stays, and a NaN operand never gets in.
            how = "gt" if name == "max" else "lt"
            compare = f"fcmp o{how}" if real else f"icmp {letter}{how}"
            better = w.make(f"{compare} {type_} {last}, {old}")
            return w.make(f"select i1 {better}, {type_} {last}, {type_} {old}")
        if name in ("add", "sub"):
            return w.make(f"{'f' if real else ''}{name} {type_} {old}, {last}")
        if real:
            raise NotCompiled(f"an atomic of floats: {name}")
        if name in ("and_", "or_", "xor"):
            return w.make(f"{name.rstrip('_')} {type_} {old}, {last}")
        if name == "exch":
            return last
        if name == "cas":
            same = w.make(f"icmp eq {type_} {old}, {first}")
            return w.make(f"select i1 {same}, {type_} {last}, {type_} {old}")
        if name == "inc":
            over = w.make(f"icmp uge {type_} {old}, {last}")
            more = w.make(f"add {type_} {old}, 1")
            return w.make(f"select i1 {over}, {type_} 0, {type_} {more}")
        if name == "dec":
            none, over = (
                w.make(f"icmp eq {type_} {old}, 0"),
                w.make(f"icmp ugt {type_} {old}, {last}"),
            )
            back = w.make(f"or i1 {none}, {over}")
            less = w.make(f"sub {type_} {old}, 1")
            return w.make(f"select i1 {back}, {type_} {last}, {type_} {less}")
        raise NotCompiled(f"an atomic: {name}")

    def _divided(self, operator: str, left: str, right: str, dtype: Number) -> str:
        """Rounded down as Python does; 0 where it is divided by 0, as NumPy gives."""
        w, type_ = self.w, register_type(dtype)
        zero = w.make(f"icmp eq {type_} {right}, 0")
        if dtype.kind == "u":
            by = w.make(f"select i1 {zero}, {type_} 1, {type_} {right}")
            found = w.make(f"{'udiv' if operator == 'FloorDiv' else 'urem'} {type_} {left}, {by}")
            return w.make(f"select i1 {zero}, {type_} 0, {type_} {found}")
        # The least number by -1 has no quotient, and would end the process.
        minus = w.make(f"icmp eq {type_} {right}, -1")
        odd = w.make(f"or i1 {zero}, {minus}")
        by = w.make(f"select i1 {odd}, {type_} 1, {type_} {right}")
        rest = w.make(f"srem {type_} {left}, {by}")
        some = w.make(f"icmp ne {type_} {rest}, 0")
        signs = w.make(f"xor {type_} {rest}, {by}")
        down = w.make(f"and i1 {some}, {w.make(f'icmp slt {type_} {signs}, 0')}")
        if operator == "Mod":
            moved = w.make(f"add {type_} {rest}, {by}")
            found = w.make(f"select i1 {down}, {type_} {moved}, {type_} {rest}")
            return w.make(f"select i1 {odd}, {type_} 0, {type_} {found}")
        quotient = w.make(f"sdiv {type_} {left}, {by}")
        less = w.make(f"sub {type_} {quotient}, {w.make(f'zext i1 {down} to {type_}')}")
        negative = w.make(f"sub {type_} 0, {left}")
        special = w.make(f"select i1 {zero}, {type_} 0, {type_} {negative}")
        return w.make(f"select i1 {odd}, {type_} {special}, {type_} {less}")

    def _shifted(self, operator: str, left: str, right: str, dtype: Number) -> str:
        """As NumPy does: by more than there are bits, all of them go."""
        w, type_, bits = self.w, register_type(dtype), dtype.itemsize * 8
        inside = w.make(f"icmp ult {type_} {right}, {bits}")
        by = w.make(f"select i1 {inside}, {type_} {right}, {type_} 0")
        if operator == "LShift":
            found, beyond = w.make(f"shl {type_} {left}, {by}"), "0"
        elif dtype.kind == "u":
            found, beyond = w.make(f"lshr {type_} {left}, {by}"), "0"
        else:
            found = w.make(f"ashr {type_} {left}, {by}")
            beyond = w.make(f"ashr {type_} {left}, {bits - 1}")
        return w.make(f"select i1 {inside}, {type_} {found}, {type_} {beyond}")

    def unary(self, operator: str, text: str, own: Number, dtype: Any) -> str:
        """Returns op of a number of one type in another; the operator is called as in `ast`."""
        w = self.w
        if operator == "Not":
            return w.make(f"xor i1 {self.truth(text, own)}, true")
        if own == BOOL:
            raise NotCompiled(f"{operator} of a bool")
        if operator == "USub":
            what = "fneg" if own.kind == "f" else "sub"
            zero = "" if own.kind == "f" else "0, "
            made = w.make(f"{what} {register_type(own)} {zero}{text}")
            return self.converted(made, own, dtype)
        if operator == "Invert":
            return self.converted(w.make(f"xor {register_type(own)} {text}, -1"), own, dtype)
        return self.converted(text, own, dtype)

    def compared(
        self, operator: str, left: str, left_type: Any, right: str, right_type: Any
    ) -> str:
        """Returns an i1, left op right, each of its own type."""
        if operator not in _COMPARED:
            raise NotCompiled(f"a comparison: {operator}")
        one = number_type(left_type, f"a comparison: {operator}")
        other = number_type(right_type, f"a comparison: {operator}")
        common = _common(one, other)
        left = self.converted(left, one, common)
        right = self.converted(right, other, common)
        signed, unsigned, real = _COMPARED[operator]
        if common.kind == "f":
            return self.w.make(f"fcmp {real} {register_type(common)} {left}, {right}")
        how = signed if common.kind == "i" else unsigned
        return self.w.make(f"icmp {how} {register_type(common)} {left}, {right}")

    def truth(self, text: str, dtype: Number) -> str:
        """Returns an i1, whether a number is not 0."""
        return self.converted(text, dtype, BOOL)

    def converted(self, text: str, from_: Number, to: Any) -> str:
        """Returns a number in another type, as `machine.values.cast` gives it."""
        w = self.w
        if from_ == to:
            return text
        to = number_type(to, "a conversion to what is no number")
        memory_type(from_), memory_type(to)
        source, target = register_type(from_), register_type(to)
        if to == BOOL:
            if from_.kind == "f":
                return w.make(f"fcmp une {source} {text}, 0.0")
            return w.make(f"icmp ne {source} {text}, 0")
        if from_ == BOOL:
            return w.make(f"{'uitofp' if to.kind == 'f' else 'zext'} i1 {text} to {target}")
        if from_.kind == "f" and to.kind == "f":
            how = "fpext" if to.itemsize > from_.itemsize else "fptrunc"
        elif to.kind == "f":
            how = "sitofp" if from_.kind == "i" else "uitofp"
        elif from_.kind == "f":
            return self._cut(text, from_, to)
        elif to.itemsize == from_.itemsize:
            return text
        elif to.itemsize < from_.itemsize:
            how = "trunc"
        else:
            how = "sext" if from_.kind == "i" else "zext"
        return w.make(f"{how} {source} {text} to {target}")

    def _cut(self, text: str, from_: Number, to: Number) -> str:
        """Returns a float as a whole number: what lies beyond it is cut off."""
        w = self.w
        if to.itemsize == 1:
            wide = np.dtype(f"{to.kind}2")
            return w.make(f"trunc i16 {self._cut(text, from_, wide)} to i8")
        kind, target = ("s" if to.kind == "i" else "u"), register_type(to)
        name = f"llvm.fpto{kind}i.sat.{target}.f{8 * from_.itemsize}"
        self.context.declare(f"declare {target} @{name}({register_type(from_)})")
        found = w.make(f"call {target} @{name}({register_type(from_)} {text})")
        if from_.itemsize < 8 and to.itemsize < 8:
            return found
        nan = w.make(f"fcmp uno {register_type(from_)} {text}, {text}")
        high = 1 << (8 * to.itemsize - 1)
        high = high if to.kind == "u" else -high
        return w.make(f"select i1 {nan}, {target} {high}, {target} {found}")

    def of_bits(self, path: str, text: str, given: Number, dtype: Number) -> str:
        """Returns what a word of the vocabulary says of a whole number's bits."""
        w, wide = self.w, given
        if path == "cuda.brev":
            text, wide = self.converted(text, given, dtype), dtype
        type_ = register_type(wide)
        name = f"llvm.{OF_BITS[path]}.{type_}"
        more = ", i1 false" if path in ("cuda.clz", "cuda.ffs") else ""
        self.context.declare(f"declare {type_} @{name}({type_}{', i1' if more else ''})")
        found = w.make(f"call {type_} @{name}({type_} {text}{more})")
        if path == "cuda.ffs":
            zero = w.make(f"icmp eq {type_} {text}, 0")
            found = w.make(f"select i1 {zero}, {type_} -1, {type_} {found}")
            found = w.make(f"add {type_} {found}, 1")
        return self.converted(found, wide, dtype)

    def ahead(self, arguments: Sequence[str], dtype: Number) -> str:
        """Returns an i1, whether a counter has not come to its stop."""
        w, type_ = self.w, register_type(dtype)
        counter, stop, step = arguments
        letter = "s" if dtype.kind == "i" else "u"
        up = w.make(f"icmp {letter}lt {type_} {counter}, {stop}")
        down = w.make(f"icmp {letter}gt {type_} {counter}, {stop}")
        ahead = w.make(f"icmp {letter}gt {type_} {step}, 0")
        return w.make(f"select i1 {ahead}, i1 {up}, i1 {down}")

    def intrinsic(self, name: str, arguments: Sequence[str], dtype: Number) -> str:
        """Returns what a function of LLVM's own gives for floats."""
        type_ = register_type(dtype)
        full = f"llvm.{name}.f{8 * dtype.itemsize}"
        self.context.declare(f"declare {type_} @{full}({', '.join([type_] * len(arguments))})")
        given = ", ".join(f"{type_} {each}" for each in arguments)
        return self.w.make(f"call {type_} @{full}({given})")

    def extreme(
        self, which: str, arguments: Sequence[str], given: Sequence[Any], dtype: Number
    ) -> str:
        """Returns the least or the greatest of some numbers: which is "min" or "max"."""
        w, type_ = self.w, register_type(dtype)
        texts = [self.converted(t, g, dtype) for t, g in zip(arguments, given, strict=True)]
        floats = len(texts) == 2 and all(each in (FLOAT32, FLOAT64) for each in given)
        if floats:
            a, b = texts
            # Of a NaN and a number the number, and -0.0 is less than 0.0.
            less = w.make(f"fcmp {'olt' if which == 'min' else 'ogt'} {type_} {a}, {b}")
            nan = w.make(f"fcmp uno {type_} {b}, {b}")
            first = w.make(f"or i1 {less}, {nan}")
            found = w.make(f"select i1 {first}, {type_} {a}, {type_} {b}")
            equal = w.make(f"fcmp oeq {type_} {a}, {b}")
            bits = f"i{8 * dtype.itemsize}"
            sign = w.make(f"icmp slt {bits} {w.make(f'bitcast {type_} {a} to {bits}')}, 0")
            one, other = (a, b) if which == "min" else (b, a)
            same = w.make(f"select i1 {sign}, {type_} {one}, {type_} {other}")
            return w.make(f"select i1 {equal}, {type_} {same}, {type_} {found}")
        found = texts[0]
        for other in texts[1:]:
            if dtype.kind == "f":
                how = f"fcmp {'olt' if which == 'min' else 'ogt'}"
            else:
                how = f"icmp {'s' if dtype.kind == 'i' else 'u'}{'lt' if which == 'min' else 'gt'}"
            better = w.make(f"{how} {type_} {other}, {found}")
            found = w.make(f"select i1 {better}, {type_} {other}, {type_} {found}")
        return found


def _common(one: Number, other: Number) -> Number:
    """The type in which two numbers are compared."""
    if one == other:
        return one
    if "f" in (one.kind, other.kind):
        return types.arithmetic(one, other)
    common = np.promote_types(one, other)
    if common.kind == "f":
        raise NotCompiled("uint64 beside a signed number")
    return common
