"""What the stubs of lesson 02 promise of their input, and what holds it."""

from __future__ import annotations

from tests.course.puzzles.promises import Promise, everywhere, one_of

PROMISES: dict[str, tuple[Promise, ...]] = {
    "occupancy": (
        Promise("of one thread; 1 to 255", one_of("registers", 1)),
        Promise("of one thread; 1 to 255", one_of("registers", 255)),
        Promise("in one block; 1 to 1024", one_of("threads", 1)),
        Promise("in one block; 1 to 1024", one_of("threads", 1024)),
        Promise("of one block; may be 0", one_of("shared_bytes", 0)),
        # All of these have four quarters, warps of 32 threads and units of 256 registers.
        everywhere(
            "those of compute capabilities 7.0 to 12.0",
            lambda given: (
                [given["limits"][n] for n in ("quarters", "warp_size", "register_unit")]
                == [4, 32, 256]
            ),
        ),
    ),
}
