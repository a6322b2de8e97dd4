"""Where the oracle's PTX comes from, and that nothing of the simulator is in the oracle."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.ptx import compiled
from tests.ptx.compiled import CAPABILITY, texts_of
from tests.ptx.launch import launch
from tests.ptx.listing import parse
from tests.ptx.probes import FILE
from tests.ptx.translate import Program

FLOATS = [np.zeros((24, 8), np.int64), np.zeros((24, 8)), *[np.ones(8, np.float32)] * 2]
ORACLE = ("listing", "values", "instructions", "translate", "memory", "launch")


@pytest.mark.parametrize("name", ORACLE)
def test_the_oracle_shares_nothing_with_the_simulator(name: str) -> None:
    tree = ast.parse(Path(__file__).with_name(f"{name}.py").read_text("utf-8"))
    named = {each.module or "" for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)}
    named |= {a.name for each in ast.walk(tree) if isinstance(each, ast.Import) for a in each.names}
    assert not {each.partition(".")[0] for each in named} & {"simt", "gpu_course", "numba"}
    ours = {each for each in named if each.startswith("tests")}
    assert ours <= {"tests.ptx", *(f"tests.ptx.{each}" for each in ORACLE)}


def test_shipped_is_what_numba_compiles(keep: Path) -> None:
    from numba import cuda, typeof

    found = parse(texts_of(FILE, "of_floats", FLOATS, None).shipped)
    names: dict[str, Any] = {}
    exec(compile(FILE.read_text("utf-8"), str(FILE), "exec"), names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        types = tuple(map(typeof, FLOATS))
        text, _ = cuda.compile_ptx(names["of_floats"].py_func, types, cc=CAPABILITY)
    right = parse(text)
    said = [(each.opcode, each.guard, len(each.operands)) for each in right.body]
    assert [(each.opcode, each.guard, len(each.operands)) for each in found.body] == said


def test_only_the_shipped_form_may_be_fused(keep: Path) -> None:
    """A product and a sum that name their rounding are left apart by ptxas, too."""
    texts = texts_of(FILE, "of_floats", FLOATS, keep)
    shipped, unfused = (parse(text).opcodes() for text in (texts.shipped, texts.unfused))
    assert {"mul.f32", "add.f32"} <= shipped
    assert {"mul.rn.f32", "add.rn.f32"} <= unfused
    assert not {"mul.f32", "add.f32", "sub.f32"} & unfused


def test_what_is_kept_is_not_compiled_again(
    keep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError("compiled a second time")

    first = texts_of(FILE, "shifted", [FLOATS[0], *[np.ones(8, np.int32)] * 2], tmp_path)
    monkeypatch.setattr(compiled, "compiled", never)
    assert texts_of(FILE, "shifted", [FLOATS[0], *[np.ones(8, np.int32)] * 2], tmp_path) == first
    with pytest.raises(AssertionError, match="second time"):
        texts_of(FILE, "shifted", [FLOATS[0], *[np.ones(8, np.int64)] * 2], tmp_path)


def test_arguments_that_do_not_fit_are_refused(keep: Path) -> None:
    texts = texts_of(FILE, "of_floats", FLOATS, keep)
    with pytest.raises(ValueError, match="parameters"):
        launch(Program.of(texts.shipped), 1, 8, FLOATS[:3])
    with pytest.raises(ValueError, match="contiguous"):
        launch(Program.of(texts.shipped), 1, 8, [*FLOATS[:3], np.ones(16, np.float32)[::2]])
