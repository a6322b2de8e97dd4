"""The commands behind `make build` and `make check-sync`, and the one that keeps the README."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from gpu_course.authoring.build import build
from gpu_course.authoring.checkout import find_root
from gpu_course.authoring.readme import write_readme
from gpu_course.authoring.sync import check_sync
from gpu_course.errors import CourseError


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status: 0 done and in step, 1 out of step or left alone, 2 at fault."""
    parser = argparse.ArgumentParser(prog="python -m gpu_course.authoring", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    building = commands.add_parser("build", help="write stubs and both editions of the notebooks")
    building.add_argument("--only", metavar="LESSON", help="the notebooks of one lesson alone")
    building.add_argument(
        "--force", action="store_true", help="back up files that were edited, and write them too"
    )
    commands.add_parser("check-sync", help="compare built files with their sources in git's index")
    commands.add_parser("readme", help="write the README's picture and its table of lessons")
    options = parser.parse_args(arguments)
    try:
        root = find_root()
        if options.command == "build":
            return 1 if build(root, only=options.only, force=options.force) else 0
        if options.command == "readme":
            for changed in write_readme(root):
                print(f"wrote {changed}")
            return 0
        found = check_sync(root)
    except CourseError as error:
        print(error, file=sys.stderr)
        return 2
    for line in found:
        print(line)
    if found:
        print(
            f"{len(found)} difference(s) between the sources and the built files in git's index.\n"
            "  try:    make build, then stage what it wrote"
        )
        return 1
    print("Stubs and notebooks in git's index are what their sources give.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
