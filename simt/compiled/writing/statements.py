"""Statements: each is done by the lanes that come to it, in a loop of its own over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from simt.compiled.facts.analysis import NotCompiled
from simt.compiled.facts.exits import always_leaves, any_leaves, leaves_loop, may_leave
from simt.compiled.writing.accesses import Accesses
from simt.compiled.writing.arithmetic import Number, number_type
from simt.compiled.writing.arrays import Memory
from simt.compiled.writing.context import Context
from simt.compiled.writing.expressions import Expressions
from simt.compiled.writing.masks import Here, Masks
from simt.compiled.writing.text import Register
from simt.compiled.writing.together import Together
from simt.compiled.writing.values import Value, Values, parts_of
from simt.compiled.writing.variables import Variables, frame_of
from simt.compiled.writing.views import View
from simt.compiled.writing.words import Words
from simt.kernel import ir, types
from simt.kernel.types import INT64
from simt.vocabulary.loops import MAX_TURNS

MAX_CALLS = 16
"""Functions that are written inside one another."""


@dataclass(frozen=True)
class _Loop:
    """A loop under way: memory that says which lanes have left it, or skip the rest of a turn."""

    broken: Register
    continued: Register


@dataclass(frozen=True)
class _Call:
    """A device function under way.

    Attributes:
        code: the function.
        results: memory for what each lane returns, and its type; one of each for each part of a
            tuple. Nothing where it returns nothing.
    """

    code: ir.Code
    results: tuple[tuple[Register, Number], ...]


class Statements:
    """The statements of a function, and of the device functions that it calls.

    Args:
        context, masks, values, variables, accesses, together, words: of the function.
    """

    def __init__(
        self,
        context: Context,
        masks: Masks,
        values: Values,
        variables: Variables,
        accesses: Accesses,
        together: Together,
        words: Words,
    ) -> None:
        self.context, self.w, self.masks = context, context.w, masks
        self.values, self.arithmetic, self.variables = values, values.arithmetic, variables
        self.accesses, self.order = accesses, accesses.order
        self.expressions = Expressions(
            context, masks, values, variables, accesses, together, words, self._inline
        )
        self._loops: list[_Loop] = []
        self._calls: list[_Call] = []

    def block(self, body: ir.Block, *, last: bool = False) -> bool:
        """Writes statements, which at least one lane comes to; returns whether any may go on.

        Args:
            body: the statements.
            last: whether the function ends with them.
        """
        for number, node in enumerate(body):
            if node.steps:
                self.context.spend(node.steps)
            if last and isinstance(node, ir.If) and self._stay_together(node, body[number + 1 :]):
                return True
            goes_on = self._statement(node)
            if not goes_on:
                return False
            if may_leave(node) and number + 1 < len(body):
                # Nothing after it is done once nobody is left.
                n = self.w.number()
                nobody = self.masks.is_empty(self.masks.here)
                self.w.do(f"br i1 {nobody}, label %over{n}, label %on{n}")
                self.w.lines.append(f"on{n}:")
                self._within(body[number + 1 :], self.masks.here, last=last)
                self.w.label(f"over{n}")
                return True
        return True

    def _statement(self, node: ir.Statement) -> bool:
        if isinstance(node, ir.Assign):
            self._assign(node)
        elif isinstance(node, ir.Store):
            self._store(node)
        elif isinstance(node, ir.If):
            self._if(node)
        elif isinstance(node, ir.Loop):
            self._loop(node)
        elif isinstance(node, ir.Leave):
            self._leave(node)
            return False
        return True

    def _assign(self, node: ir.Assign) -> None:
        target, value, frame = node.target, node.value, self.variables.frame
        if node.empty:
            return
        if isinstance(target, str) and isinstance(frame.types.get(target), types.ArrayType):
            self._name_array(target, self.expressions.array_or_view(value))
        elif isinstance(target, int):
            aside = self.expressions.worked_out(value)
            if isinstance(aside, View):
                known = frame.temporaries.get(target)
                aside = self.expressions.views.kept(aside, known, self.masks.everybody)
            self.variables.put_aside(target, aside)
        elif target is None:
            self.expressions.worked_out(value)
        else:
            if isinstance(node.type, types.TupleType):
                parts = self.expressions.worked_out(value)
                self.variables.give_parts(target, node.type, parts, self.masks.here)
                return
            found: Any = None
            if isinstance(node.type, np.dtype) and frame.analysis.alike.get(target) is not True:
                found = self.expressions.worth(value)
            if found is None:
                found = self.expressions.worked_out(value)
            dtype = number_type(node.type, f"{target} holds no number")
            self.variables.give(target, dtype, found, self.masks.here)

    def _name_array(self, name: str, array: Memory | View) -> None:
        """Gives an array a name, which is nothing that happens at run time; but for a view."""
        frame = self.variables.frame
        if isinstance(array, View) and name not in frame.analysis.checked:
            known = frame.variables.get(name)
            if known is not None and not isinstance(known, View):
                raise NotCompiled("a name of an array and of a part of one")
            frame.variables[name] = self.expressions.views.kept(array, known, self.masks.here)
            return
        if frame.variables.setdefault(name, array) is not array or name in frame.analysis.checked:
            raise NotCompiled("a name of several arrays, or of none in some lanes")

    def _store(self, node: ir.Store) -> None:
        if node.field:
            raise NotCompiled("a field of a structure")
        value = self.expressions.worked_out(node.value)
        memory, cell = self.expressions.cell(node)
        if isinstance(memory, View):
            element = self.expressions.views.element(memory, cell.values())
            self.accesses.store(node, memory.memory, element, value)
            return
        axes = cell.axes()
        if self.accesses.can_be_whole(memory, axes, loads=False):
            self.accesses.store_whole(node, memory, axes, cell.at(["0"])[0], value)
        elif self.accesses.can_be_rows(memory, axes, loads=False):
            self.accesses.store_rows(node, memory, axes, cell.at_ends(), value)
        else:
            self.accesses.store(node, memory, cell.values(), value)

    # Branches

    def _if(self, node: ir.If) -> None:
        alike = self.expressions.is_alike(node.test)
        w, before = self.w, self.masks.here
        if not alike and isinstance(node.test.type, np.dtype) and not may_leave(node):
            self.expressions.prepare(node.test)
            all_yes = self.expressions.all_hold(node.test)
            if all_yes is None:
                self._if_apart(node)
                return
            with w.either(all_yes) as otherwise:
                self._count_all(node, before)
                self.block(node.body)
                self.masks.here = before
                otherwise()
                self._if_apart(node)
            return
        test = self.expressions.worked_out(node.test)
        if alike:
            taken = self.values.truth(test)
            if may_leave(node):
                before = self.masks.copy(before)
            self._count_all(node, before)
            n = w.number()
            w.do(f"br i1 {taken}, label %yes{n}, label %no{n}")
            w.lines.append(f"yes{n}:")
            self._arm(node.body, before)
            w.do(f"br label %end{n}")
            w.lines.append(f"no{n}:")
            self._arm(node.orelse, before)
            w.label(f"end{n}")
            self.masks.here = before
            return
        self._part(node, test)

    def _stay_together(self, node: ir.If, rest: ir.Block) -> bool:
        """Writes a branch at which lanes may leave, and what follows it, twice.

        Once for where none of them leaves, so that it is still known then that all are there.
        Returns whether it could.
        """
        if not may_leave(node) or node.orelse or self.masks.here.cells or not rest:
            return False
        if not isinstance(node.test.type, np.dtype):
            return False
        w, before = self.w, self.masks.here
        if self.expressions.is_alike(node.test):
            if not always_leaves(node.body):
                return False
            test = self.expressions.worked_out(node.test)
            self._count_all(node, before)
            with w.either(self.values.truth(test)) as otherwise:
                self.block(node.body)
                self.masks.here = before
                otherwise()
                self.block(rest, last=True)
                self.masks.here = before
            return True
        self.expressions.prepare(node.test)
        all_no = self.expressions.all_hold(node.test, true=False)
        if all_no is None:
            self._leave_apart(node, rest)
            return True
        with w.either(all_no) as otherwise:
            self._count_all(node, before)
            self.block(rest, last=True)
            self.masks.here = before
            otherwise()
            self._leave_apart(node, rest)
            self.masks.here = before
        return True

    def _leave_apart(self, node: ir.If, rest: ir.Block) -> None:
        """A branch, already prepared, at which some lanes leave, and what the others do then."""
        self._if_apart(node)
        some = self.w.make(f"xor i1 {self.masks.is_empty(self.masks.here)}, true")
        with self.w.when(some):
            self.block(rest, last=True)

    def _count_all(self, node: ir.If, here: Here) -> None:
        """Counts a branch that all lanes take alike."""
        if node.branches:
            branches = self.context.count(node.test.line, "branches")
            self.w.add(self.masks.warps_here(here), branches)

    def _if_apart(self, node: ir.If) -> None:
        """A branch whose test has been prepared."""
        test = self.expressions.prepared(node.test, number_type(node.test.type))
        self._part(node, test)

    def _part(self, node: ir.If, test: Value) -> None:
        """A branch at which lanes part."""
        before = self.masks.here
        yes = self.masks.where(before, lambda lane: self.values.truth_of(test, lane))
        if node.branches:
            self.masks.count_branch(node.test.line, before, yes)
        no = self.masks.without(before, yes) if node.orelse else None
        passed = self.masks.copy(before) if may_leave(node) else before
        self._divergent_arm(node.body, yes, passed)
        if no is not None:
            self._divergent_arm(node.orelse, no, passed)
        self.masks.here = passed

    def _arm(self, body: ir.Block, before: Here) -> None:
        """An arm that all lanes take alike."""
        self.masks.here = before
        if not body:
            return
        goes_on = self.block(body)
        if not goes_on or self.masks.here is not before:
            if before.fixed:
                raise NotCompiled("all lanes may leave by one arm of a branch")
            if not goes_on:
                self.masks.clear(before)
            else:
                self.masks.set_to(before, self.masks.here)
        self.masks.here = before

    def _divergent_arm(self, body: ir.Block, here: Here, passed: Here) -> None:
        """An arm that some lanes take; those that leave in it do not come past."""
        if not body:
            return
        w = self.w
        with w.when(w.make(f"xor i1 {self.masks.is_empty(here)}, true")):
            taken = here
            if passed is not self.masks.everybody and any_leaves(body):
                taken = self.masks.copy(here)
            self.masks.here = here
            goes_on = self.block(body)
            if any_leaves(body):
                left = self.masks.here if goes_on else None
                with w.loop(str(self.context.lanes)) as lane:
                    was = w.make(f"icmp ne i8 {w.load(taken.cells, 'i8', lane)}, 0")
                    stays = "false"
                    if left is not None:
                        stays = w.make(f"icmp ne i8 {w.load(left.cells, 'i8', lane)}, 0")
                    leaves = w.make(f"xor i1 {stays}, true")
                    gone = w.make(f"select i1 {was}, i1 {leaves}, i1 false")
                    old = w.load(passed.cells, "i8", lane)
                    w.store(w.make(f"select i1 {gone}, i8 0, i8 {old}"), passed.cells, "i8", lane)
                self.masks.count_lanes(passed)

    # Loops

    def _loop(self, node: ir.Loop) -> None:
        if node.waits:
            raise NotCompiled("a loop that waits for others")
        before = self.masks.here
        self.block(node.before)
        most, turns = self._most_turns(node), ""
        if most:
            turns = self.w.memory("i64")
            self.w.store("0", turns, "i64")
        apart = id(node) in self.variables.frame.analysis.divergent
        alike = self.expressions.is_alike(node.test)
        number = self.w.number()
        if not apart and not leaves_loop(node.body):
            self._loop_together(node, number, most, turns)
        else:
            self._loop_apart(node, number, most, turns, alike=alike)
        if not may_leave(node):
            # All that came to it come past it.
            self.masks.here = before

    def _loop_together(self, node: ir.Loop, n: int, most: str, turns: Register) -> None:
        """A loop that all lanes leave at the same turn, by its test."""
        w, before = self.w, self.masks.here
        self.order.enter_loop(node)
        made = self.context.no_turns()
        w.label(f"again{n}")
        self.order.turn()
        self._count_turn(most, turns, f"out{n}")
        if node.steps:
            self.context.spend(node.steps)
        taken = self.values.truth(self.expressions.worked_out(node.test))
        w.add(self.masks.warps_here(before), self.context.count(node.test.line, "branches"))
        w.do(f"br i1 {taken}, label %turn{n}, label %out{n}")
        w.lines.append(f"turn{n}:")
        if node.hopeless:
            self.context.suspect_if("true")
        self._turn_limit()
        self.context.turned(made)
        self.block(node.body)
        if self.masks.here is not before:
            self.masks.set_to(before, self.masks.here)
            self.masks.here = before
        self.block(node.after)
        w.do(f"br label %again{n}")
        w.lines.append(f"out{n}:")
        self.order.leave_loop()
        self.context.most_turns(node, made)
        if any_leaves(node.orelse):
            self._within(node.orelse, self.masks.copy(before))
        elif node.orelse:
            self.block(node.orelse)

    def _loop_apart(
        self, node: ir.Loop, n: int, most: str, turns: Register, *, alike: bool
    ) -> None:
        """A loop that lanes leave at different turns, or in the middle of one."""
        w, masks, before = self.w, self.masks, self.masks.here
        running = masks.copy(before)
        finished, broken, continued = (w.memory("i8", self.context.lanes) for _ in range(3))
        for cells in (finished, broken, continued):
            masks.zero(cells)
        self._loops.append(_Loop(broken, continued))
        self.order.enter_loop(node)
        made = self.context.no_turns()
        w.label(f"again{n}")
        self.order.turn()
        masks.here = running
        w.do(f"br i1 {masks.is_empty(running)}, label %out{n}, label %test{n}")
        w.lines.append(f"test{n}:")
        if most:
            self._end_untested(n, most, turns, running, finished)
        if node.steps:
            self.context.spend(node.steps)
        if not alike and not leaves_loop(node.body) and not before.cells:
            self._turn_together(node, n, running, made)
        taken = self._tested(node, running, finished, alike=alike)
        w.do(f"br i1 {masks.is_empty(taken)}, label %out{n}, label %turn{n}")
        w.lines.append(f"turn{n}:")
        if node.hopeless:
            self.context.suspect_if("true")
        self._turn_limit()
        self.context.turned(made)
        masks.zero(continued)
        masks.set_to(running, taken)
        self._within(node.body, running)
        self._join(running.cells, continued)
        masks.count_lanes(running)
        masks.here = taken
        self.block(node.after)
        w.do(f"br label %again{n}")
        w.lines.append(f"out{n}:")
        self.context.most_turns(node, made)
        self._loops.pop()
        self.order.leave_loop()
        ended = masks.room_around(finished)
        if node.orelse:
            masks.count_lanes(ended)
            with w.when(w.make(f"xor i1 {masks.is_empty(ended)}, true")):
                self._within(node.orelse, ended)
        if may_leave(node):
            self._join(finished, broken)
            masks.here = masks.count_lanes(ended)
        else:
            masks.here = before

    def _turn_together(self, node: ir.Loop, n: int, running: Here, made: Register) -> None:
        """A turn of a loop that all lanes of the block take: written once more, for all of them."""
        w, masks, everybody = self.w, self.masks, self.masks.everybody
        masks.here = everybody
        if self.expressions.does_something(node.test):
            masks.here = running
            return
        self.expressions.prepare(node.test)
        all_on = self.expressions.all_hold(node.test)
        if all_on is not None:
            here = w.make(f"icmp eq i64 {w.load(running.count, 'i64')}, {self.context.threads}")
            with w.when(w.make(f"and i1 {here}, {all_on}")):
                w.add(masks.warps_here(everybody), self.context.count(node.test.line, "branches"))
                if node.hopeless:
                    self.context.suspect_if("true")
                self._turn_limit()
                self.context.turned(made)
                self.block(node.body)
                masks.here = everybody
                self.block(node.after)
                w.do(f"br label %again{n}")
                w.lines.append(f"apart{n}:")
        masks.here = running

    def _tested(self, node: ir.Loop, running: Here, finished: Register, *, alike: bool) -> Here:
        """The lanes of a loop for which its test holds; the others are finished."""
        w, masks = self.w, self.masks
        test = self.expressions.worked_out(node.test)
        if alike:
            taken = masks.where(running, lambda lane: self.values.truth(test))
        else:
            taken = masks.where(running, lambda lane: self.values.truth_of(test, lane))
        masks.count_branch(node.test.line, running, taken)
        with w.loop(str(self.context.lanes)) as lane:
            part = masks.takes_part(running, lane)
            on = masks.takes_part(taken, lane)
            done = w.make(f"select i1 {part}, i1 {w.make(f'xor i1 {on}, true')}, i1 false")
            old = w.load(finished, "i8", lane)
            w.store(w.make(f"select i1 {done}, i8 1, i8 {old}"), finished, "i8", lane)
        return taken

    def _within(self, body: ir.Block, here: Here, *, last: bool = False) -> None:
        """Writes statements for the lanes of a mask, in which then those are left that go on."""
        self.masks.here = here
        goes_on = self.block(body, last=last)
        if not goes_on:
            self.masks.clear(here)
        elif self.masks.here is not here:
            self.masks.set_to(here, self.masks.here)
        self.masks.here = here

    def _join(self, into: Register, cells: Register) -> None:
        """Adds lanes to those of a mask's cells."""
        w = self.w
        with w.loop(str(self.context.lanes)) as lane:
            one, other = w.load(into, "i8", lane), w.load(cells, "i8", lane)
            w.store(w.make(f"or i8 {one}, {other}"), into, "i8", lane)

    def _most_turns(self, node: ir.Loop) -> str:
        """The turns after which a loop over arrays or tuples ends untested, or ""."""
        if node.most is None:
            return ""
        if not isinstance(node.most, ir.Call) or node.most.function is not MAX_TURNS:
            raise NotCompiled("a loop that ends after turns that nobody knows")
        found = [self.expressions.worked_out(each) for each in node.most.arguments]
        texts = [self._largest(each) for each in found]
        return self.arithmetic.extreme("min", texts, [INT64] * len(texts), INT64)

    def _largest(self, length: Value) -> str:
        """The largest that a lane has that is here, i64."""
        if not length.lanes:
            return self.values.in_type(length, INT64).text
        w, most, here = self.w, self.w.memory("i64"), self.masks.here
        w.store("0", most, "i64")
        with w.loop(str(self.context.lanes)) as lane, w.when(self.masks.takes_part(here, lane)):
            known, own = w.load(most, "i64"), self.values.converted(length, lane, INT64)
            more = w.make(f"icmp sgt i64 {own}, {known}")
            w.store(w.make(f"select i1 {more}, i64 {own}, i64 {known}"), most, "i64")
        return w.load(most, "i64")

    def _count_turn(self, most: str, turns: str, out: str) -> None:
        if not most:
            return
        w, n = self.w, self.w.number()
        count = w.load(turns, "i64")
        over = w.make(f"icmp eq i64 {count}, {most}")
        w.store(w.make(f"add i64 {count}, 1"), turns, "i64")
        w.do(f"br i1 {over}, label %{out}, label %more{n}")
        w.lines.append(f"more{n}:")

    def _end_untested(
        self, n: int, most: str, turns: Register, running: Here, finished: Register
    ) -> None:
        """Ends a loop after so many turns, for all lanes that are still in it."""
        w = self.w
        count = w.load(turns, "i64")
        w.store(w.make(f"add i64 {count}, 1"), turns, "i64")
        over = w.make(f"icmp eq i64 {count}, {most}")
        w.do(f"br i1 {over}, label %end{n}, label %more{n}")
        w.lines.append(f"end{n}:")
        self._join(finished, running.cells)
        w.do(f"br label %out{n}")
        w.lines.append(f"more{n}:")

    def _turn_limit(self) -> None:
        """Gives up where a launch has spent more steps than it may."""
        w = self.w
        most = self.context.slot("most steps")
        self.context.suspect_if(w.make(f"icmp sgt i64 {w.load(self.context.spent, 'i64')}, {most}"))

    def _leave(self, node: ir.Leave) -> None:
        w = self.w
        if node.how == "end":
            raise NotCompiled("a thread that an assertion ends")
        if node.how == "return":
            call = self._calls[-1] if self._calls else None
            if node.value is not None and call is not None and call.results:
                found = parts_of(self.expressions.worked_out(node.value))
                for each, (room, dtype) in zip(found, call.results, strict=True):
                    self.values.put_where(self.masks.here, each, dtype, room)
            return
        loop = self._loops[-1]
        cells = loop.broken if node.how == "break" else loop.continued
        with w.loop(str(self.context.lanes)) as lane:
            part = self.masks.takes_part(self.masks.here, lane)
            old = w.load(cells, "i8", lane)
            w.store(w.make(f"select i1 {part}, i8 1, i8 {old}"), cells, "i8", lane)

    # Device functions

    def _inline(self, node: ir.DeviceCall) -> Any:
        """Writes a device function where it is called; returns what it returns."""
        code, variables, before = node.code, self.variables, self.masks.here
        if any(call.code is code for call in self._calls) or len(self._calls) > MAX_CALLS:
            raise NotCompiled("a function that calls itself")
        each_type: tuple[Any, ...] = () if code.result is None else (code.result,)
        if isinstance(code.result, types.TupleType):
            each_type = code.result.elements
        dtypes = [number_type(each, "a function that returns no number") for each in each_type]
        given = [self.expressions.worked_out(each) for each in node.arguments]
        alike = {name: _is_alike(each) for name, each in zip(code.parameters, given, strict=True)}
        frame, loops = variables.frame, self._loops
        variables.frame, self._loops = frame_of(code, self.context.block, alike), []
        results = tuple((self.values.room(dtype), dtype) for dtype in dtypes)
        self._calls.append(_Call(code, results))
        self.masks.here = self.masks.copy(before)
        variables.forget()
        for (name, (wanted, own)), each in zip(code.parameters.items(), given, strict=True):
            self._hand_over(name, wanted, own, each)
        with self.order.call(node):
            self.block(code.body)
        self._calls.pop()
        variables.frame, self._loops = frame, loops
        self.masks.here = before
        found = tuple(Value(dtype, lanes=room) for room, dtype in results)
        if isinstance(code.result, types.TupleType):
            return found
        return found[0] if found else None

    def _hand_over(self, name: str, wanted: Any, own: Any, given: Any) -> None:
        """Sets a parameter of a device function."""
        if isinstance(given, Memory):
            self.variables.frame.variables[name] = given
        elif isinstance(given, View):
            everybody = self.masks.everybody
            kept = self.expressions.views.kept(given, None, everybody)
            self.variables.frame.variables[name] = kept
        elif isinstance(given, Value) and isinstance(wanted, np.dtype):
            dtype = number_type(own, f"{name} holds no number")
            found = self.values.in_type(given, wanted)
            self.variables.give(name, dtype, found, self.masks.everybody)
        elif isinstance(given, tuple) and isinstance(own, types.TupleType):
            parts = zip(given, wanted.elements, strict=True)
            found_parts = tuple(self._part_as(each, type_) for each, type_ in parts)
            self.variables.give_parts(name, own, found_parts, self.masks.everybody)
        else:
            raise NotCompiled(f"{name} is neither an array nor a number")

    def _part_as(self, part: Any, wanted: Any) -> Value:
        if not isinstance(part, Value):
            raise NotCompiled("a tuple with a part that is no number")
        return self.values.in_type(part, number_type(wanted, "a tuple of what is no number"))


def _is_alike(given: Any) -> Any:
    """Whether all lanes hand over the same; of a tuple, for each of its parts."""
    if isinstance(given, tuple):
        return tuple(map(_is_alike, given))
    return not isinstance(given, Value | View) or not getattr(given, "lanes", "lanes")
