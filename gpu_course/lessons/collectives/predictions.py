"""What lesson 21 says once a guess is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpu_course.puzzle.specification import Sealed


def _nearest(choices: Sequence[float], value: float) -> float:
    """Returns the choice that a value is nearest to, as a factor."""
    return min(choices, key=lambda choice: max(choice / value, value / choice))


def _times_the_ring(found: Mapping[str, float] | None) -> float:
    """Returns how many times a ring's bytes were sent; what gloo is known for, where unknown."""
    return 2 if found is None else _nearest((0.5, 1, 2, 4), found["mean"] / found["ring"])


def _how_much_longer(ratio: float) -> str:
    said = {1: "nearly as long", 2: "twice as long", 4: "four times as long"}
    return said[round(_nearest((1, 2, 4), ratio))]


PREDICTIONS = {
    "Sectors that a copy of 4,096 bytes touches": Sealed(
        "Each byte is read once and written once, in sectors of 32 bytes. No copy does with less, "
        "wherever the bytes go. What follows adds one thing to it: the other memory belongs to "
        "somebody else."
    ),
    "Times as long with 8 ranks as with 2, where rank 0 adds up": Sealed(
        "Everything goes through one port, so the time grows with the ranks, and all other ports "
        "wait. The bytes are not too many; they are in the wrong place."
    ),
    "Buffers that the busiest of 4 ranks sends at least": Sealed(
        "Each number has to come together in one place, which takes three messages, and to go out "
        "to the three others again: six quarters of a buffer for each rank, on average. Who sends "
        "less leaves more to somebody else. A ring shares it out evenly. With more ranks it comes "
        "near to two buffers, and no algorithm that adds up on the ranks does with less on its "
        "busiest one."
    ),
    "Times a ring's bytes that gloo sends in a reduce_scatter": Sealed(
        "It adds up everywhere first, as for an all-reduce, and then keeps a piece. A broadcast of "
        "it sends two buffers from the root, which is a tree. A library's call says what you get "
        "and not how it is sent: measure it, or count it.",
        answer=_times_the_ring,
    ),
    "Times as long in a ring as in a tree: 1 KiB, 64 ranks": Sealed(
        "Next to nothing is sent, so the steps are counted: two for each neighbour in the ring, "
        "two for each level in the tree. A small message pays for the way and not for its weight.",
        answer=lambda ratio: _nearest((1, 3, 10, 60), ratio),
    ),
    "A large buffer, and twice as many ranks. A ring takes": Sealed(
        "There are twice as many steps, with half as much in each. What a port carries hardly "
        "changes. So a ring is bound by bandwidth, at any number of ranks, as long as alpha is "
        "small beside the time of a chunk; and that gets smaller with each rank.",
        answer=_how_much_longer,
    ),
    "Times as long over one tree as over two, nothing cut further": Sealed(
        "Two trees bring nothing by themselves. In each step the busiest port of the one has a "
        "whole buffer, and that of the two has both halves. There are as many levels, and while "
        "one of them works all others wait. The work is shared out; the way is as long as before."
    ),
    "Pieces of each half that take the least time, 64 MiB, 64 ranks": Sealed(
        "At the lowest point the pieces pay as much in alpha as the levels still wait for bytes. "
        "That is where k is the square root of (levels - 1) times S beta / alpha: a buffer four "
        "times as large is cut into twice as many pieces.",
        answer=lambda best: _nearest((2, 10, 40, 600), best),
    ),
    "Times as long round a ring as over PAT's trees: 1,024, 64 KiB": Sealed(
        "There are 1,023 steps or 10, with the same bytes from each rank. A small message pays "
        "for its steps. The first of the 10 goes farthest and takes one chunk along; the last "
        "goes next door with half of all: far ways are where a network is narrow.",
        answer=lambda ratio: _nearest((2, 10, 100, 1000), ratio),
    ),
    "Buffers that leave each of 8 GPUs where the switch adds": Sealed(
        "Whoever asks for a share, everybody's part of it is fetched: after eight askings the "
        "whole buffer has left. And one finished share is handed over. That is (n + 1) / n, where "
        "a ring sends 2 (n - 1) / n."
    ),
    "Times as much between 2 nodes of 4, in one ring as in two levels": Sealed(
        "One ring leaves each node over one rank, with nearly two buffers. In two levels every "
        "rank settles a share with its likes, and the four ports of a node carry it together."
    ),
    "GB through the busiest port, a reduce and then a broadcast": Sealed(
        "Seven buffers come in at rank 0 and seven leave it. A tree in place of the root takes "
        "that down to three of each, at the price of steps that wait for each other; a ring to "
        "two. The call says what is asked for, not how it is done."
    ),
    "GPUs at full rate over three levels of switches with 64 ports": Sealed(
        "Half of the ports go down on the two lower levels, and all of them at the top: 32 x 32 x "
        "64. With 128 ports it would be eight times as many."
    ),
    "Percent of pairs with one switch between them, by rails": Sealed(
        "NVLink brings the message to the GPU that has the right rail, and one switch does the "
        "rest; NCCL sends so what is not for the same place. Without that hop rails are hardly "
        "better than a switch for each four nodes: one pair of eight."
    ),
}
