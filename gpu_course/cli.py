"""The entry of `gpu-course`, which still helps where its own packages are missing."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

_NEEDED = ("typer", "rich", "numpy")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status.

    0 means that all that was asked for passed, 1 that some of it did not, 2 that the call or the
    grader is at fault.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        from gpu_course.commands import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _NEEDED:
            raise
        return _without_packages(given, error.name or "a package")
    try:
        app(args=given, prog_name="gpu-course")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 2
    return 0


def leave_the_current_folder() -> None:
    """Takes the folder that `python -m` puts first off the path, unless the course lies in it.

    It may be a submission's, and hold a typer.py. (A gpu_course/ in it would run in place of this
    very file: `gpu-course` and `python -P -m gpu_course.cli` look into no current folder.)
    """
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    here = os.path.abspath(sys.path[0]) if sys.path else home
    if here == os.getcwd() != home:
        del sys.path[0]


def _without_packages(given: list[str], missing: str) -> int:
    from gpu_course.hardware import doctor

    if given[:1] == ["doctor"]:
        return doctor.main(given[1:])
    print(f"gpu-course needs {missing}, which is not installed", file=sys.stderr)
    print("  try:    python -m pip install -r requirements.txt", file=sys.stderr)
    return 2


if __name__ == "__main__":
    leave_the_current_folder()
    sys.exit(main())
