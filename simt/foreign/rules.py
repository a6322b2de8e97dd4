"""What a project says of the hazards in its kernels: which it knows and leaves, how grave each is.

A TOML file:

    [severity]
    race = "advice"                 # for a kind of hazard: "error", "advice" or "off"

    [[suppress]]
    kernel = "bfs_level"            # any of: kernel, file, kind, line, array
    kind = "race"
    reason = "all writers store the same level"
"""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simt.errors import HAZARD_ERRORS, UserError, file_problem
from simt.report import Hazard

SEVERITIES = ("error", "advice", "off")
_WHICH: dict[str, type] = {"kernel": str, "file": str, "kind": str, "line": int, "array": str}


@dataclass(frozen=True)
class Suppression:
    """Hazards that a project knows and leaves.

    Attributes:
        which: what they have in common: "kernel" and "file" may hold `*`; "kind", "line", "array".
        reason: why they are left.
    """

    which: Mapping[str, Any]
    reason: str

    def covers(self, hazard: Hazard, kernel: str) -> bool:
        """Whether it speaks of a hazard of a kernel."""
        found = {
            "kernel": kernel,
            "file": Path(hazard.file).as_posix(),
            "kind": hazard.kind,
            "line": hazard.line,
            "array": hazard.details.get("array"),
        }
        return all(_fits(found[name], wanted) for name, wanted in self.which.items())


def _fits(found: Any, wanted: Any) -> bool:
    if not isinstance(wanted, str) or found is None:
        return bool(found == wanted)
    # "kernels.py" stands for that file in any folder.
    return fnmatch.fnmatchcase(found, wanted) or fnmatch.fnmatchcase(found, f"*/{wanted}")


@dataclass(frozen=True)
class Rules:
    """The severities and suppressions of one run.

    Attributes:
        severity: {kind of hazard: "error", "advice" or "off"}; others keep the simulator's.
        suppressions: in the order of the file.
    """

    severity: Mapping[str, str] = field(default_factory=dict)
    suppressions: tuple[Suppression, ...] = ()

    def severity_of(self, hazard: Hazard) -> str:
        """Returns how grave a hazard is here."""
        return self.severity.get(hazard.kind, hazard.severity)

    def suppression(self, hazard: Hazard, kernel: str) -> Suppression | None:
        """Returns the first suppression that speaks of a hazard, or None."""
        return next((each for each in self.suppressions if each.covers(hazard, kernel)), None)

    def with_severities(self, given: Mapping[str, str]) -> Rules:
        """Returns these rules with some severities replaced."""
        return Rules({**self.severity, **given}, self.suppressions)


def read_rules(path: Path) -> Rules:
    """Returns the rules of a file.

    Raises:
        UserError: it cannot be read, or says something that is no rule; the text says what.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise file_problem(error, str(path), "read") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"{path} is no TOML: {error}", "mend that line") from None
    if unknown := sorted(data.keys() - {"severity", "suppress"}):
        raise UserError(
            f"{path} holds {', '.join(unknown)}", "it may hold [severity] and [[suppress]]"
        )
    severity, entries = data.get("severity", {}), data.get("suppress", [])
    if not isinstance(severity, dict) or not isinstance(entries, list):
        raise UserError(
            f"{path}: severity is a table and suppress a list of tables",
            "write [severity] and [[suppress]]",
        )
    for kind, value in severity.items():
        check_severity(kind, value, str(path))
    found = [_suppression(entry, f"{path}, suppress {n}") for n, entry in enumerate(entries, 1)]
    return Rules(severity, tuple(found))


def severities(texts: list[str]) -> dict[str, str]:
    """Returns severities given as "race=advice".

    Raises:
        UserError: one of them is of another form.
    """
    found = {}
    for text in texts:
        kind, _, value = text.partition("=")
        check_severity(kind, value, f"--severity {text}")
        found[kind] = value
    return found


def check_severity(kind: str, value: Any, where: str) -> None:
    """Raises UserError unless a kind of hazard may have this severity."""
    if kind not in HAZARD_ERRORS:
        raise UserError(
            f"{where}: no kind of hazard is called {kind}",
            f"there are {', '.join(sorted(HAZARD_ERRORS))}",
        )
    if value not in SEVERITIES:
        raise UserError(f"{where}: {kind} cannot be {value!r}", f"write {', '.join(SEVERITIES)}")


def _suppression(entry: Any, where: str) -> Suppression:
    if not isinstance(entry, dict):
        raise UserError(f"{where} is no table", "write [[suppress]] and lines below it")
    which = {name: value for name, value in entry.items() if name != "reason"}
    for name, value in which.items():
        if name not in _WHICH:
            raise UserError(f"{where} holds {name}", f"it may hold {', '.join(_WHICH)}, reason")
        if type(value) is not _WHICH[name]:
            raise UserError(
                f"{where}: {name} is {value!r}", f"write a {_WHICH[name].__name__} there"
            )
    if "kind" in which and which["kind"] not in HAZARD_ERRORS:
        raise UserError(
            f"{where}: no kind of hazard is called {which['kind']}",
            f"there are {', '.join(sorted(HAZARD_ERRORS))}",
        )
    reason = entry.get("reason")
    if not which or not isinstance(reason, str) or not reason.strip():
        raise UserError(
            f"{where} lacks {'a reason' if which else 'what it is about'}",
            'say which hazards it leaves, and why: reason = "..."',
        )
    return Suppression(which, reason.strip())
