"""Plants faults in what compiles kernels, one at a time: `python -m benchmarks.planted_filter`.

Each is looked for as `tests.simt.compiled.planted` does it, in a process of its own. What finds it
is kept in tests/simt/records; with `--only TEXT`, those whose name has it are looked for anew.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from tests.simt.compiled.planted import FAULTS, RECORD, each_found_by, found_by, launches


def main(
    only: Annotated[str, typer.Option(help="a part of a fault's name")] = "",
    jobs: Annotated[int, typer.Option(help="processes")] = 1,
) -> None:
    """Writes the record; ends with 1 where a fault is not found."""
    with tempfile.TemporaryDirectory() as folder:
        known = launches(Path(folder))
    if said := found_by(None, known):
        sys.exit(f"without a fault: {said}")
    found = {}
    faults = [fault for fault in FAULTS if only in fault.name]
    for fault, said in each_found_by(faults, known, jobs):
        found[fault.name] = said
        print(f"{fault.name}: {said or 'NOT FOUND'}", flush=True)
    known_before = json.loads(RECORD.read_text(encoding="utf-8")) if only else {}
    kept = {f.name: (known_before | found).get(f.name, "") for f in FAULTS}
    RECORD.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print(f"{sum(map(bool, found.values()))} of {len(found)} found, {len(known)} launches")
    sys.exit(0 if all(found.values()) else 1)


if __name__ == "__main__":
    typer.run(main)
