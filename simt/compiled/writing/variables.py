"""What a function's variables and temporaries hold from one statement to the next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from simt.compiled.facts.affine import Affine
from simt.compiled.facts.analysis import Analysis, NotCompiled
from simt.compiled.writing.arithmetic import Arithmetic, Number, memory_type, number_type
from simt.compiled.writing.arrays import Memory
from simt.compiled.writing.context import Context
from simt.compiled.writing.masks import Here, Masks
from simt.compiled.writing.text import Register
from simt.compiled.writing.values import Value, Values, Worth
from simt.compiled.writing.views import View
from simt.kernel import ir, types
from simt.report import Dim3


@dataclass(frozen=True)
class Kept:
    """A number that is kept.

    Attributes:
        type: its type.
        place: pointer to it, or to one for each lane.
        alike: whether all lanes share it.
    """

    type: Number
    place: Register
    alike: bool


@dataclass
class Frame:
    """What belongs to one call of a function, or to the kernel.

    Attributes:
        analysis: what its text says of its variables.
        types: variable -> its type.
        variables: variable -> Kept, or the array that it stands for.
        temporaries: the same by number, or a tuple of them.
        affine: what is known of its whole numbers before a launch.
        given: variable -> an i8 for each lane, whether it has been given there.
    """

    analysis: Analysis
    types: dict[str, Any]
    variables: dict[str, Kept | Memory | View] = field(default_factory=dict)
    temporaries: dict[int, Any] = field(default_factory=dict)
    given: dict[str, Register] = field(default_factory=dict)
    affine: Affine | None = None


def frame_of(code: ir.Code, block: Dim3, alike: dict[str, Any]) -> Frame:
    """Returns the frame of a function in which nothing has been given yet.

    Args:
        code: the function.
        block: of the launch.
        alike: whether all lanes give a parameter the same; True if left out.
    """
    analysis = Analysis(code, block, alike)
    affine = Affine(code, analysis, block) if not alike else None
    return Frame(analysis, dict(code.types), affine=affine)


class Variables:
    """The variables of the function that is being written.

    Attributes:
        frame: of the call under way.
    """

    def __init__(
        self, context: Context, masks: Masks, arithmetic: Arithmetic, values: Values, frame: Frame
    ) -> None:
        self.context, self.w = context, context.w
        self.masks, self.arithmetic, self.values = masks, arithmetic, values
        self.frame = frame

    def give(self, name: str, dtype: Number, found: Value | Worth, here: Here) -> None:
        """Sets a variable in the lanes that are here."""
        w, type_, frame = self.w, memory_type(dtype), self.frame
        if frame.analysis.alike.get(name) is True:
            if name not in frame.variables:
                frame.variables[name] = Kept(dtype, w.memory(type_), alike=True)
            text = self.arithmetic.converted(_shared(found), found.type, dtype)
            w.store(self.arithmetic.in_memory(text, dtype), self._place(name), type_)
            return
        if name not in frame.variables:
            frame.variables[name] = Kept(dtype, self.values.room(dtype), alike=False)
        cells = self._place(name)
        checked = self._given(name) if name in frame.analysis.checked else ""
        with w.loop(self.masks.lanes_up_to(here)) as lane:
            text = self.values.converted(found, lane, dtype)
            text = self.arithmetic.in_memory(text, dtype)
            if here.cells:
                part = self.masks.takes_part(here, lane)
                old = w.load(cells, type_, lane)
                text = w.make(f"select i1 {part}, {type_} {text}, {type_} {old}")
            w.store(text, cells, type_, lane)
            if checked:
                part = self.masks.takes_part(here, lane)
                old = w.load(checked, "i8", lane)
                w.store(w.make(f"select i1 {part}, i8 1, i8 {old}"), checked, "i8", lane)

    def give_parts(self, name: str, type_: Any, found: Any, here: Here) -> None:
        """Sets a variable that is a tuple, part by part, in the lanes that are here."""
        alike = self.frame.analysis.alike.get(name)
        if not isinstance(found, tuple) or name in self.frame.analysis.checked:
            raise NotCompiled("a tuple of what is no number, or that lanes may not have")
        for k, (each, own) in enumerate(zip(found, type_.elements, strict=True)):
            part = f"{name}[{k}]"
            self.frame.analysis.alike[part] = isinstance(alike, tuple) and alike[k] is True
            if isinstance(own, types.TupleType):
                raise NotCompiled("a tuple of tuples")
            dtype = number_type(own, "a tuple of what is no number")
            self.give(part, dtype, each, here)

    def parts(self, name: str, type_: Any) -> tuple[Value, ...]:
        """Returns what a variable holds that is a tuple."""
        each = [self.frame.variables.get(f"{name}[{k}]") for k in range(len(type_.elements))]
        if not each or not all(isinstance(part, Kept) for part in each):
            raise NotCompiled("a tuple that is not known")
        found: tuple[Value, ...] = self.read_aside(tuple(each))
        return found

    def _place(self, name: str) -> Register:
        kept = self.frame.variables[name]
        if isinstance(kept, Memory | View):
            raise NotCompiled(f"{name} is an array here and a number there")
        return kept.place

    def _given(self, name: str) -> Register:
        """Memory that says which lanes a variable has been given in."""
        given = self.frame.given
        if name not in given:
            given[name] = self.context.zeroed("i8", self.context.lanes, self.context.lanes)
        return given[name]

    def forget(self) -> None:
        """Takes all variables that a function may read too early for ones that it has not given."""
        for name in sorted(self.frame.analysis.checked):
            self.masks.zero(self._given(name))

    def check_given(self, variable: str) -> None:
        """Gives up where a lane reads a variable that it has not been given."""
        if variable not in self.frame.analysis.checked:
            return
        w = self.w
        missing = w.memory("i8")
        w.store("0", missing, "i8")
        cells = self._given(variable)
        with w.loop(str(self.context.lanes)) as lane:
            part = self.masks.takes_part(self.masks.here, lane)
            unset = w.make(f"icmp eq i8 {w.load(cells, 'i8', lane)}, 0")
            bad = w.make(f"zext i1 {w.make(f'and i1 {part}, {unset}')} to i8")
            w.store(w.make(f"or i8 {w.load(missing, 'i8')}, {bad}"), missing, "i8")
        self.context.suspect_if(w.make(f"icmp ne i8 {w.load(missing, 'i8')}, 0"))

    def put_aside(self, number: int, found: Any) -> None:
        """Sets a temporary, of all lanes, to a value, a tuple of them, or an array."""
        temporaries = self.frame.temporaries
        if isinstance(found, Memory | View):
            temporaries[number] = found
            return
        alike = self.frame.analysis.alike.get(number, False)
        temporaries[number] = self._kept(found, alike, temporaries.get(number))

    def _kept(self, found: Any, alike: Any, known: Any) -> Any:
        """Copies a value to memory of its own, which is kept from one time to the next."""
        if isinstance(found, tuple):
            old = known if isinstance(known, tuple) else (None,) * len(found)
            each = alike if isinstance(alike, tuple) else (alike,) * len(found)
            return tuple(map(self._kept, found, each, old))
        if not isinstance(found, Value):
            raise NotCompiled("a tuple with a part that is no number")
        w, type_ = self.w, memory_type(found.type)
        if alike is True:
            place = known or Kept(found.type, w.memory(type_), alike=True)
            w.store(self.arithmetic.in_memory(found.text, found.type), place.place, type_)
            return place
        place = known or Kept(found.type, w.memory(type_, self.context.lanes), alike=False)
        self.values.put(found, found.type, place.place)
        return place

    def read(self, kept: Any, dtype: Any, lane: Register | None) -> str:
        """Returns a number that is kept, in a type, of a lane, or (None) of all lanes alike."""
        if not isinstance(kept, Kept):
            raise NotCompiled("a value that is no number")
        at = None if kept.alike else lane
        text = self.w.load(kept.place, memory_type(kept.type), at)
        text = self.arithmetic.from_memory(text, kept.type)
        return self.arithmetic.converted(text, kept.type, dtype)

    def read_aside(self, kept: Any) -> Any:
        """Returns what a temporary holds: a value, a tuple of them, or an array."""
        if isinstance(kept, tuple):
            return tuple(map(self.read_aside, kept))
        if isinstance(kept, Memory | View):
            return kept
        if not kept.alike:
            return Value(kept.type, lanes=kept.place)
        text = self.w.load(kept.place, memory_type(kept.type))
        return Value(kept.type, self.arithmetic.from_memory(text, kept.type))


def _shared(found: Value | Worth) -> str:
    if isinstance(found, Worth):
        raise NotCompiled("a number that all lanes share, and that is not worked out")
    return found.text
