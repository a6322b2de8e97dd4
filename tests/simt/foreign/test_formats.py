"""The same run told as text, as JSON and as SARIF, and by rules of one's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

import pytest

from gpu_course.errors import CourseError
from simt.foreign.formats import Form, _uri, form_called

ROOT = Path(__file__).parents[3]
RACY = "tests/simt/foreign/scripts/racy.py"
TWO_ARRAYS = """
import numpy as np
from numba import cuda

@cuda.jit
def pile_up(a, b):
    a[0] = b[0] = cuda.grid(1)

pile_up[1, 32](np.zeros(1), np.zeros(1))
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "simt", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def told(*arguments: str) -> Any:
    return json.loads(run("--format", *arguments).stderr)


def test_json_says_what_text_says() -> None:
    found = told("json", RACY)
    assert not found["ok"]
    (finding,) = found["findings"]
    assert (finding["kind"], finding["severity"], finding["kernel"]) == (
        "race",
        "error",
        "turn_round",
    )
    assert (finding["line"], finding["lines"], finding["launches"]) == (12, [11, 12], 2)
    assert finding["text"] in run(RACY).stderr.replace("error: ", "")
    assert "counters" not in found


def test_sarif_has_what_a_code_host_reads() -> None:
    log = told("sarif", RACY)
    assert log["version"] == "2.1.0"
    (ran,) = log["runs"]
    (result,) = ran["results"]
    assert result["ruleId"] in {rule["id"] for rule in ran["tool"]["driver"]["rules"]}
    assert result["level"] == "error"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == RACY
    assert place["region"]["startLine"] == 12


ADDRESSES = {
    "plain/kernel.py": "plain/kernel.py",
    "with blank/a#1.py": "with%20blank/a%231.py",
    "100%.py": "100%25.py",
    "caf\u00e9?.py": "caf%C3%A9%3F.py",
    "two\nlines.py": "two%0Alines.py",
    "c:x.py": "./c%3Ax.py",
    "/at the root/a#1.py": "file:///at%20the%20root/a%231.py",
    "not UTF-8 \udcff.py": "not%20UTF-8%20%FF.py",
}


@pytest.mark.skipif(sys.platform == "win32", reason="names as POSIX has them")
@pytest.mark.parametrize(("file", "address"), ADDRESSES.items())
def test_addresses_lead_to_the_file_whatever_it_is_called(file: str, address: str) -> None:
    assert _uri(file) == address
    read = urlsplit(address)
    assert (read.query, read.fragment) == ("", "")
    assert os.path.normpath(os.fsdecode(unquote_to_bytes(read.path))) == file


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_a_full_disk_leaves_the_file_of_yesterday(tmp_path: Path) -> None:
    import resource

    out = tmp_path / "found.json"
    out.write_text("yesterday")
    command = [sys.executable, "-m", "simt", "--out", str(out), RACY]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        # Every file is refused its first byte, as a full disk does it.
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
    )
    assert done.returncode == 2 and f"{out} cannot be written" in done.stderr
    assert out.read_text() == "yesterday" and list(tmp_path.iterdir()) == [out]


def test_counters_are_there_when_asked_for() -> None:
    (counted,) = told("json", "--counters", RACY)["counters"]
    # Two launches of 64 threads, each loading one float32.
    assert counted["global_load.requests"] == 4
    assert counted["global_load.bytes"] == 512
    assert "global_load.sectors" in run("--counters", RACY).stderr


def test_one_cause_on_two_arrays_is_one_finding(tmp_path: Path) -> None:
    script = tmp_path / "two.py"
    script.write_text(TWO_ARRAYS)
    (finding,) = told("json", str(script))["findings"]
    assert sorted(finding["arrays"]) == ["a", "b"]
    assert "also:   the same on" in run(str(script)).stderr


@pytest.mark.parametrize(("severity", "status"), [("error", 1), ("advice", 0), ("off", 0)])
def test_a_severity_decides_the_exit_status(severity: str, status: int) -> None:
    done = run("--severity", f"race={severity}", RACY)
    assert done.returncode == status
    assert ("RaceError" in done.stderr) == (severity != "off")


def test_what_is_suppressed_is_named_with_its_reason(tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('[[suppress]]\nkernel = "turn_round"\nreason = "taught as it is"')
    done = run("--rules", str(rules), RACY)
    assert done.returncode == 0
    assert done.stderr == f"suppressed: race at {RACY}:12 (taught as it is)\n"
    (result,) = told("sarif", "--rules", str(rules), RACY)["runs"][0]["results"]
    assert result["suppressions"] == [{"kind": "external", "justification": "taught as it is"}]


def test_a_file_takes_what_would_go_to_stderr(tmp_path: Path) -> None:
    out = tmp_path / "found.json"
    done = run("--format", "json", "--out", str(out), RACY)
    assert (done.returncode, done.stdout, done.stderr) == (1, "done\n", "")
    assert len(json.loads(out.read_text())["findings"]) == 1


def test_a_module_runs_as_python_runs_it(tmp_path: Path) -> None:
    package = tmp_path / "tools"
    package.mkdir()
    (package / "__init__.py").write_text("")
    text = "import sys\nfrom tools import own\nprint(__name__, sys.argv[1:], own.WORD)\n"
    (package / "__main__.py").write_text(text + TWO_ARRAYS)
    (package / "own.py").write_text("WORD = 'found'\n")
    command = [sys.executable, "-m", "simt", "-m", "tools", "3", "--help"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
    )
    assert done.stdout == "__main__ ['3', '--help'] found\n", done.stderr
    assert done.returncode == 1
    assert "pile_up" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--severity", "rice=off", RACY], "no kind of hazard is called rice"),
        (["--rules", "none.toml", RACY], "none.toml cannot be read"),
        (["--format", "xml", RACY], "xml"),
        (["--out", "none/here.json", RACY], "none/here.json cannot be written"),
    ],
)
def test_a_wrong_call_ends_with_status_2(arguments: list[str], complaint: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert complaint in done.stderr


def test_a_form_that_is_not_there_is_told() -> None:
    with pytest.raises(
        CourseError, match=r"--format xml: there is no such form\n.*text, json, sarif"
    ):
        form_called("xml")
    assert form_called("sarif") is Form.sarif
