"""What lesson 10 shows: launches under a roof, solved kernels in a list, and what is not known."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from gpu_course import simulate
from gpu_course.errors import CourseError
from gpu_course.hardware import records
from gpu_course.lessons.roofline.roofs import roof
from gpu_course.lessons.roofline.shows import (
    kernel_of,
    kernels_of,
    layer_intensity,
    layer_under_roof,
    measured_share,
    rate_text,
    roofline,
    roofline_of_this_cpu,
    solved_under_roof,
)
from gpu_course.lessons.roofline.work import Work
from gpu_course.notebook.note import Note
from gpu_course.notebook.pictures import Picture
from gpu_course.puzzle import index
from tests.gpu_course.notebook.tutor.test_feedback import SOLUTIONS

ADD = Work("01_threads/zip_add", 1000, 12_000, 12_000)
PRODUCT = Work("06_matmul/matmul", 10**9, 10**7, 10**6)


@cuda.jit
def add(out, a, b):
    i = cuda.grid(1)
    out[i] = a[i] + b[i]


@cuda.jit
def nothing(out):
    cuda.syncthreads()


def report_of_add():
    a, b, out = (np.ones(64, np.float32) for _ in range(3))
    return simulate(add)[2, 32](out, a, b)


def test_a_launch_is_placed_by_its_counts() -> None:
    kernel = kernel_of("add", report_of_add(), 3 * 64 * 4)
    assert kernel.intensity == kernel.best == pytest.approx(1 / 12)
    assert kernel.share is None
    shown = roofline("H100", {"add": report_of_add()})
    assert isinstance(shown, Picture) and "add asks for a byte for every 0.0833" in repr(shown)


def test_a_kernel_that_somebody_timed_has_a_height() -> None:
    roofs = roof("H100")
    least_s = roofs.floor_s(2**20, 12 * 2**20)
    shown = roofline("H100", timed={"add": (2**20, 12 * 2**20, 4 * least_s)})
    assert "measured 25% of the roof at best" in repr(shown)


def test_a_launch_that_touches_no_memory_has_no_place() -> None:
    report = simulate(nothing)[1, 32](np.zeros(1, np.float32))
    with pytest.raises(CourseError, match="touches no global memory"):
        kernel_of("nothing", report)
    assert isinstance(roofline("H100", {"nothing": report}), Note)


def test_an_unknown_card_is_answered_in_a_sentence() -> None:
    for answer in (roofline("H1000"), layer_under_roof("H1000", 1, 2, 3)):
        assert isinstance(answer, Note) and "try:" in repr(answer)


def test_a_layer_climbs_with_its_batch() -> None:
    assert layer_intensity(1, 4096, 4096) < 1 < 100 < layer_intensity(128, 4096, 4096)
    assert "1 row asks" in repr(layer_under_roof("H100", 1, 64, 64))


def test_without_a_record_no_height_is_known(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(records, "folder", lambda: tmp_path)
    assert measured_share(ADD, "H200") is None
    item = {"state": "timed", "seconds": 1.0, "low_s": 1.0, "high_s": 1.0, "sizes": {}}
    item["least_bytes"] = int(2.4e12)
    items = {ADD.puzzle: item, PRODUCT.puzzle: item, "copy": item}
    records.write(records.Record("nvidia-h200", "timings", {}, {}, "2026-01-01", items=items))
    assert measured_share(ADD, "H200") == pytest.approx(0.5)
    assert measured_share(ADD, "H100") is None
    # Bytes say nothing of a kernel that is bound by compute.
    assert measured_share(PRODUCT, "H200") is None
    assert [k.share for k in kernels_of([ADD, PRODUCT], "H200")] == [pytest.approx(0.5), None]


def test_what_is_solved_appears_by_itself(answers) -> None:
    said = solved_under_roof("H100")
    assert isinstance(said, Note) and "No kernel puzzle of yours passes yet" in repr(said)
    name = index.find("guard").name
    file = answers / f"{name}.py"
    file.parent.mkdir()
    file.write_text((SOLUTIONS / f"{name}.py").read_text())
    shown = repr(solved_under_roof("H100")).splitlines()
    assert len(shown) == 3 and shown[1].startswith("guard: 0.12 FLOP/byte")
    assert shown[2] == "No record says how high any of them reaches."


def test_the_roof_of_a_cpu_is_the_best_that_any_run_reached() -> None:
    tried = {
        (8, 1): (1e-6, 1e-6, 1e-6),  # overhead: as long whatever it does
        (1000, 1): (1e-6, 1e-6, 2e-6),  # 8 GB/s
        (1000, 16): (2e-6, 4e-6, 4e-6),  # 16 GFLOP/s
    }
    shown = repr(roofline_of_this_cpu(tried))
    assert "16 GFLOP/s, 8 GB/s, ridge at 2 FLOP/byte" in shown
    # 16 FLOP in a microsecond, where the bytes of a quarter FLOP/byte would allow 2,000.
    few, many, wide = shown.split(" numbers asks for ")[1:4]
    assert "measured 1% of the roof at best" in few
    assert all("measured 100% of the roof at best" in each for each in (many, wide))


def test_three_times_are_shown_as_growth() -> None:
    text = rate_text([("8 numbers", (2e-7, 3e-7, 2e-7)), ("many", (1.0, 1.0, 2.5))])
    assert text.splitlines()[1].split() == ["8", "numbers", "200", "ns", "1.50x", "1.00x"]
    assert text.splitlines()[2].split() == ["many", "1", "s", "1.00x", "2.50x"]
    assert max(len(line) for line in text.splitlines()) <= 70


def test_a_long_name_and_a_large_growth_stand_apart() -> None:
    text = rate_text([("a" * 40, (1e-9, 1.0, 2.0)), ("b", (1.0, 1.0, 1.0))])
    assert text.splitlines()[1].split() == ["a" * 40, "1", "ns", "1000000000.00x", "2000000000.00x"]
    assert len({len(line) for line in text.splitlines()}) == 1
