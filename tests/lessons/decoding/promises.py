"""What the stubs of lesson 14 promise of their input, and what holds it."""

from __future__ import annotations

from gpu_course.lessons.decoding.serving import pages_of
from gpu_course.puzzle.specification import Values
from tests.course.puzzles.promises import Promise, everywhere


def _whole_bytes(given: Values) -> bool:
    config = given["config"]
    numbers = config["latent"] + config["rotary"] or 2 * config["kv_heads"] * config["head_size"]
    return bool(config["layers"] * numbers * config["bits"] % 8 == 0)


PROMISES: dict[str, tuple[Promise, ...]] = {
    "kv_bytes": (
        everywhere("what is kept of a token is a whole number of bytes", _whole_bytes),
        everywhere(
            "No length is less than shared",
            lambda given: min(given["lengths"], default=given["shared"]) >= given["shared"],
        ),
        Promise("A sequence may have no tokens", lambda given: 0 in given["lengths"]),
        Promise("there may be no sequence", lambda given: not given["lengths"]),
    ),
    "decode_time": (
        Promise("may be 4.25", lambda given: any(bits == 4.25 for *_, bits in given["matrices"])),
        Promise("A cache may hold no token yet", lambda given: given["lengths"] == [0]),
        Promise("Without a sequence nothing runs", lambda given: not given["lengths"]),
    ),
    "launch_overhead": (
        everywhere("launch_s is above 0", lambda given: given["launch_s"] > 0),
        Promise("a kernel may move no bytes", lambda given: 0 in given["kernels"]),
        Promise("Without kernels return", lambda given: not given["kernels"]),
    ),
    "in_flight_batching": (
        everywhere(
            "in the order in which they arrive",
            lambda given: (
                [each["arrives"] for each in given["requests"]]
                == sorted(each["arrives"] for each in given["requests"])
            ),
        ),
        everywhere(
            "at least one",
            lambda given: min((each["output"] for each in given["requests"]), default=1) >= 1,
        ),
        everywhere(
            "No request needs more pages than there are",
            lambda given: max(map(pages_of, given["requests"]), default=0) <= given["pages"],
        ),
        Promise("there may be none at all", lambda given: not given["requests"]),
    ),
}
ALIKE = {"in_flight_batching"}
