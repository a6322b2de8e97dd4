"""Finds a Chromium to test with, and opens it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WAIT_S = 300.0
"""How long anything may take that will come: only a test that fails waits so long."""

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MACOS = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
# A browser in a test draws on no screen, may run as root in a container, and asks the net nothing.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
)


def find_chromium() -> str | None:
    """Returns the path of a Chromium or Chrome, or None.

    Looked at in this order: GPU_COURSE_CHROMIUM, the programs on the PATH, Chrome on macOS, and the
    browser that `playwright install chromium` downloads.
    """
    named = os.environ.get("GPU_COURSE_CHROMIUM", "").strip()
    if named:
        return named if Path(named).is_file() else None
    for name in NAMES:
        if found := shutil.which(name):
            return found
    if Path(MACOS).is_file():
        return MACOS
    return _from_playwright()


def _from_playwright() -> str | None:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).is_file() else None


@contextmanager
def open_browser(executable: str) -> Iterator[Any]:
    """Yields a headless browser of Playwright, which is closed afterwards."""
    from playwright.sync_api import expect, sync_playwright

    # Without it an expected text may take 5 seconds, which a busy machine needs for itself.
    expect.set_options(timeout=WAIT_S * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def open_page(browser: Any) -> Iterator[Any]:
    """Yields a page of a browser that remembers nothing of earlier pages."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    context.set_default_timeout(WAIT_S * 1000)
    try:
        yield context.new_page()
    finally:
        context.close()
