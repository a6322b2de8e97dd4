"""What each instruction of PTX does, as a line or two of Python.

A rule is a pattern that an opcode must match from end to end, and a function from the operands to
Python. What matches no rule is refused by its name: nothing is guessed.

In that Python a register of whole numbers is an int from 0 to 2^bits - 1, one of floats is a float
and a predicate a bool. A thread is a generator; it yields where it needs others (see launch.py).

Source: PTX ISA 9.0, chapter 9.7.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.ptx import values
from tests.ptx.listing import Instruction, Kernel
from tests.ptx.memory import GLOBAL_SHIFT, NEAR_SHIFT, VIEWS, Fault


class UnknownInstruction(Exception):
    """An instruction or operand that has no rule here."""


SPECIAL = {
    **{f"%{name}.{axis}": f"{name}_{axis}" for name in ("tid", "ctaid") for axis in "xyz"},
    **{f"%{name}.{axis}": f"{name}_{axis}" for name in ("ntid", "nctaid") for axis in "xyz"},
    "%laneid": "laneid",
    "%warpid": "warpid",
    "%lanemask_eq": "(1 << laneid)",
    "%lanemask_lt": "((1 << laneid) - 1)",
    "%lanemask_le": "((2 << laneid) - 1)",
    "%lanemask_gt": "(0xFFFFFFFE << laneid & 0xFFFFFFFF)",
    "%lanemask_ge": "(0xFFFFFFFF << laneid & 0xFFFFFFFF)",
    "WARP_SZ": "32",
}

Rule = Callable[..., list[str]]
RULES: list[tuple[re.Pattern[str], Rule]] = []


def rule(pattern: str) -> Callable[[Rule], Rule]:
    """Says which opcodes a function is for; groups of the pattern are its last arguments."""

    def register(function: Rule) -> Rule:
        RULES.append((re.compile(pattern), function))
        return function

    return register


@dataclass
class Operands:
    """The operands of a kernel's instructions, as Python.

    Attributes:
        kernel: the kernel.
        watched: True where every access to memory is told to a `memory.Watch`.
    """

    kernel: Kernel
    watched: bool = False
    symbols: dict[str, int] = field(default_factory=dict)
    parameters: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for space in ("shared", "local"):
            arrays = [each for each in self.kernel.arrays if each.space == space]
            for number, each in enumerate(arrays, 1):
                self.symbols[each.name] = number << NEAR_SHIFT
        self.parameters = {name: n for n, (name, _) in enumerate(self.kernel.parameters)}

    def python(self, instruction: Instruction) -> list[str]:
        """Returns an instruction as lines of Python.

        Raises:
            UnknownInstruction: by its name.
        """
        for pattern, function in RULES:
            if found := pattern.fullmatch(instruction.opcode):
                return function(self, *instruction.operands, *found.groups())
        raise UnknownInstruction(
            f"{instruction.opcode} (line {instruction.line}) is an instruction without a rule"
        )

    def type_of(self, register: str) -> str:
        """Returns the declared type of a register, such as "b32"; "" for what is none."""
        name = register.removeprefix("%")
        return self.kernel.registers.get(name) or self.kernel.registers.get(
            name.rstrip("0123456789"), ""
        )

    def bits(self, operand: str, width: int) -> str:
        """Returns an operand as the bits of so wide a number."""
        most = (1 << width) - 1
        if operand in SPECIAL:
            return SPECIAL[operand]
        if operand.startswith("%"):
            kind = self.type_of(operand)
            name = operand[1:]
            if kind == "f32":
                return f"bits_of_f32({name})"
            if kind == "f64":
                return f"bits_of_f64({name})"
            if not kind or kind == "pred":
                raise UnknownInstruction(f"{operand} is an operand that is no number")
            return f"({name} & {most})" if int(kind[1:]) > width else name
        if operand.startswith(("0f", "0F", "0d", "0D")):
            return str(int(operand[2:], 16))
        if found := re.fullmatch(r"(-?)(0[xX][0-9a-fA-F]+|\d+)U?", operand):
            number = int(found[2], 16) if found[2][:2] in ("0x", "0X") else int(found[2])
            return str((-number if found[1] else number) & most)
        symbol, _, offset = operand.partition("+")
        if symbol in self.symbols:
            return str(self.symbols[symbol] + int(offset or 0))
        raise UnknownInstruction(f"{operand} is an operand without a rule")

    def signed(self, operand: str, width: int) -> str:
        """Returns an operand as a signed whole number."""
        bits, sign = self.bits(operand, width), 1 << (width - 1)
        if bits.isdigit():
            return f"({(int(bits) ^ sign) - sign})"
        return f"(({bits} ^ {sign}) - {sign})"

    def whole(self, operand: str, kind: str) -> str:
        """Returns an operand as the whole number that its type says."""
        width = int(kind[1:])
        return self.signed(operand, width) if kind[0] == "s" else self.bits(operand, width)

    def real(self, operand: str, kind: str) -> str:
        """Returns an operand as a float."""
        if operand.startswith("%"):
            held = self.type_of(operand)
            if held == kind:
                return operand[1:]
            if held == "b" + kind[1:]:
                return f"{kind}_of_bits({operand[1:]})"
        elif operand.startswith(("0f", "0F")) and kind == "f32":
            return _literal(values.f32_of_bits(int(operand[2:], 16)))
        elif operand.startswith(("0d", "0D")) and kind == "f64":
            return _literal(values.f64_of_bits(int(operand[2:], 16)))
        raise UnknownInstruction(f"{operand} is an operand that is no {kind}")

    def predicate(self, operand: str) -> str:
        """Returns an operand as a bool."""
        if operand.startswith("!"):
            return f"(not {self.predicate(operand[1:])})"
        if operand.startswith("%") and self.type_of(operand) == "pred":
            return operand[1:]
        if re.fullmatch(r"-?\d+", operand):
            return str(int(operand) != 0)
        raise UnknownInstruction(f"{operand} is an operand that is no predicate")

    def put(self, target: str, what: str, kind: str) -> list[str]:
        """Returns how a value of a type goes into a register; of a float32, rounded already."""
        held = self.type_of(target)
        if target == "_":
            return [what]
        if not held:
            raise UnknownInstruction(f"{target} is an operand that is no register")
        if kind[0] == "f" and held[0] == "b":
            what = f"bits_of_{kind}({what})"
        elif kind[0] != "f" and held[0] == "f":
            what = f"{held}_of_bits({what})"
        return [f"{target[1:]} = {what}"]

    def put_signed(self, target: str, what: str) -> list[str]:
        """Returns how a signed number goes into a register, extended to its width."""
        return [f"{target[1:]} = {what} & {(1 << int(self.type_of(target)[1:])) - 1}"]

    def put_f32(self, target: str, exact: str) -> list[str]:
        """Returns how a float64 goes into a register of float32: rounded to the nearest."""
        return [f"CELL[0] = {exact}", *self.put(target, "CELL[0]", "f32")]

    def put_float(self, target: str, exact: str, kind: str) -> list[str]:
        """Returns how the result of a float64 operation goes into a register."""
        return self.put_f32(target, exact) if kind == "f32" else self.put(target, exact, kind)

    def address(self, operand: str) -> str:
        """Returns the address in [%rd1+4], [symbol] or [%r1]."""
        found = re.fullmatch(r"\[([%\w$.]+)(?:\+(-?\d+))?\]", operand)
        if found is None:
            raise UnknownInstruction(f"{operand} is an address without a rule")
        base = self.bits(found[1], 64)
        return f"{base} + {found[2]}" if found[2] and found[2] != "0" else base


def _literal(value: float) -> str:
    return repr(value) if abs(value) < values.INFINITY else f"float('{value}')"


def _vector(operand: str) -> list[str]:
    """Returns the parts of {%r1, %r2}, or the one operand."""
    return [each.strip() for each in operand.strip("{}").split(",")]


# Arithmetic of whole numbers: it wraps round.


@rule(r"(add|sub)\.([su](?:16|32|64))")
def _(ops: Operands, d: str, a: str, b: str, name: str, kind: str) -> list[str]:
    width = int(kind[1:])
    sign = "+" if name == "add" else "-"
    result = f"({ops.bits(a, width)} {sign} {ops.bits(b, width)}) & {(1 << width) - 1}"
    return ops.put(d, result, kind)


@rule(r"mul\.lo\.([su](?:16|32|64))")
def _(ops: Operands, d: str, a: str, b: str, kind: str) -> list[str]:
    width = int(kind[1:])
    result = f"({ops.bits(a, width)} * {ops.bits(b, width)}) & {(1 << width) - 1}"
    return ops.put(d, result, kind)


@rule(r"mad\.lo\.([su](?:16|32|64))")
def _(ops: Operands, d: str, a: str, b: str, c: str, kind: str) -> list[str]:
    width = int(kind[1:])
    x, y, z = (ops.bits(each, width) for each in (a, b, c))
    return ops.put(d, f"({x} * {y} + {z}) & {(1 << width) - 1}", kind)


@rule(r"mul\.hi\.([su](?:16|32|64))")
def _(ops: Operands, d: str, a: str, b: str, kind: str) -> list[str]:
    width = int(kind[1:])
    product = f"({ops.whole(a, kind)} * {ops.whole(b, kind)})"
    return ops.put(d, f"{product} >> {width} & {(1 << width) - 1}", kind)


@rule(r"mul\.wide\.([su](?:16|32))")
def _(ops: Operands, d: str, a: str, b: str, kind: str) -> list[str]:
    width = 2 * int(kind[1:])
    product = f"{ops.whole(a, kind)} * {ops.whole(b, kind)}"
    return ops.put(d, f"{product} & {(1 << width) - 1}", f"b{width}")


@rule(r"mad\.wide\.([su](?:16|32))")
def _(ops: Operands, d: str, a: str, b: str, c: str, kind: str) -> list[str]:
    width = 2 * int(kind[1:])
    total = f"{ops.whole(a, kind)} * {ops.whole(b, kind)} + {ops.bits(c, width)}"
    return ops.put(d, f"{total} & {(1 << width) - 1}", f"b{width}")


@rule(r"(div|rem)\.([su](?:16|32|64))")
def _(ops: Operands, d: str, a: str, b: str, name: str, kind: str) -> list[str]:
    which = "quotient" if name == "div" else "remainder"
    result = f"{which}({ops.whole(a, kind)}, {ops.whole(b, kind)})"
    return ops.put(d, f"{result} & {(1 << int(kind[1:])) - 1}", kind)


@rule(r"(abs|neg)\.(s(?:16|32|64))")
def _(ops: Operands, d: str, a: str, name: str, kind: str) -> list[str]:
    value = ops.signed(a, int(kind[1:]))
    result = f"abs({value})" if name == "abs" else f"-{value}"
    return ops.put(d, f"{result} & {(1 << int(kind[1:])) - 1}", kind)


@rule(r"(min|max)\.([su](?:16|32|64))")
def _(ops: Operands, d: str, a: str, b: str, name: str, kind: str) -> list[str]:
    result = f"{name}({ops.whole(a, kind)}, {ops.whole(b, kind)})"
    return ops.put(d, f"{result} & {(1 << int(kind[1:])) - 1}", kind)


def quotient(a: int, b: int) -> int:
    """Returns a quotient cut off towards zero."""
    if b == 0:
        raise Fault("division-by-zero", f"{a} / 0 of whole numbers")
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: int, b: int) -> int:
    """Returns what a quotient cut off towards zero leaves: it has the sign of a."""
    return a - quotient(a, b) * b


# Bits.


@rule(r"(and|or|xor)\.b(16|32|64)")
def _(ops: Operands, d: str, a: str, b: str, name: str, width: str) -> list[str]:
    sign = {"and": "&", "or": "|", "xor": "^"}[name]
    x, y = ops.bits(a, int(width)), ops.bits(b, int(width))
    return ops.put(d, f"{x} {sign} {y}", "b" + width)


@rule(r"(and|or|xor)\.pred")
def _(ops: Operands, d: str, a: str, b: str, name: str) -> list[str]:
    sign = {"and": "and", "or": "or", "xor": "!="}[name]
    return [f"{d[1:]} = {ops.predicate(a)} {sign} {ops.predicate(b)}"]


@rule(r"not\.pred")
def _(ops: Operands, d: str, a: str) -> list[str]:
    return [f"{d[1:]} = not {ops.predicate(a)}"]


@rule(r"not\.b(16|32|64)")
def _(ops: Operands, d: str, a: str, width: str) -> list[str]:
    return ops.put(d, f"{ops.bits(a, int(width))} ^ {(1 << int(width)) - 1}", "b" + width)


@rule(r"shl\.b(16|32|64)")
def _(ops: Operands, d: str, a: str, b: str, text: str) -> list[str]:
    width = int(text)
    by = _shift(ops, b, width)
    return ops.put(d, f"{ops.bits(a, width)} << {by} & {(1 << width) - 1}", "b" + text)


@rule(r"shr\.([bsu])(16|32|64)")
def _(ops: Operands, d: str, a: str, b: str, sign: str, text: str) -> list[str]:
    width = int(text)
    by = _shift(ops, b, width)
    result = f"{ops.whole(a, sign + text)} >> {by}"
    return ops.put(d, f"{result} & {(1 << width) - 1}" if sign == "s" else result, "b" + text)


def _shift(ops: Operands, operand: str, width: int) -> str:
    """Returns how far to shift: more than the width counts as the width."""
    by = ops.bits(operand, 32)
    return str(min(int(by), width)) if by.isdigit() else f"min({by}, {width})"


@rule(r"shf\.([lr])\.(wrap|clamp)\.b32")
def _(ops: Operands, d: str, a: str, b: str, c: str, way: str, mode: str) -> list[str]:
    by = f"({ops.bits(c, 32)} & 31)" if mode == "wrap" else f"min({ops.bits(c, 32)}, 32)"
    both = f"({ops.bits(b, 32)} << 32 | {ops.bits(a, 32)})"
    moved = f"({both} << {by}) >> 32" if way == "l" else f"{both} >> {by}"
    return ops.put(d, f"{moved} & 0xFFFFFFFF", "b32")


@rule(r"(popc|clz|brev)\.b(32|64)")
def _(ops: Operands, d: str, a: str, name: str, width: str) -> list[str]:
    bits = ops.bits(a, int(width))
    result = {
        "popc": f"({bits}).bit_count()",
        "clz": f"{width} - ({bits}).bit_length()",
        "brev": f"int(f'{{{bits}:0{width}b}}'[::-1], 2)",
    }[name]
    return ops.put(d, result, "b" + (width if name == "brev" else "32"))


@rule(r"bfind(\.shiftamt)?\.([su])(32|64)")
def _(ops: Operands, d: str, a: str, shift: str | None, sign: str, width: str) -> list[str]:
    bits = ops.bits(a, int(width))
    if sign == "s":
        value = ops.signed(a, int(width))
        bits = f"({value} if {value} >= 0 else ~{value})"
    result = f"highest({bits}, {width if shift else 0})"
    return ops.put(d, result, "b32")


def highest(bits: int, width: int) -> int:
    """Returns the place of the highest bit, or how far it is from the top of `width` bits."""
    if bits == 0:
        return 0xFFFFFFFF
    place = bits.bit_length() - 1
    return width - 1 - place if width else place


@rule(r"bfi\.b(32|64)")
def _(ops: Operands, f: str, a: str, b: str, c: str, d: str, text: str) -> list[str]:
    width = int(text)
    x, y, at, long = ops.bits(a, width), ops.bits(b, width), ops.bits(c, 32), ops.bits(d, 32)
    return ops.put(f, f"inserted({x}, {y}, {at}, {long}, {width})", "b" + text)


def inserted(a: int, b: int, at: int, long: int, width: int) -> int:
    """Returns b with the lowest `long` bits of a put in from bit `at` on."""
    at, long = at & 0xFF, long & 0xFF
    field_mask = ((1 << long) - 1) << at & ((1 << width) - 1)
    return (b & ~field_mask) | (a << at & field_mask)


@rule(r"bfe\.([su])(32|64)")
def _(ops: Operands, d: str, a: str, b: str, c: str, sign: str, text: str) -> list[str]:
    at, long = ops.bits(b, 32), ops.bits(c, 32)
    value = ops.bits(a, int(text))
    return ops.put(d, f"extracted({value}, {at}, {long}, {text}, {sign == 's'})", "b" + text)


def extracted(a: int, at: int, long: int, width: int, signed: bool) -> int:
    """Returns `long` bits of a from bit `at` on, extended by their sign where that is asked for."""
    at, long = at & 0xFF, long & 0xFF
    if signed and a >> (width - 1):
        a -= 1 << width
    found = a >> at & ((1 << long) - 1)
    if signed and long and found >> (long - 1):
        found -= 1 << long
    return found & ((1 << width) - 1)


@rule(r"prmt\.b32")
def _(ops: Operands, d: str, a: str, b: str, c: str) -> list[str]:
    return ops.put(d, f"picked({ops.bits(a, 32)}, {ops.bits(b, 32)}, {ops.bits(c, 32)})", "b32")


def picked(a: int, b: int, choice: int) -> int:
    """Returns four bytes out of the eight of b:a, each named by four bits of the choice."""
    eight = b << 32 | a
    result = 0
    for place in range(4):
        which = choice >> (4 * place) & 0xF
        byte = eight >> (8 * (which & 7)) & 0xFF
        if which & 8:
            byte = 0xFF if byte & 0x80 else 0
        result |= byte << (8 * place)
    return result


# Arithmetic of floats. Of two float32 the float64 operation, rounded once more, is the float32 one.

_ROUND = r"(?:\.(rn|rz|rm|rp))?"


@rule(rf"(add|sub){_ROUND}\.(f32|f64)")
def _(ops: Operands, d: str, a: str, b: str, name: str, mode: str, kind: str) -> list[str]:
    x, y = ops.real(a, kind), ops.real(b, kind)
    if (mode or "rn") != "rn":
        y = y if name == "add" else f"-{y}"
        return ops.put(d, f"values.add({x}, {y}, '{kind}', '{mode}')", kind)
    return ops.put_float(d, f"{x} {'+' if name == 'add' else '-'} {y}", kind)


@rule(rf"mul{_ROUND}\.(f32|f64)")
def _(ops: Operands, d: str, a: str, b: str, mode: str, kind: str) -> list[str]:
    x, y = ops.real(a, kind), ops.real(b, kind)
    if (mode or "rn") != "rn":
        return ops.put(d, f"values.multiply({x}, {y}, '{kind}', '{mode}')", kind)
    return ops.put_float(d, f"{x} * {y}", kind)


@rule(r"(?:fma|mad)\.(rn|rz|rm|rp)\.(f32|f64)")
def _(ops: Operands, d: str, a: str, b: str, c: str, mode: str, kind: str) -> list[str]:
    x, y, z = (ops.real(each, kind) for each in (a, b, c))
    if (mode, kind) == ("rn", "f32"):
        return ops.put(d, f"fma_f32({x}, {y}, {z})", kind)
    return ops.put(d, f"values.fma({x}, {y}, {z}, '{kind}', '{mode}')", kind)


@rule(r"div\.(rn|rz|rm|rp|full|approx)\.(f32|f64)")
def _(ops: Operands, d: str, a: str, b: str, mode: str, kind: str) -> list[str]:
    mode = "rn" if mode in ("full", "approx") else mode
    result = f"values.divide({ops.real(a, kind)}, {ops.real(b, kind)}, '{kind}', '{mode}')"
    return ops.put(d, result, kind)


@rule(r"rcp\.rn\.(f32|f64)")
def _(ops: Operands, d: str, a: str, kind: str) -> list[str]:
    return ops.put(d, f"values.divide(1.0, {ops.real(a, kind)}, '{kind}')", kind)


@rule(r"sqrt\.rn\.(f32|f64)")
def _(ops: Operands, d: str, a: str, kind: str) -> list[str]:
    return ops.put(d, f"values.square_root({ops.real(a, kind)}, '{kind}')", kind)


@rule(r"(ex2|lg2|sin|cos|rcp|rsqrt|sqrt|tanh)\.approx(\.ftz)?\.f32")
def _(ops: Operands, d: str, a: str, name: str, ftz: str | None) -> list[str]:
    value = ops.real(a, "f32")
    if not ftz:
        return ops.put(d, f"values.approximate('{name}', {value})", "f32")
    result = f"values.flushed(values.approximate('{name}', values.flushed({value})))"
    return ops.put(d, result, "f32")


@rule(r"rcp\.approx\.ftz\.f64")
def _(ops: Operands, d: str, a: str) -> list[str]:
    return ops.put(d, f"values.gross_reciprocal({ops.real(a, 'f64')})", "f64")


@rule(r"(min|max)\.(f32|f64)")
def _(ops: Operands, d: str, a: str, b: str, name: str, kind: str) -> list[str]:
    which = "smaller" if name == "min" else "larger"
    return ops.put(d, f"{which}({ops.real(a, kind)}, {ops.real(b, kind)})", kind)


@rule(r"(abs|neg)\.(f32|f64)")
def _(ops: Operands, d: str, a: str, name: str, kind: str) -> list[str]:
    value = ops.real(a, kind)
    return ops.put(d, f"abs({value})" if name == "abs" else f"-{value}", kind)


@rule(r"copysign\.(f32|f64)")
def _(ops: Operands, d: str, a: str, b: str, kind: str) -> list[str]:
    # The sign is that of the first operand, the size that of the second.
    return ops.put(d, f"math.copysign({ops.real(b, kind)}, {ops.real(a, kind)})", kind)


@rule(r"testp\.(finite|infinite|number|notanumber)\.(f32|f64)")
def _(ops: Operands, d: str, a: str, what: str, kind: str) -> list[str]:
    value = ops.real(a, kind)
    test = {
        "finite": f"math.isfinite({value})",
        "infinite": f"math.isinf({value})",
        "number": f"{value} == {value}",
        "notanumber": f"{value} != {value}",
    }[what]
    return [f"{d[1:]} = {test}"]


# Comparisons and choices.

_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_UNSIGNED = {"lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
_OPPOSITE = {"lt": ">=", "le": ">", "gt": "<=", "ge": "<"}


@rule(r"setp\.(eq|ne|lt|le|gt|ge|lo|ls|hi|hs)\.([bsu])(16|32|64)")
def _(ops: Operands, d: str, a: str, b: str, how: str, sign: str, text: str) -> list[str]:
    operator = (_COMPARED | _UNSIGNED)[how]
    x, y = (ops.bits(each, int(text)) for each in (a, b))
    if sign == "s" and how not in ("eq", "ne"):
        # With the sign bit turned round, signed numbers stand in the order of their bits.
        x, y = (_flipped(each, 1 << (int(text) - 1)) for each in (x, y))
    return [f"{d[1:]} = {x} {operator} {y}"]


def _flipped(bits: str, sign: int) -> str:
    return str(int(bits) ^ sign) if bits.isdigit() else f"({bits} ^ {sign})"


@rule(r"setp\.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan)\.(f32|f64)")
def _(ops: Operands, d: str, a: str, b: str, how: str, kind: str) -> list[str]:
    x, y = ops.real(a, kind), ops.real(b, kind)
    numbers = f"{x} == {x} and {y} == {y}"
    if how in ("num", "nan"):
        said = numbers if how == "num" else f"not ({numbers})"
    elif how == "ne":
        said = f"{x} < {y} or {x} > {y}"
    elif how in _COMPARED:
        said = f"{x} {_COMPARED[how]} {y}"
    elif how == "equ":
        said = f"not ({x} < {y} or {x} > {y})"
    elif how == "neu":
        said = f"{x} != {y}"
    else:
        said = f"not {x} {_OPPOSITE[how[:2]]} {y}"
    return [f"{d[1:]} = {said}"]


@rule(r"selp\.([bsuf])(16|32|64)")
def _(ops: Operands, d: str, a: str, b: str, p: str, letter: str, width: str) -> list[str]:
    # Also selp.b32 of registers of floats: the bits are what is chosen.
    floats = letter == "f" or ops.type_of(d)[0] == "f"
    kind = ("f" if floats else letter) + width
    x, y = (ops.real(e, kind) if floats else ops.bits(e, int(width)) for e in (a, b))
    return ops.put(d, f"{x} if {ops.predicate(p)} else {y}", kind)


# Moves and conversions.


@rule(r"mov\.pred")
def _(ops: Operands, d: str, a: str) -> list[str]:
    return [f"{d[1:]} = {ops.predicate(a)}"]


@rule(r"mov\.([bsuf])(16|32|64)")
def _(ops: Operands, d: str, a: str, letter: str, text: str) -> list[str]:
    width = int(text)
    if a.startswith("{"):
        parts = _vector(a)
        each = width // len(parts)
        joined = " | ".join(f"{ops.bits(p, each)} << {n * each}" for n, p in enumerate(parts))
        return ops.put(d, joined, "b" + text)
    if d.startswith("{"):
        parts = _vector(d)
        each = width // len(parts)
        whole = ops.bits(a, width)
        lines = [f"both_ = {whole}"]
        for n, part in enumerate(parts):
            if part != "_":
                lines += ops.put(part, f"both_ >> {n * each} & {(1 << each) - 1}", f"b{each}")
        return lines
    held = ops.type_of(a)
    if letter == "f" or held[:1] == "f":
        return ops.put(d, ops.real(a, "f" + text), "f" + text)
    return ops.put(d, ops.bits(a, width), "b" + text)


@rule(r"cvta(?:\.to)?\.(global|local|shared)\.u(32|64)")
def _(ops: Operands, d: str, a: str, space: str, width: str) -> list[str]:
    # Generic addresses are not told apart, and generic loads have no rule.
    return ops.put(d, ops.bits(a, int(width)), "b" + width)


@rule(r"cvt\.([su])(8|16|32|64)\.([su])(8|16|32|64)")
def _(ops: Operands, d: str, a: str, to: str, to_width: str, of: str, width: str) -> list[str]:
    value = ops.whole(a, of + width)
    if int(to_width) < int(width):
        most = (1 << int(to_width)) - 1
        value = f"{value} & {most}"
        if to == "s":
            sign = 1 << (int(to_width) - 1)
            value = f"((({value}) ^ {sign}) - {sign})"
    return ops.put_signed(d, value)


@rule(r"cvt\.(rni|rzi|rmi|rpi)\.([su])(8|16|32|64)\.(f32|f64)")
def _(ops: Operands, d: str, a: str, mode: str, sign: str, width: str, kind: str) -> list[str]:
    value = f"values.to_integer({ops.real(a, kind)}, '{kind}', {width}, {sign == 's'}, '{mode}')"
    if sign == "s" and int(width) < int(ops.type_of(d)[1:]):
        half = 1 << (int(width) - 1)
        return ops.put_signed(d, f"(({value} ^ {half}) - {half})")
    return ops.put(d, value, sign + width)


@rule(r"cvt\.(rn|rz|rm|rp)\.(f32|f64)\.([su](?:8|16|32|64))")
def _(ops: Operands, d: str, a: str, mode: str, kind: str, of: str) -> list[str]:
    value = f"values.of_integer({ops.whole(a, of)}, '{kind}', '{mode}')"
    return ops.put(d, value, kind)


@rule(r"cvt\.(rn|rz|rm|rp)\.f32\.f64")
def _(ops: Operands, d: str, a: str, mode: str) -> list[str]:
    if mode == "rn":
        return ops.put_f32(d, ops.real(a, "f64"))
    return ops.put(d, f"values.narrowed({ops.real(a, 'f64')}, '{mode}')", "f32")


@rule(r"cvt\.f64\.f32")
def _(ops: Operands, d: str, a: str) -> list[str]:
    return ops.put(d, ops.real(a, "f32"), "f64")


@rule(r"cvt\.(rni|rzi|rmi|rpi)\.(f32\.f32|f64\.f64)")
def _(ops: Operands, d: str, a: str, mode: str, kinds: str) -> list[str]:
    kind = kinds[:3]
    return ops.put(d, f"values.whole({ops.real(a, kind)}, '{mode}')", kind)


@rule(r"cvt\.sat\.(f32\.f32|f64\.f64)")
def _(ops: Operands, d: str, a: str, kinds: str) -> list[str]:
    kind = kinds[:3]
    return ops.put(d, f"values.saturated({ops.real(a, kind)})", kind)


# Memory.


@rule(r"ld\.param\.([bsuf](?:8|16|32|64))")
def _(ops: Operands, d: str, a: str, kind: str) -> list[str]:
    name = a.strip("[]")
    if name not in ops.parameters:
        raise UnknownInstruction(f"{a} is no parameter")
    return ops.put(d, f"parameters[{ops.parameters[name]}]", kind)


_CACHED = r"(?:\.(?:volatile|relaxed|acquire|release|nc|ca|cg|cs|wb|wt|cta|gpu|sys))*"


def _cells(space: str, kind: str) -> str:
    """Returns the name of the cells of a type in a state space."""
    kind = "u" + kind[1:] if kind[0] == "b" else kind
    return f"{space}_{kind}"


def _cell(space: str, kind: str, number: int = 0) -> str:
    """Returns the cell at `at_`, or the one so many further."""
    shift = GLOBAL_SHIFT if space == "global" else NEAR_SHIFT
    size = int(kind[1:]) // 8
    place = f"(at_ & {(1 << shift) - 1})"
    place = place if size == 1 else f"{place} >> {size.bit_length() - 1}"
    place = f"({place}) + {number}" if number else place
    return f"{_cells(space, kind)}[at_ >> {shift}][{place}]"


def _at(ops: Operands, space: str, how: str, operand: str, size: int) -> list[str]:
    """Returns how `at_` is set and looked at."""
    lines = [f"at_ = {ops.address(operand)}"]
    if size > 1:
        lines.append(f"if at_ & {size - 1}: misaligned(at_, {size})")
    if ops.watched and space != "local":
        lines.append(f"touch('{space}', '{how}', at_, {size}, block, thread, epoch)")
    return lines


@rule(rf"ld{_CACHED}\.(global|shared|local){_CACHED}(?:\.v([24]))?\.([bsuf](?:8|16|32|64))")
def _(ops: Operands, d: str, a: str, space: str, many: str | None, kind: str) -> list[str]:
    targets = _vector(d)
    size = int(kind[1:]) // 8
    lines = _at(ops, space, "read", a, size * len(targets))
    for number, target in enumerate(targets):
        cell = _cell(space, kind, number)
        if kind[0] == "s":
            lines += ops.put_signed(target, cell)
        else:
            lines += ops.put(target, cell, kind)
    return lines


@rule(rf"st{_CACHED}\.(global|shared|local){_CACHED}(?:\.v([24]))?\.([bsuf](?:8|16|32|64))")
def _(ops: Operands, a: str, b: str, space: str, many: str | None, kind: str) -> list[str]:
    sources = _vector(b)
    kind = "u" + kind[1:] if kind[0] == "s" else kind
    size = int(kind[1:]) // 8
    lines = _at(ops, space, "write", a, size * len(sources))
    for number, source in enumerate(sources):
        floats = kind[0] == "f"
        value = ops.real(source, kind) if floats else ops.bits(source, size * 8)
        lines.append(f"{_cell(space, kind, number)} = {value}")
    return lines


@rule(
    rf"(atom|red){_CACHED}\.(global|shared){_CACHED}"
    r"\.(add|min|max|and|or|xor|inc|dec|exch|cas)\.([bsuf](?:32|64))"
)
def _(ops: Operands, *rest: str) -> list[str]:
    *operands, root, space, name, kind = rest
    d, (a, *sources) = ("_", operands) if root == "red" else (operands[0], operands[1:])
    width = int(kind[1:])
    floats = kind[0] == "f"
    given = [ops.real(e, kind) if floats else ops.whole(e, kind) for e in sources]
    lines = _at(ops, space, "atomic", a, width // 8)
    cell = _cell(space, kind)
    old, b = "old_", given[0]
    new = {
        "add": f"{old} + {b}",
        "min": f"{'smaller' if floats else 'min'}({old}, {b})",
        "max": f"{'larger' if floats else 'max'}({old}, {b})",
        "and": f"{old} & {b}",
        "or": f"{old} | {b}",
        "xor": f"{old} ^ {b}",
        "inc": f"0 if {old} >= {b} else {old} + 1",
        "dec": f"{b} if {old} == 0 or {old} > {b} else {old} - 1",
        "exch": b,
        "cas": f"{given[-1]} if {old} == {b} else {old}",
    }[name]
    if name == "add" and not floats:
        half = 1 << (width - 1)
        wrapped = f"({new}) & {(1 << width) - 1}"
        new = f"(({wrapped}) ^ {half}) - {half}" if kind[0] == "s" else wrapped
    lines += [f"old_ = {cell}", f"{cell} = {new}"]
    if d != "_":
        lines += ops.put_signed(d, old) if kind[0] == "s" else ops.put(d, old, kind)
    return [*lines, "yield TURN"]


@rule(r"(?:membar|fence)(?:\.\w+)+")
def _(ops: Operands) -> list[str]:
    # One thread runs at a time, and what it wrote is there at once.
    return ["pass"]


# Threads that meet: each yields what it asks, and gets what it is told.


@rule(r"(?:bar|barrier)\.sync(?:\.aligned)?")
def _(ops: Operands, number: str, *count: str) -> list[str]:
    if number != "0" or count:
        raise UnknownInstruction(f"bar.sync {number} {' '.join(count)} is not for a whole block")
    return ["yield BARRIER", *(["epoch += 1"] if ops.watched else [])]


@rule(r"(?:bar|barrier)\.red\.(popc|and|or)(?:\.aligned)?\.(u32|pred)")
def _(ops: Operands, d: str, number: str, p: str, how: str, kind: str) -> list[str]:
    if number != "0":
        raise UnknownInstruction(f"bar.red {number} is not for a whole block")
    lines = [f"{d[1:]} = yield ('barrier', '{how}', {ops.predicate(p)})"]
    return [*lines, *(["epoch += 1"] if ops.watched else [])]


@rule(r"bar\.warp\.sync")
def _(ops: Operands, mask: str) -> list[str]:
    return [f"yield ('warp', 'sync', {ops.bits(mask, 32)})"]


@rule(r"shfl\.sync\.(up|down|bfly|idx)\.b32")
def _(ops: Operands, d: str, a: str, b: str, c: str, mask: str, how: str) -> list[str]:
    target, _, found = d.partition("|")
    value, by, limit = (ops.bits(each, 32) for each in (a, b, c))
    asked = f"('warp', 'shfl.{how}', {ops.bits(mask, 32)}, {value}, {by}, {limit})"
    return [
        f"told_, {found[1:] or '_'} = yield {asked}",
        *ops.put(target, "told_", "b32"),
    ]


@rule(r"vote\.sync\.(all|any|uni)\.pred")
def _(ops: Operands, d: str, p: str, mask: str, how: str) -> list[str]:
    asked = f"('warp', 'vote.{how}', {ops.bits(mask, 32)}, {ops.predicate(p)})"
    return [f"{d[1:]} = yield {asked}"]


@rule(r"vote\.sync\.ballot\.b32")
def _(ops: Operands, d: str, p: str, mask: str) -> list[str]:
    asked = f"('warp', 'vote.ballot', {ops.bits(mask, 32)}, {ops.predicate(p)})"
    return [f"told_ = yield {asked}", *ops.put(d, "told_", "b32")]


@rule(r"match\.any\.sync\.b(32|64)")
def _(ops: Operands, d: str, a: str, mask: str, width: str) -> list[str]:
    asked = f"('warp', 'match.any', {ops.bits(mask, 32)}, {ops.bits(a, int(width))})"
    return [f"told_ = yield {asked}", *ops.put(d, "told_", "b32")]


@rule(r"match\.all\.sync\.b(32|64)")
def _(ops: Operands, d: str, a: str, mask: str, width: str) -> list[str]:
    target, _, found = d.partition("|")
    asked = f"('warp', 'match.all', {ops.bits(mask, 32)}, {ops.bits(a, int(width))})"
    return [f"told_, {found[1:] or '_'} = yield {asked}", *ops.put(target, "told_", "b32")]


@rule(r"nanosleep\.u32")
def _(ops: Operands, time: str) -> list[str]:
    return ["yield TURN"]


# The way through the kernel; translate.py writes branches itself.


@rule(r"ret|exit")
def _(ops: Operands) -> list[str]:
    return ["return"]


@rule(r"trap")
def _(ops: Operands) -> list[str]:
    return ["raise Fault('trap', 'the kernel ended itself')"]


def misaligned(address: int, size: int) -> None:
    """Raises what an access gets whose address does not fit its size."""
    raise Fault("misaligned", f"{address:#x} is no multiple of {size}")


NAMES: dict[str, Any] = {
    "values": values,
    "math": values.math,
    "CELL": values.CELL,
    "Fault": Fault,
    "TURN": ("turn",),
    "BARRIER": ("barrier", "sync", True),
    **{
        each.__name__: each
        for each in (
            *(values.bits_of_f32, values.bits_of_f64, values.f32_of_bits, values.f64_of_bits),
            *(values.fma_f32, values.smaller, values.larger),
            *(quotient, remainder, highest, inserted, extracted, picked, misaligned),
        )
    },
}
"""What the Python of a kernel may name beside its registers."""

SPACES = ("global", "shared", "local")
CELLS = tuple((space, kind) for space in SPACES for kind in VIEWS)

APPROXIMATE = re.compile(r"\w+\.approx\b")
"""Opcodes whose result PTX leaves open in its last bits."""
