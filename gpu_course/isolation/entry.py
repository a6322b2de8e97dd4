"""Where a child process begins: `python -I entry.py ROLE ...`, run as a file, never imported.

The packages are given bare, so that importing one module brings in no other: the catalogue and
the grader's judgement stay outside.
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType


def bare_packages(root: Path) -> None:
    """Makes `gpu_course` and the packages on the way here importable, with nothing run in them."""
    engine = find_spec("simt")
    folders = {
        "gpu_course": root,
        "gpu_course.isolation": root / "isolation",
        "gpu_course.puzzle": root / "puzzle",
        "simt": Path(next(iter(engine.submodule_search_locations or ()))) if engine else root,
    }
    for name, folder in folders.items():
        module = ModuleType(name)
        module.__path__ = [str(folder)]
        sys.modules[name] = module
    # An installation in place puts the whole checkout on the path.
    sys.path[:] = [each for each in sys.path if each and Path(each).resolve() != root.parent]


def main() -> None:
    """Becomes what the first argument names."""
    bare_packages(Path(__file__).resolve().parents[1])
    role, *rest = sys.argv[1:]
    if role == "forkserver":
        from gpu_course.isolation.forkserver import main as serve_forks

        serve_forks(int(rest[0]), int(rest[1]), rest[2])
    else:
        from gpu_course.isolation.child import alone

        alone(rest[0], [int(each) for each in rest[1:]])


if __name__ == "__main__":
    main()
