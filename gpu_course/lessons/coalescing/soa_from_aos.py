"""Puzzle `soa_from_aos`: four numbers side by side become four arrays."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.coalescing.pieces import TPB, loads_in_order, stores_in_order
from gpu_course.puzzle.builders import blocks_to_cover, drawn, eighths, gives, sized, special
from gpu_course.puzzle.specification import (
    Case,
    Debrief,
    KernelPuzzle,
    Launch,
    Mistake,
    Share,
    Values,
)

FIELDS = 4


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    size = case.sizes["size"]
    return {"a": eighths(rng, (size, FIELDS), case), "size": size}


DEBRIEF = Debrief(
    shows=("global_load.requests", "global_load.sectors", "global_store.sectors"),
    why=(
        "A warp's load goes straight along the array of structs, particle after particle with all "
        "its fields. The 32 numbers belong to 8 particles, and 8 floats of one field fill one "
        "sector exactly: four full sectors come in and four full sectors go out."
    ),
    alternative=(
        "One 16-byte load takes a whole struct, which needs full sectors too; Numba's plain arrays "
        "do not offer it. Where fields do not divide a sector so neatly, a tile in shared memory "
        "does the same for any layout."
    ),
)

SOA_FROM_AOS = KernelPuzzle(
    name="03_coalescing/soa_from_aos",
    title="structs taken apart",
    difficulty="medium",
    minutes=14,
    debrief=DEBRIEF,
    statement=(
        "`a` holds x, y, z and mass of each particle side by side, an array of structs. Write "
        "each field to an array of its own: out[field, i] = a[i, field]. A block of TPB threads "
        "has TPB particles, and each thread moves at most FIELDS numbers. Neither loads nor "
        "stores may touch more sectors than they have to. a may hold NaN and infinities as well."
    ),
    parameters={"soa_from_aos": ("out", "a", "size")},
    cases=(
        sized("visible example", visible=True, size=72),
        sized("one particle", size=1),
        sized("exactly two blocks", size=2 * TPB),
        sized("one particle more than two blocks", size=2 * TPB + 1),
        sized("203 large particles", size=203, doublings=100),
        special("NaN and infinities", size=73),
    ),
    random_case=drawn(size=(TPB + 1, 400)),
    inputs=_inputs,
    launches=lambda case: (
        Launch(
            "soa_from_aos",
            blocks_to_cover(case.sizes["size"], TPB),
            TPB,
            ("out", "a", "size"),
        ),
    ),
    reference=gives(lambda a: a.T.copy()),
    budgets=(
        loads_in_order(
            "Neighbouring lanes load numbers that do not lie side by side in a. Along a, which "
            "number comes right after x of particle 0, and which lane should have it?"
        ),
        stores_in_order(
            "The lanes that write one field have particles that do not lie side by side. Which "
            "particles does a warp hold at one moment?"
        ),
    ),
    diagnoses={
        "transposed": (
            "The numbers stand in out in the order they had in a. The number with the place "
            "4 * i + field in a belongs to row `field` of out, column i."
        ),
        "tail-unwritten": (
            "A particle has four fields, and each has a row of out. Are all four moved, and for "
            "all the particles of a block?"
        ),
        "race": (
            "Two threads write one cell of out. A block has TPB particles and TPB threads, and "
            "four threads share the particles of one round: with which particle does a block "
            "begin?"
        ),
        "out-of-bounds": (
            "A thread reached for a particle or a row that is not there. Which index of out is the "
            "field, and does each of a thread's particles exist?"
        ),
    },
    share=Share("Each thread moves at most FIELDS numbers.", FIELDS),
    hints=(
        (
            "A thread for each particle loads x, then y, then z. At the moment of x, how far apart "
            "are the numbers of lanes 0 and 1? And how far apart are x and y of one particle?"
        ),
        (
            "Let lanes 0 to 3 take x, y, z and mass of particle 0, lanes 4 to 7 those of particle "
            "1, and so on. The loads are in order then. How many particles of one field does a "
            "warp hold, and how many bytes is that?"
        ),
        (
            "Remainder and quotient of the thread's number by FIELDS give its field and its first "
            "particle. The TPB threads of a block take TPB // FIELDS particles at a time, so that "
            "is the step, and FIELDS rounds do the block."
        ),
    ),
    mistakes=(
        Mistake("a_thread_for_a_particle", "over-budget", "over-budget"),
        Mistake("field_after_field", "over-budget", "over-budget"),
        Mistake("four_particles_in_a_row", "over-budget", "over-budget"),
        Mistake("copied_in_order", "wrong-result", "transposed"),
        Mistake("without_the_mass", "wrong-result", "tail-unwritten"),
        Mistake("blocks_too_close", "hazard", "race"),
        Mistake("guards_the_first_alone", "hazard", "out-of-bounds"),
        Mistake("indices_not_exchanged", "hazard", "out-of-bounds"),
        Mistake("one_thread_moves_all", "over-budget", "not-shared"),
    ),
    constants={"TPB": TPB, "FIELDS": FIELDS},
)
