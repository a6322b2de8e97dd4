"""relabel: which model did a run train?

    relabel(runs, models, sequence) -> list of lists of names

    runs      list of dicts: "pp", pipeline stages; "tokens_per_s", on
              each GPU, a whole number; "mfu", text such as "13.0", in %
    models    dict from a name to a dict: layers, hidden, heads,
              kv_heads, mlp, vocabulary, and tied, which is True where
              one table serves as embedding and as head
    sequence  tokens in a sequence
    return    for each run the names of all models it may have trained,
              in the order of `models`

Each layer has four matrices of attention, for keys and values with
kv_heads heads of hidden / heads numbers; three of hidden x mlp numbers;
and two norms of `hidden` numbers. One more norm follows. Embedding and
head have vocabulary x hidden numbers each. A tied table is counted
once, and with more than one stage twice: it is on the first and the
last.

With N numbers in all, MFU is (6 N + 12 layers hidden sequence) tokens/s
over the 989.5e12 FLOP/s of an H100. A run may have trained a model
whose MFU is at most 0.1 % points from what is printed. There may be
several such models, or none; and no runs or models at all.
"""


def relabel(runs, models, sequence):
    # your code here (about 10 lines)
    pass


def flop(shape, pp, sequence):
    """Returns the FLOP credited for a token. A helper, or leave it."""
    # your code here (about 6 lines)
