"""What builds and tests the course: `python -m authoring --help` lists its commands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from authoring.build import build
from authoring.checkout import find_root
from authoring.mutation import report
from authoring.new_lesson import write_lesson
from authoring.readme import write_readme
from authoring.rooms import PAGE, write_map
from authoring.sync import check_sync
from gpu_course.errors import CourseError
from gpu_course.puzzle import index


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status: 0 all well, 1 out of step, left alone or holed, 2 at fault."""
    parser = argparse.ArgumentParser(prog="python -m authoring", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    building = commands.add_parser("build", help="write stubs and both editions of the notebooks")
    building.add_argument("--only", metavar="LESSON", help="the notebooks of one lesson alone")
    building.add_argument(
        "--force", action="store_true", help="back up files that were edited, and write them too"
    )
    commands.add_parser("check-sync", help="compare built files with their sources in git's index")
    commands.add_parser("readme", help="write the README's picture and its table of lessons")
    commands.add_parser("map", help="write the map of rooms into CONTRIBUTING.md")
    lesson = commands.add_parser("new-lesson", help="write the skeleton of a lesson")
    lesson.add_argument("number", metavar="NN", help="of the lesson in the outline, such as 07")
    lesson.add_argument("topic", help="the name of its room, such as under_the_hood")
    mutants = commands.add_parser("mutants", help="check small wrong changes of every solution")
    mutants.add_argument("--only", metavar="NAME", nargs="+", help="these puzzles alone")
    mutants.add_argument("--list", action="store_true", help="name every mutant and its end")
    options = parser.parse_args(arguments)
    try:
        root = find_root()
        if options.command == "build":
            return 1 if build(root, only=options.only, force=options.force) else 0
        if options.command == "readme":
            for changed in write_readme(root):
                print(f"wrote {changed}")
            return 0
        if options.command == "map":
            print(f"wrote {PAGE}" if write_map(root) else f"{PAGE} is as it should be")
            return 0
        if options.command == "new-lesson":
            for written in write_lesson(root, options.number, options.topic):
                print(f"wrote {written}")
            return 0
        if options.command == "mutants":
            puzzles = [index.find(n) for n in options.only] if options.only else index.puzzles()
            return 0 if report(root, puzzles, listed=options.list) else 1
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
