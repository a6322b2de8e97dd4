"""Wrong answers to explain_the_gap that people give."""


# wrong-result, whole-masks: The formula has a byte of each mask already.
def whole_masks(sequence, batch, hidden, heads, element_bytes, softmax_bytes):
    tokens = sequence * batch
    scores = heads * sequence * sequence * batch
    return {
        "dropout masks": element_bytes * (scores + 2 * tokens * hidden),
        "layer norm statistics": 4 * tokens * element_bytes,
        "causal mask": sequence * sequence,
        "wide softmax": (softmax_bytes - element_bytes) * scores,
    }


# wrong-result, too-few-masks: Two more dropouts stand behind the attention and behind the MLP.
def mask_of_the_scores_alone(sequence, batch, hidden, heads, element_bytes, softmax_bytes):
    tokens = sequence * batch
    scores = heads * sequence * sequence * batch
    return {
        "dropout masks": (element_bytes - 1) * scores,
        "layer norm statistics": 4 * tokens * element_bytes,
        "causal mask": sequence * sequence,
        "wide softmax": (softmax_bytes - element_bytes) * scores,
    }


# wrong-result, too-few-masks: One more dropout stands behind the attention.
def masks_of_the_attention(sequence, batch, hidden, heads, element_bytes, softmax_bytes):
    tokens = sequence * batch
    scores = heads * sequence * sequence * batch
    return {
        "dropout masks": (element_bytes - 1) * (scores + tokens * hidden),
        "layer norm statistics": 4 * tokens * element_bytes,
        "causal mask": sequence * sequence,
        "wide softmax": (softmax_bytes - element_bytes) * scores,
    }


# wrong-result, narrow-masks: A layer of 32-bit numbers has masks of four bytes.
def masks_of_two_bytes(sequence, batch, hidden, heads, element_bytes, softmax_bytes):
    tokens = sequence * batch
    scores = heads * sequence * sequence * batch
    return {
        "dropout masks": scores + 2 * tokens * hidden,
        "layer norm statistics": 4 * tokens * element_bytes,
        "causal mask": sequence * sequence,
        "wide softmax": (softmax_bytes - element_bytes) * scores,
    }


# wrong-result, one-norm: The layer has two layer norms.
def one_layer_norm(sequence, batch, hidden, heads, element_bytes, softmax_bytes):
    tokens = sequence * batch
    scores = heads * sequence * sequence * batch
    return {
        "dropout masks": (element_bytes - 1) * (scores + 2 * tokens * hidden),
        "layer norm statistics": 2 * tokens * element_bytes,
        "causal mask": sequence * sequence,
        "wide softmax": (softmax_bytes - element_bytes) * scores,
    }


# wrong-result, statistics-per-number: A layer norm has one mean per token, not per number.
def statistics_per_number(sequence, batch, hidden, heads, element_bytes, softmax_bytes):
    tokens = sequence * batch
    scores = heads * sequence * sequence * batch
    return {
        "dropout masks": (element_bytes - 1) * (scores + 2 * tokens * hidden),
        "layer norm statistics": 4 * tokens * hidden * element_bytes,
        "causal mask": sequence * sequence,
        "wide softmax": (softmax_bytes - element_bytes) * scores,
    }


# wrong-result, wide-statistics: On a GPU the statistics are float32; a layer that is bfloat16
# throughout keeps them so on a CPU.
def statistics_in_float32(sequence, batch, hidden, heads, element_bytes, softmax_bytes):
    tokens = sequence * batch
    scores = heads * sequence * sequence * batch
    return {
        "dropout masks": (element_bytes - 1) * (scores + 2 * tokens * hidden),
        "layer norm statistics": 4 * tokens * 4,
        "causal mask": sequence * sequence,
        "wide softmax": (softmax_bytes - element_bytes) * scores,
    }


# wrong-result, mask-per-head: One table of places serves all heads and sequences.
def a_causal_mask_per_head(sequence, batch, hidden, heads, element_bytes, softmax_bytes):
    tokens = sequence * batch
    scores = heads * sequence * sequence * batch
    return {
        "dropout masks": (element_bytes - 1) * (scores + 2 * tokens * hidden),
        "layer norm statistics": 4 * tokens * element_bytes,
        "causal mask": scores,
        "wide softmax": (softmax_bytes - element_bytes) * scores,
    }


