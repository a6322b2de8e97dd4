"""What this machine can do for the course, and how to mend what it can't.

Runs on the standard library alone: `python -m gpu_course.hardware.doctor` works in a Python that
has none of the course's packages.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from gpu_course.hardware.probes import PROBES, Probe, Probing

__all__ = ["Probe", "as_text", "examine", "is_ready", "to_json"]

_MARKS = {"ok": "ok", "note": "note", "missing": "MISSING"}


def examine(probes: Sequence[tuple[str, Probing]] = PROBES) -> tuple[Probe, ...]:
    """Returns what the doctor found, in a fixed order.

    A probe that fails becomes a finding of its own, so that one broken corner of a machine never
    hides the rest.

    Args:
        probes: (subject, probe) pairs.
    """
    found: list[Probe] = []
    for name, probe in probes:
        try:
            found.extend(probe())
        except Exception as error:
            what = f"could not be examined ({type(error).__name__}: {error})".replace("\n", " ")
            found.append(Probe(name, "note", what, "the rest of this report still holds"))
    return tuple(found)


def is_ready(findings: Sequence[Probe]) -> bool:
    """True when nothing the course needs is missing."""
    return not any(finding.state == "missing" for finding in findings)


def to_json(findings: Sequence[Probe]) -> dict[str, Any]:
    """Returns {"ready": bool, "findings": [{"name", "state", "found", "mend"}]}."""
    return {"ready": is_ready(findings), "findings": [asdict(finding) for finding in findings]}


def as_text(findings: Sequence[Probe]) -> str:
    """Returns the findings as aligned lines, each mend under its finding, and a verdict."""
    width = max((len(finding.name) for finding in findings), default=0)
    lines = []
    for finding in findings:
        lines.append(f"{_MARKS[finding.state]:<8}{finding.name:<{width}}  {finding.found}")
        if finding.mend:
            lines.append(f"{'':<8}{'':<{width}}  -> {finding.mend}")
    missing = sum(finding.state == "missing" for finding in findings)
    if missing:
        lines.append(f"\n{missing} missing. Mend what is marked MISSING, then run this again.")
    else:
        lines.append("\nThis machine is ready for the course.")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the report and returns the exit status: 0 ready, 1 something missing, 2 a bad call."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    findings = examine() if given in ([], ["--format", "table"], ["--format", "json"]) else None
    if findings is None:
        print("usage: python -m gpu_course.hardware.doctor [--format table|json]", file=sys.stderr)
        return 2
    print(json.dumps(to_json(findings), indent=2) if "json" in given else as_text(findings))
    return 0 if is_ready(findings) else 1


if __name__ == "__main__":
    sys.exit(main())
