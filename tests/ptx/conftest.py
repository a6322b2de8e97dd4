"""Where PTX is kept between runs of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course.hardware.compiled.toolchain import has_compiler


@pytest.fixture(scope="session")
def keep(request: pytest.FixtureRequest) -> Path:
    """A folder for what was compiled; skips where the compiler is not installed."""
    if not has_compiler():
        pytest.skip("needs the extra compile")
    cache = request.config.cache
    assert cache is not None
    return Path(cache.mkdir("ptx"))