# wrong-result, wide-mask: The mask of places is a table of bools.
def causal_mask_as_wide_as_the_numbers(
    sequence, batch, hidden, heads, element_bytes, softmax_bytes
):
    tokens = sequence * batch
    scores = heads * sequence * sequence * batch
    return {
        "dropout masks": (element_bytes - 1) * (scores + 2 * tokens * hidden),
        "layer norm statistics": 4 * tokens * element_bytes,
        "causal mask": element_bytes * sequence * sequence,
        "wide softmax": (softmax_bytes - element_bytes) * scores,
    }


# wrong-result, half-a-mask: The places that may not be looked at are in the table, too.
def a_triangle_for_the_causal_mask(sequence, batch, hidden, heads, element_bytes, softmax_bytes):
    tokens = sequence * batch
    scores = heads * sequence * sequence * batch
    return {
        "dropout masks": (element_bytes - 1) * (scores + 2 * tokens * hidden),
        "layer norm statistics": 4 * tokens * element_bytes,
        "causal mask": sequence * (sequence + 1) // 2,
        "wide softmax": (softmax_bytes - element_bytes) * scores,
    }


# wrong-result, whole-softmax: Counts the softmax whatever its width.
def any_softmax(sequence, batch, hidden, heads, element_bytes, softmax_bytes):
    tokens = sequence * batch
    scores = heads * sequence * sequence * batch
    return {
        "dropout masks": (element_bytes - 1) * (scores + 2 * tokens * hidden),
        "layer norm statistics": 4 * tokens * element_bytes,
        "causal mask": sequence * sequence,
        "wide softmax": softmax_bytes * scores,
    }


# wrong-result, whole-softmax: The formula has the narrow softmax already.
def whole_softmax(sequence, batch, hidden, heads, element_bytes, softmax_bytes):
    tokens = sequence * batch
    scores = heads * sequence * sequence * batch
    return {
        "dropout masks": (element_bytes - 1) * (scores + 2 * tokens * hidden),
        "layer norm statistics": 4 * tokens * element_bytes,
        "causal mask": sequence * sequence,
        "wide softmax": softmax_bytes * scores if softmax_bytes > element_bytes else 0,
    }


# wrong-result, names: Leaves out what adds nothing, and the puzzle asks for all four.
def leaves_zeros_out(sequence, batch, hidden, heads, element_bytes, softmax_bytes):
    tokens = sequence * batch
    scores = heads * sequence * sequence * batch
    gap = {
        "dropout masks": (element_bytes - 1) * (scores + 2 * tokens * hidden),
        "layer norm statistics": 4 * tokens * element_bytes,
        "causal mask": sequence * sequence,
    }
    if softmax_bytes > element_bytes:
        gap["wide softmax"] = (softmax_bytes - element_bytes) * scores
    return gap


# wrong-result, one-sequence: The scores of a single sequence.
def scores_of_one_sequence(sequence, batch, hidden, heads, element_bytes, softmax_bytes):
    tokens = sequence * batch
    scores = heads * sequence * sequence
    return {
        "dropout masks": (element_bytes - 1) * (scores + 2 * tokens * hidden),
        "layer norm statistics": 4 * tokens * element_bytes,
        "causal mask": sequence * sequence,
        "wide softmax": (softmax_bytes - element_bytes) * scores,
    }


# wrong-result, masks-too-wide: The dropout of the MLP stands behind its second layer, not inside.
def a_mask_inside_the_mlp(sequence, batch, hidden, heads, element_bytes, softmax_bytes):
    tokens = sequence * batch
    scores = heads * sequence * sequence * batch
    return {
        "dropout masks": (element_bytes - 1) * (scores + 5 * tokens * hidden),
        "layer norm statistics": 4 * tokens * element_bytes,
        "causal mask": sequence * sequence,
        "wide softmax": (softmax_bytes - element_bytes) * scores,
    }


# wrong-result, masks-too-wide: One mask more than the layer has.
def a_mask_too_many(sequence, batch, hidden, heads, element_bytes, softmax_bytes):
    tokens = sequence * batch
    scores = heads * sequence * sequence * batch
    return {
        "dropout masks": (element_bytes - 1) * (scores + 3 * tokens * hidden),
        "layer norm statistics": 4 * tokens * element_bytes,
        "causal mask": sequence * sequence,
        "wide softmax": (softmax_bytes - element_bytes) * scores,
    }
