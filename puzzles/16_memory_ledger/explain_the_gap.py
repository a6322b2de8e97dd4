"""explain_the_gap: what a layer keeps beyond sbh (34 + 5as/h).

    explain_the_gap(
        sequence, batch, hidden, heads, element_bytes, softmax_bytes
    ) -> dict

    sequence, batch, hidden, heads   the paper's s, b, h and a, each 1
                                     or more; heads divides hidden
    element_bytes                    of one number in the layer: 2 or 4
    softmax_bytes                    of one number of the softmax's
                                     output: element_bytes or 4

Return a dictionary with "dropout masks", "layer norm statistics",
"causal mask" and "wide softmax": for each the bytes that PyTorch keeps
on a CPU beyond the formula, 0 where there are none. The formula's terms
are those of the paper with `element_bytes` for each number, and one
byte for each number of a dropout mask.

Measured: a causal transformer layer with three dropouts (of the
softmax's output, after the attention, after the MLP) and two layer
norms, run for real; every byte it saves is in the sum.
"""


def explain_the_gap(
    sequence,
    batch,
    hidden,
    heads,
    element_bytes,
    softmax_bytes,
):
    gap = {
        "dropout masks": 0,
        "layer norm statistics": 0,
        "causal mask": 0,
        "wide softmax": 0,
    }
    # your code here (about 6 lines)
    return gap
