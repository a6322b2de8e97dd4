"""What a run's launches showed, as text for a person, as JSON, and as SARIF for a code host."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import quote

from simt import __version__
from simt.errors import HAZARD_ERRORS, UserError
from simt.foreign.launches import Finding, Launches
from simt.report import Counters


class Form(StrEnum):
    """How a run is told."""

    text = "text"
    json = "json"
    sarif = "sarif"


def form_called(name: str) -> Form:
    """Returns the form of a name.

    Raises:
        UserError: there is none.
    """
    if name not in set(Form):
        raise UserError(f"--format {name}: there is no such form", f"there are {', '.join(Form)}")
    return Form(name)


SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "advice": "note"}


def as_text(launches: Launches) -> str:
    """Returns what a person reads, errors first; "" where there is nothing to say."""
    findings = launches.findings
    lines = []
    if findings:
        errors = sum(each.severity == "error" for each in findings)
        advice = len(findings) - errors
        found = [_counted(errors, "error")] * bool(errors)
        found += [_counted(advice, "piece of advice", "pieces of advice")] * bool(advice)
        total = _counted(launches.counts.total(), "launch", "launches")
        lines.append(f"The simulator found {' and '.join(found)} in {total}.")
    for each in findings:
        lines += ["", f"{each.severity}: {each.hazard.text()}"]
        if len(each.arrays) > 1:
            lines.append(f"  also:   the same on {', '.join(list(each.arrays)[1:])}")
        lines.append(f"  seen:   in {_launches_of(each, launches)} of {each.kernel}")
    for each in launches.suppressed:
        assert each.suppressed is not None
        where = f"{each.hazard.file}:{each.hazard.line}"
        lines.append(f"suppressed: {each.hazard.kind} at {where} ({each.suppressed.reason})")
    for (file, kernel), counters in (launches.counters or {}).items():
        count = _counted(launches.counts[file, kernel], "launch", "launches")
        lines += ["", f"counters: {kernel}, {file}, {count}"]
        lines += [f"  {name:<34}{value:>16,}" for name, value in _nonzero(counters).items()]
    return "\n".join(lines).removeprefix("\n")


def as_json(launches: Launches) -> str:
    """Returns one object: `findings`, `suppressed`, `launches` and, if counted, `counters`."""
    told: dict[str, Any] = {
        "ok": launches.ok,
        "findings": [_plain(each) for each in launches.findings],
        "suppressed": [_plain(each) for each in launches.suppressed],
        "launches": [
            {"file": file, "kernel": kernel, "launches": count}
            for (file, kernel), count in launches.counts.items()
        ],
    }
    if launches.counters is not None:
        told["counters"] = [
            {"file": file, "kernel": kernel, **_nonzero(counters)}
            for (file, kernel), counters in launches.counters.items()
        ]
    return json.dumps(told, indent=2)


def as_sarif(launches: Launches) -> str:
    """Returns a log as code hosts read it.

    Source: OASIS, Static Analysis Results Interchange Format (SARIF) 2.1.0.
    """
    rules = [
        {"id": kind, "shortDescription": {"text": error.__name__}}
        for kind, error in sorted(HAZARD_ERRORS.items())
    ]
    driver = {"name": "simt", "version": __version__, "rules": rules}
    results = [_result(each) for each in (*launches.findings, *launches.suppressed)]
    run = {"tool": {"driver": driver}, "results": results}
    return json.dumps({"$schema": SARIF, "version": "2.1.0", "runs": [run]}, indent=2)


def launches_text(launches: Launches, form: Form) -> str:
    """Returns what is told of a run."""
    return {Form.text: as_text, Form.json: as_json, Form.sarif: as_sarif}[form](launches)


def _result(finding: Finding) -> dict[str, Any]:
    hazard = finding.hazard
    place = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(hazard.file)},
            "region": {"startLine": hazard.line},
        },
        "logicalLocations": [{"name": finding.kernel, "kind": "function"}],
    }
    told: dict[str, Any] = {
        "ruleId": hazard.kind,
        "level": _LEVELS[finding.severity],
        "message": {"text": hazard.text()},
        "locations": [place],
    }
    if finding.suppressed is not None:
        told["suppressions"] = [{"kind": "external", "justification": finding.suppressed.reason}]
    return told


def _uri(file: str) -> str:
    """Returns the address of a file: what an address gives a meaning to, or no address holds, is
    written by its bytes."""
    path = Path(file)
    if path.is_absolute():
        return path.as_uri()
    # A colon in the first step would be read as a scheme, such as that of C:x.
    address = quote(os.fsencode(path.as_posix()))
    return f"./{address}" if ":" in file.partition("/")[0] else address


def _plain(finding: Finding) -> dict[str, Any]:
    hazard = finding.hazard
    told = {
        "kind": hazard.kind,
        "severity": finding.severity,
        "kernel": finding.kernel,
        "file": hazard.file,
        "line": hazard.line,
        "lines": finding.lines,
        "arrays": list(finding.arrays),
        "launches": finding.launches,
        "message": hazard.message,
        "text": hazard.text(),
    }
    return told | ({"reason": finding.suppressed.reason} if finding.suppressed else {})


def _nonzero(counters: Counters) -> dict[str, int]:
    """Returns the counters that are not 0, groups as "global_load.sectors"."""
    found: dict[str, int] = {}
    for name, value in asdict(counters).items():
        if isinstance(value, Mapping):
            found |= {f"{name}.{inner}": count for inner, count in value.items() if count}
        elif value:
            found[name] = value
    return found


def _launches_of(finding: Finding, launches: Launches) -> str:
    total = sum(count for (_, kernel), count in launches.counts.items() if kernel == finding.kernel)
    return f"{finding.launches:,} of {_counted(total, 'launch', 'launches')}"


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
