"""What the browser tests share: a browser, a checkout, a place for screenshots."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.browser.chromium import find_chromium, open_browser, open_page
from tests.browser.lab import (
    Server,
    Snapshot,
    copy_checkout,
    environment,
    free_port,
    lab_command,
    serve,
)

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium; without one the test is skipped, and fails where CI=true."""
    if find_spec("playwright") is None:
        missing = "playwright is not installed; `pip install playwright` brings it"
    else:
        found = find_chromium()
        if found is not None:
            return found
        missing = "no Chromium found; install one, or name it in GPU_COURSE_CHROMIUM"
    if os.environ.get("CI") == "true":
        pytest.fail(f"{missing} (CI=true asks for the browser tests)")
    pytest.skip(missing)


# Not for the session: while Playwright runs, asyncio has a loop, and other tests want their own.
@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    """A browser for the tests of a file."""
    with open_browser(chromium) as browser:
        yield browser


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page that knows nothing of earlier ones."""
    with open_page(browser) as page:
        yield page


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout as a learner has it after `make build`, nothing answered.

    What a test of `server` leaves in it is gone before the next one.
    """
    return copy_checkout(ROOT, tmp_path_factory.mktemp("course") / "checkout")


@pytest.fixture(scope="session")
def lab(
    chromium: str, checkout: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Snapshot]:
    """One JupyterLab for all tests, and the checkout as it was when it started."""
    home = tmp_path_factory.mktemp("jupyter")
    with serve(lab_command(free_port()), checkout, environment(checkout, home)) as server:
        yield Snapshot(server, checkout, home, tmp_path_factory.mktemp("snapshot"))


@pytest.fixture
def server(lab: Snapshot) -> Server:
    """JupyterLab, serving the checkout; no kernel runs and nothing is answered."""
    return lab.restored()


@pytest.fixture(scope="session")
def own_checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout for `gpu-course lab` alone, which arranges its windows."""
    return copy_checkout(ROOT, tmp_path_factory.mktemp("course") / "checkout")


@pytest.fixture(scope="session")
def started(
    chromium: str, own_checkout: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Snapshot]:
    """What `gpu-course lab` serves to somebody whose JupyterLab holds no settings of their own."""
    command = ["-m", "gpu_course", "lab", "--no-browser", "--port", str(free_port())]
    home = tmp_path_factory.mktemp("home")
    variables = environment(own_checkout, home)
    (news,) = home.rglob("notification.jupyterlab-settings")
    news.unlink()
    with serve(command, own_checkout, variables) as server:
        yield Snapshot(server, own_checkout, home, tmp_path_factory.mktemp("snapshot"))


@pytest.fixture
def first_lesson(started: Snapshot) -> Server:
    """The same, as it is when it has just started."""
    return started.restored()


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the screenshots go: GPU_COURSE_SCREENSHOTS, or a temporary folder."""
    named = os.environ.get("GPU_COURSE_SCREENSHOTS", "").strip()
    folder = Path(named).absolute() if named else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
