"""The tools: what is said where one is missing, fails, or takes too long."""

from __future__ import annotations

import sys
from importlib import metadata

import pytest

from gpu_course.hardware.compiled import toolchain as tools


@pytest.fixture(autouse=True)
def _looked_for_anew() -> None:
    tools.toolchain.cache_clear()


def test_missing_wheels_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        if name == "nvidia-cuda-nvdisasm":
            raise metadata.PackageNotFoundError(name)
        return "13.0"

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr(sys, "platform", "linux")
    with pytest.raises(tools.NoCompiler) as raised:
        tools.toolchain()
    assert str(raised.value).splitlines() == [
        "no compiler for GPUs is installed here: nvidia-cuda-nvdisasm not found",
        "  try:    python -m pip install -e '.[compile]'",
    ]
    assert not tools.has_compiler()


def test_macos_has_no_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(tools.NoCompiler, match="no wheels for macOS"):
        tools.toolchain()


def test_a_wheel_without_its_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda name: "13.0")
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(tools.NoCompiler, match="ptxas is not where its wheel puts it"):
        tools.toolchain()


def test_what_a_tool_prints() -> None:
    script = "import sys; print('out'); print('said', file=sys.stderr)"
    assert tools.run_tool([sys.executable, "-c", script]) == ("out\n", "said\n")


def test_a_tool_that_fails_is_one_line() -> None:
    script = (
        "import sys; print('ptxas info : begun', file=sys.stderr);"
        "print('ptxas fatal : no such thing', file=sys.stderr); print('more', file=sys.stderr);"
        "sys.exit(255)"
    )
    with pytest.raises(tools.ToolFailed) as raised:
        tools.run_tool([sys.executable, "-c", script])
    assert str(raised.value).endswith("failed: ptxas fatal : no such thing")
    assert "\n" not in str(raised.value)


def test_a_tool_that_says_nothing() -> None:
    with pytest.raises(tools.ToolFailed, match="exit status 3, and not a word"):
        tools.run_tool([sys.executable, "-c", "raise SystemExit(3)"])


def test_a_tool_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "DEADLINE_S", 0.05)
    with pytest.raises(tools.ToolFailed, match="was not done after"):
        tools.run_tool([sys.executable, "-c", "import threading; threading.Event().wait()"])


@pytest.mark.skipif(sys.platform != "linux", reason="memory is held on Linux alone")
def test_a_tool_that_takes_too_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "MEMORY_BYTES", 2**29)
    with pytest.raises(tools.ToolFailed, match="MemoryError"):
        tools.run_tool([sys.executable, "-c", "bytearray(2**30)"])


def test_a_tool_that_is_not_there() -> None:
    with pytest.raises(tools.ToolFailed, match="cannot be started"):
        tools.run_tool(["/no/such/ptxas"])
