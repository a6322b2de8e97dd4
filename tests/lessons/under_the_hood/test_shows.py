"""What lesson 07 shows: tables of 70 columns, from the record, and a word where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_course.hardware.compiled.toolchain import has_compiler
from gpu_course.lessons.under_the_hood.listings import recorded
from gpu_course.lessons.under_the_hood.shows import (
    line_by_line,
    listing,
    mixes,
    on_an_sm,
    own_line,
    ptx_and_sass,
    show_line,
)
from gpu_course.notebook.note import Note
from gpu_course.notebook.pictures import Picture

WIDTH = 70


def assert_narrow(note: Note) -> None:
    assert max(map(len, note.text.splitlines())) <= WIDTH


def test_a_listing_is_from_the_record_or_a_word_on_what_there_is() -> None:
    assert listing("fused") == recorded("fused")
    assert "no kernel 'rotate' is on record" in repr(listing("rotate"))


def test_lines_are_told_with_how_many_instructions_they_have() -> None:
    shown = recorded("fused")
    note = line_by_line(shown)
    assert_narrow(note)
    rows = note.text.splitlines()
    assert rows[0] == "35 instructions, compute capability 8.0"
    assert sum(int(row.split()[1]) for row in rows[3:]) == shown.instructions


def test_a_line_is_told_in_both_languages() -> None:
    note = ptx_and_sass(recorded("fused"), "out[i]")
    assert_narrow(note)
    ptx, _, sass = note.text.partition("SASS")
    assert "fma.rn.f32" in ptx and "FFMA" in sass and "more" not in sass
    assert "..." in ptx_and_sass(recorded("matmul_register"), "out[row, col] = sums").text
    assert "has no line with" in repr(ptx_and_sass(recorded("fused"), "nothing like it"))


def test_kinds_stand_side_by_side() -> None:
    both = [recorded("keep_it_in_registers, the stub", each) for each in ("8.0", "12.0")]
    note = mixes(*both)
    assert_narrow(note)
    rows = {row[:22].strip(): row[22:].split() for row in note.text.splitlines()}
    assert rows["all"] == [f"{each.instructions:,}" for each in both]
    assert rows["bytes of stack"] == ["128", "128"]
    assert rows["LDL"] == [str(each.mix["LDL"]) for each in both]


def test_blocks_on_an_sm_are_those_of_the_record() -> None:
    note = on_an_sm("06_matmul/matmul_register", 64, ["8.0", "12.0"])
    assert_narrow(note)
    first = note.text.splitlines()[2].split()
    assert first[0] == "8.0" and first[3:5] == ["8", "25%"]


def test_the_picture_of_a_line_is_shown_or_what_is_amiss() -> None:
    assert isinstance(show_line(recorded("fused"), "out[i]"), Picture)
    assert isinstance(show_line(recorded("fused"), "nothing like it"), Note)


def own(out, a):
    out[0] = a[0]


@pytest.mark.skipif(has_compiler(), reason="there is a compiler here")
def test_a_kernel_of_ones_own_asks_for_the_compiler() -> None:
    numbers = np.zeros(1, np.float32)
    assert "pip install" in repr(own_line(own, numbers, numbers, line=2))
