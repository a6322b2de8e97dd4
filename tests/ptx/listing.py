"""From the text of PTX to its parts: kernels, registers, arrays and instructions.

The grammar is that part of the PTX ISA which NVVM prints for a kernel. Nothing here knows what an
instruction does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


class Unreadable(Exception):
    """A line of PTX that has no place in the grammar here."""


@dataclass(frozen=True)
class Array:
    """Memory that a kernel declares: shared by a block, or a thread's own.

    Attributes:
        name: its symbol.
        space: "shared" or "local".
        size: in bytes; 0 for dynamic shared memory, whose size the launch says.
    """

    name: str
    space: str
    size: int


@dataclass(frozen=True)
class Instruction:
    """One instruction, or a label.

    Attributes:
        opcode: with all its parts, such as "shfl.sync.down.b32"; "" for a label.
        operands: as they are written; of "%r1|%p2" both are one operand.
        guard: the predicate it depends on, such as "%p1"; "" for none.
        wanted: what the guard must be.
        line: in the text, from 1.
        label: its name, where this is a label.
    """

    opcode: str
    operands: tuple[str, ...] = ()
    guard: str = ""
    wanted: bool = True
    line: int = 0
    label: str = ""

    @property
    def root(self) -> str:
        """The opcode's first word: "shfl"."""
        return self.opcode.partition(".")[0]

    @property
    def parts(self) -> tuple[str, ...]:
        """The words behind the first: ("sync", "down", "b32")."""
        return tuple(self.opcode.split(".")[1:])


@dataclass(frozen=True)
class Kernel:
    """One `.entry`.

    Attributes:
        name: its symbol.
        parameters: (name, type), such as ("k_param_0", "u64"), in order.
        registers: prefix of the names, or the whole name, -> type: {"rd": "b64", "SP": "b64"}.
        arrays: of shared and local memory.
        body: instructions and labels in order.
    """

    name: str
    parameters: tuple[tuple[str, str], ...]
    registers: dict[str, str]
    arrays: tuple[Array, ...]
    body: tuple[Instruction, ...]

    def opcodes(self) -> set[str]:
        """Returns every opcode that stands in it."""
        return {each.opcode for each in self.body if each.opcode}


_ARRAY = re.compile(r"\.(shared|local) +(?:\.align +\d+ +)?\.[a-z]\d+ +([\w$]+) *(?:\[(\d*)\])?$")
_PARAMETER = re.compile(r"\.param +\.([a-z]\d+) +([\w$]+)$")
_REGISTER = re.compile(r"\.reg +\.(\w+) +%([\w$]+)(?:<\d+>)?$")
_GUARD = re.compile(r"@(!?)(%\w+) ")
_IGNORED = (".version", ".target", ".address_size", ".common", ".pragma", ".maxntid")


def parse(text: str) -> Kernel:
    """Returns the one kernel of a PTX text.

    Raises:
        Unreadable: a line that is none of these things, or another number of kernels than one.

    >>> text = ".visible .entry k(.param .u64 k_param_0) { .reg .b32 %r<2>; $L_1: @!%p1 bra $L_1; }"
    >>> kernel = parse(text)
    >>> kernel.name, kernel.parameters, kernel.registers
    ('k', (('k_param_0', 'u64'),), {'r': 'b32'})
    >>> [(each.label or each.opcode, each.guard, each.wanted) for each in kernel.body]
    [('$L_1', '', True), ('bra', '%p1', False)]
    """
    name, parameters = "", []
    registers: dict[str, str] = {}
    arrays: list[Array] = []
    body: list[Instruction] = []
    for line, said in _statements(text):
        words = re.sub(r"^(\.(visible|weak|extern) )+", "", said)
        if found := re.match(r"\.entry +([\w$]+) *\((.*)\)(.*)$", words, re.S):
            if name:
                raise Unreadable(f"line {line}: a second kernel, {found[1]}, stands beside {name}")
            name = found[1]
            for each in filter(None, map(str.strip, found[2].split(","))):
                parameter = _PARAMETER.match(each)
                if parameter is None:
                    raise Unreadable(f"line {line}: parameter {each!r}")
                parameters.append((parameter[2], parameter[1]))
        elif found := _ARRAY.match(words):
            arrays.append(Array(found[2], found[1], int(found[3] or 0)))
        elif found := _REGISTER.match(words):
            registers[found[2]] = found[1]
        elif words.startswith(_IGNORED):
            continue
        elif words.startswith("."):
            raise Unreadable(f"line {line}: directive {words!r}")
        elif words.endswith(":"):
            body.append(Instruction("", label=words[:-1], line=line))
        else:
            body.append(_instruction(words, line))
    if not name:
        raise Unreadable("there is no kernel in this text")
    return Kernel(name, tuple(parameters), registers, tuple(arrays), tuple(body))


_STATEMENT = re.compile(
    r"""\s*(?:
        [{}]                                              # of a body
        | (?P<label> [\w$]+ \s* :)
        | (?P<entry> (?:\.visible\s+|\.weak\s+)* \.entry [^{;]*)
        | (?P<other> (?: [^;{}] | \{ [^{}]* \} )+) ;     # braces within it are those of a vector
    )""",
    re.X,
)


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yields (line, statement), each in one line; braces of bodies are left out."""
    text = re.sub(
        r"//[^\n]*|/\*.*?\*/", lambda found: "\n" * found[0].count("\n"), text, flags=re.S
    )
    # Directives of the module end with their line.
    text = re.sub(r"^\s*(\.(?:version|target|address_size)[^\n]*)$", r"\1;", text, flags=re.M)
    at, line, counted = 0, 1, 0
    text = text.rstrip()
    while at < len(text):
        found = _STATEMENT.match(text, at)
        if found is None:
            raise Unreadable(f"line {line}: {' '.join(text[at : at + 60].split())!r}")
        at = found.end()
        if found.lastgroup:
            begun = found.start(found.lastgroup)
            line += text.count("\n", counted, begun)
            counted = begun
            yield line, " ".join(found[found.lastgroup].split())


def _instruction(words: str, line: int) -> Instruction:
    guard, wanted = "", True
    if found := _GUARD.match(words):
        guard, wanted = found[2], not found[1]
        words = words[found.end() :]
    opcode, _, rest = words.partition(" ")
    if not re.fullmatch(r"[a-z][\w.:]*", opcode):
        raise Unreadable(f"line {line}: {words!r}")
    return Instruction(opcode, tuple(_operands(rest)), guard, wanted, line)


def _operands(text: str) -> Iterator[str]:
    depth = 0
    word = ""
    for sign in text:
        depth += (sign in "{[(") - (sign in "}])")
        if sign == "," and depth == 0:
            yield word.strip()
            word = ""
        else:
            word += sign
    if word.strip():
        yield word.strip()
