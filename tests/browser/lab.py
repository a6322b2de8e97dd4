"""A checkout as a learner has it, in a temporary folder, and a server of JupyterLab over it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil

from authoring.checkout import lesson_sources, read, write
from authoring.notebooks import build_notebook, notebook_text, puzzle_notes
from authoring.stubs import build_stubs
from tests.browser.chromium import WAIT_S

ADDRESS = re.compile(r"(http://(?:127\.0\.0\.1|localhost):\d+)(/\S*)?\?token=([0-9a-zA-Z]+)")


def copy_checkout(root: Path, target: Path) -> Path:
    """Returns a checkout built from the sources of another, with every puzzle as a stub."""
    for folder in ("gpu_course", "simt", "solutions", "notebooks/source"):
        left_out = shutil.ignore_patterns("__pycache__", "*.ipynb")
        shutil.copytree(root / folder, target / folder, ignore=left_out)
    shutil.copy(root / "pyproject.toml", target)
    stubs = build_stubs(root)
    for name, text in stubs.items():
        write(target / "puzzles" / f"{name}.py", text)
    for lesson, source in lesson_sources(root).items():
        notebook = build_notebook(lesson, read(source), stubs, notes=puzzle_notes(lesson))
        write(target / "notebooks" / f"{lesson}.ipynb", notebook_text(notebook))
    return target


def environment(checkout: Path, home: Path) -> dict[str, str]:
    """Returns an environment in which nothing of this machine's Jupyter is read or written."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("JUPYTER", "GPU_COURSE_", "IPYTHON")) and name != "MPLBACKEND"
    }
    environment["PYTHONPATH"] = os.pathsep.join(
        filter(None, (str(checkout), environment.get("PYTHONPATH")))
    )
    for name in ("CONFIG", "DATA", "RUNTIME"):
        environment[f"JUPYTER_{name}_DIR"] = str(home / name.lower())
    settings = home / "settings"
    environment["JUPYTERLAB_SETTINGS_DIR"] = str(settings)
    environment["JUPYTERLAB_WORKSPACES_DIR"] = str(home / "workspaces")
    environment["IPYTHONDIR"] = str(home / "ipython")
    environment["GPU_COURSE_GPU"] = "off"
    # All cells stay in the page, also those far from what the window shows.
    tracker = settings / "@jupyterlab" / "notebook-extension" / "tracker.jupyterlab-settings"
    write(tracker, json.dumps({"windowingMode": "none"}))
    # No question about news, and no look for updates: the test asks the net nothing.
    news = settings / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    write(news, json.dumps({"fetchNews": "false", "checkForUpdates": False}))
    return environment


def free_port() -> int:
    """Returns a loopback port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """A started server: the address it told, and the rest of what it said."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        self.url = self.path = self.token = ""
        self._told = threading.Event()
        self._ended = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()
        self._told.wait(WAIT_S)
        if not (self.url and self._answers()):
            raise AssertionError("the server does not answer:\n" + "".join(self.lines))

    def _answers(self) -> bool:
        """Waits until the port takes connections: Jupyter tells the address a little earlier."""
        port = int(self.url.rpartition(":")[2])
        deadline = time.monotonic() + WAIT_S
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return True
            except OSError:
                self._ended.wait(0.05)
        return False

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            if (match := ADDRESS.search(line)) and not self.url:
                self.path, self.token = match[2] or "/", match[3]
                self.url = match[1]
                self._told.set()
        self._told.set()
        self._ended.set()

    def address(self, path: str) -> str:
        """Returns the address of a page of this server."""
        return f"{self.url}{path}?token={self.token}"

    def end_kernels(self) -> None:
        """Ends every kernel, and waits until it has ended."""
        for session in json.loads(self.get("/api/sessions")[1]):
            request = urllib.request.Request(
                self.address(f"/api/sessions/{session['id']}"), method="DELETE"
            )
            urllib.request.urlopen(request, timeout=WAIT_S).close()

    def get(self, path: str) -> tuple[int, str]:
        """Returns status and text of a page, as a program without a browser reads it."""
        with urllib.request.urlopen(self.address(path), timeout=WAIT_S) as answer:
            return answer.status, answer.read().decode()


class Snapshot:
    """A server that is kept over many tests, and what lay on the disk when it had started.

    Args:
        server: the server.
        checkout: what it serves.
        home: what `environment` was given.
        kept: an empty folder for the copies.
    """

    def __init__(self, server: Server, checkout: Path, home: Path, kept: Path) -> None:
        self.server = server
        changing = [checkout / name for name in ("notebooks", "puzzles", ".gpu_course")]
        changing += [home / name for name in ("settings", "workspaces", "ipython")]
        self.folders = {folder: kept / str(n) for n, folder in enumerate(changing)}
        for folder, copy in self.folders.items():
            if folder.is_dir():
                shutil.copytree(folder, copy)

    def restored(self) -> Server:
        """Returns the server with its kernels ended and all these folders as they were."""
        self.server.end_kernels()
        for folder, copy in self.folders.items():
            shutil.rmtree(folder, ignore_errors=True)
            if copy.is_dir():
                shutil.copytree(copy, folder)
        return self.server


@contextlib.contextmanager
def serve(command: Sequence[str], folder: Path, variables: dict[str, str]) -> Iterator[Server]:
    """Yields a server once it answers; it and every process it started are ended afterwards."""
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    try:
        yield Server(process)
    finally:
        _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    try:
        family = [psutil.Process(process.pid)]
        family += family[0].children(recursive=True)
    except psutil.NoSuchProcess:
        family = []
    for each in family:
        with contextlib.suppress(psutil.NoSuchProcess):
            each.terminate()
    _, alive = psutil.wait_procs(family, timeout=15)
    for each in alive:
        with contextlib.suppress(psutil.NoSuchProcess):
            each.kill()
    psutil.wait_procs(alive, timeout=15)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def lab_command(port: int) -> list[str]:
    """Returns the command of a JupyterLab that opens no browser."""
    command = ["-m", "jupyterlab", "--no-browser", "--ServerApp.ip=127.0.0.1"]
    command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    return [*command, "--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else command
