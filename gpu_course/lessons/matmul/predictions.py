"""What lesson 06 says once a guess is made."""

from __future__ import annotations

from gpu_course.puzzle.specification import Sealed

PREDICTIONS = {
    "Loads for each multiply-add": Sealed(
        "One number of a and one of b, for a single multiplication and a single addition. A GPU "
        "can do many times more arithmetic than it can load, so this kernel waits."
    ),
    "Uses of a number of the matrix, times a vector": Sealed(
        "Every number of the matrix is used for one product and never again. So the time is that "
        "of reading the matrix. A language model that writes one token at a time for one reader "
        "does nothing but such products."
    ),
    "Loads of global memory with tiles of 4 by 4": Sealed(
        "A quarter. A block makes 16 results and brings 4 rows and 4 columns for them; each "
        "number it has brought goes into 4 sums."
    ),
    "Shared loads for each multiply-add, strips of 8": Sealed(
        "For one p a thread takes one number of b and eight of a, and makes eight products: nine "
        "loads for eight. The number of b is shared by the strip, and those of a are not."
    ),
    "Races in two halves": Sealed(
        "A fast thread may be one round ahead, and then it fills the *other* half. To come back "
        "to this half it has to pass the next barrier, which lets nobody through before the slow "
        "one has arrived."
    ),
    "Traffic of the result: three kernels against one": Sealed(
        "The product writes it; the bias reads and writes it; so does the activation. Fused, it "
        "is written once. The arithmetic is the same, and it is not what the time goes into."
    ),
    "Time with one column more": Sealed(
        "The column begins a new column of tiles, nine more of them. They do not fit into the "
        "first wave, and a second one takes as long as the first, though nearly all SMs idle in "
        "it."
    ),
    "Passes for one store to the turned tile": Sealed(
        "Lanes 0 and 1 store 512 words apart, which is the same bank; so do lanes 2 and 3, and "
        "every pair. Turning a tile on the way in costs a **bank conflict** in each store."
    ),
    "Passes for one load from the tile of b": Sealed(
        "Steps of 8 words lead to banks 0, 8, 16 and 24, and then to bank 0 again. Sixteen words "
        "in four banks are four in each queue."
    ),
    "Passes with five words more": Sealed(
        "A warp's lanes all read from *one* row of the tile. What lies between the rows moves all"
        " of them alike, so they meet as before. Padding helps lanes that go down a column."
    ),
    "Is the checker content with NaN?": Sealed(
        "Every comparison with NaN is false, so `abs(1 - nan) > 0.01` is false, and nothing is "
        "ever too far off. A kernel that writes NaN into every cell passes such a check."
    ),
    "Conflicts of 32 float4 stores": Sealed(
        "The lanes ask for 512 bytes, and 32 banks take 128 in a pass. Four passes are what that "
        "needs. The hardware serves the lanes eight at a time, and within each eight no two meet."
        " Lanes 0 and 8 do not wait for each other's bank: they have different turns."
    ),
}
