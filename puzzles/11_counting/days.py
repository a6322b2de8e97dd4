"""days: how long a GPT trains.

    days(layers, hidden, vocabulary, sequence, tokens, gpus, rate,
         counts) -> float

    layers      of the model
    hidden      numbers in a token's vector; the MLP is four times as
                wide, and all heads together as wide
    vocabulary  tokens that the head tells apart
    sequence    tokens in a sequence
    tokens      of the whole run
    gpus        how many
    rate        FLOP/s that each of them reaches
    counts      which FLOP the rate counts. "model": those of a forward
                and a backward pass; "machine": those that run, and in
                this run the layers run forward once more

Return the days that the run takes, not rounded. FLOP are those of the
products, as in the puzzle before: a layer has 12 * hidden ** 2 weights,
each token meets each of its sequence, and the head is one more product,
which does not run again. A product and an addition are two FLOP.

Every number is above 0.
"""


def days(
    layers,
    hidden,
    vocabulary,
    sequence,
    tokens,
    gpus,
    rate,
    counts,
):
    # your code here (about 9 lines)
    pass
