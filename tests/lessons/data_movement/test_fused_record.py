"""The record of torch.compile and Triton: it is of what is shown, and it adds up."""

from __future__ import annotations

import importlib.util
import shutil

import pytest

from benchmarks import record_fused
from gpu_course.lessons.data_movement.shows import (
    compiled_passes,
    compiled_source,
    fused_record,
    triton_source,
    triton_tried,
)

RECORD = fused_record()
MODULE = """
cpp_fused_add_0 = async_compile.cpp_pybinding(['const float*'], r'''
extern "C"  void  kernel(const float* in_ptr0)
{
    {
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(4L); x0+=1L)
        {
            for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(32L); x1+=16L)
            {
                if(C10_LIKELY(x1 >= static_cast<int64_t>(0)))
                {
                    auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + \
static_cast<int64_t>(x1 + 32L*x0), static_cast<int64_t>(16));
                    auto tmp1 = at::vec::Vectorized<float>::loadu(in_ptr1 + x1, 16);
                }
            }
            tmp2.store(out_ptr0 + x0);
        }
    }
    inductor_cpu_integer_div_error_flag = nullptr;
}
''')
"""


def test_loops_are_told_in_fewer_words() -> None:
    assert record_fused.loops(MODULE).splitlines() == [
        "for(x0=0; x0<4; x0+=1)",
        "  for(x1=0; x1<32; x1+=16)",
        "    tmp0 = Vec::loadu(in_ptr0 + x1 + 32*x0, 16);",
        "    tmp1 = Vec::loadu(in_ptr1 + x1, 16);",
        "  tmp2.store(out_ptr0 + x0);",
    ]


def test_a_pass_is_one_over_the_whole_array() -> None:
    source = record_fused.loops(MODULE)
    assert record_fused.passes(source, 4 * 32) == {"loads": 1, "stores": 0}
    assert record_fused.passes(source, 32) == {"loads": 1, "stores": 0}
    assert record_fused.passes(source, 4) == {"loads": 0, "stores": 1}


@pytest.mark.parametrize("name", RECORD["compiled"])
def test_the_record_counts_the_loops_that_it_has(name: str) -> None:
    kept = RECORD["compiled"][name]
    found = record_fused.passes(kept["source"], RECORD["rows"] * RECORD["cols"])
    assert found == {"loads": kept["loads"], "stores": kept["stores"]}
    assert repr(compiled_source(name)) == kept["source"].rstrip()


def test_the_table_has_a_line_for_each_function_and_fits() -> None:
    lines = repr(compiled_passes()).splitlines()
    assert [line.split()[0] for line in lines[3:]] == list(RECORD["compiled"])
    assert all(f"{name} {RECORD['versions'][name]}" in lines[0] for name in ("torch", "g++"))
    assert max(map(len, lines)) <= 70


def test_the_record_is_of_the_triton_program_that_is_shown() -> None:
    assert RECORD["triton"]["source"] == record_fused.triton_source()
    assert repr(triton_source()) == record_fused.triton_source().rstrip()
    assert max(len(line) for line in record_fused.triton_source().splitlines()) <= 72


def test_without_triton_the_record_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    said = repr(triton_tried())
    assert said.startswith("Triton is not installed here. By a record of Triton")
    assert "ld.global" in said and max(map(len, said.splitlines())) <= 70


@pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton is 286 MB, and not installed here"
)
def test_triton_is_run_by_its_interpreter_and_makes_its_record_again() -> None:
    assert "run by its interpreter" in repr(triton_tried())
    anew = record_fused.made_by_triton()
    kept = {key: RECORD["triton"][key] for key in anew}
    assert anew == kept or record_fused.versions() != RECORD["versions"]


@pytest.mark.long(25)
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs g++")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")  # of PyTorch's own modules
def test_torch_compile_writes_the_record_again() -> None:
    import torch

    if torch.__version__.partition("+")[0] != RECORD["versions"]["torch"]:
        pytest.skip(f"the record is of torch {RECORD['versions']['torch']}")
    assert record_fused.compiled() == RECORD["compiled"]
