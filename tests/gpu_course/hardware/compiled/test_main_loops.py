"""The record of main loops: lessons read it from the package, wherever that lies."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gpu_course
from gpu_course.errors import CourseError
from gpu_course.hardware.compiled.main_loops import main_loop

PACKAGE = Path(gpu_course.__path__[0])


def test_a_package_that_lies_alone_has_its_records(tmp_path: Path) -> None:
    """A learner's checkout, and an installed course, need not hold benchmarks/."""
    left_out = shutil.ignore_patterns("__pycache__")
    for folder in ("gpu_course", "simt"):
        shutil.copytree(PACKAGE.parent / folder, tmp_path / folder, ignore=left_out)
    asks = """
from gpu_course.hardware.compiled import main_loops, record
assert main_loops.main_loop("matmul_vectorized").instructions > 1
assert record.record().kernels
print(main_loops.__file__)
"""
    done = subprocess.run(
        [sys.executable, "-c", asks],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path))


def test_a_kernel_that_is_not_on_record_is_named() -> None:
    with pytest.raises(CourseError, match="no record says what anything is compiled"):
        main_loop("anything")
