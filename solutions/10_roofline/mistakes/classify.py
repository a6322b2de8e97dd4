"""Wrong answers to classify that learners give."""


def _word(flop_grows, data_grows):
    if flop_grows:
        return "compute" if data_grows else "unclear"
    return "bandwidth" if data_grows else "overhead"


# wrong-result, data-first: More data takes longer, so it is the data.
def asks_for_data_first(runs):
    words = []
    for seconds, more_flop, more_data in runs:
        if more_data > 1.5 * seconds:
            words.append("bandwidth")
        else:
            words.append("compute" if more_flop > 1.5 * seconds else "overhead")
    return words


# wrong-result, no-overhead: It is either compute or memory.
def knows_no_overhead(runs):
    return ["compute" if f > 1.5 * s else "bandwidth" for s, f, _ in runs]


# wrong-result, never-unclear: Three regimes, three words.
def trusts_every_measurement(runs):
    words = []
    for seconds, more_flop, more_data in runs:
        if more_flop > 1.5 * seconds:
            words.append("compute")
        else:
            words.append("bandwidth" if more_data > 1.5 * seconds else "overhead")
    return words


# wrong-result, any-growth: Longer is longer.
def any_growth_is_growth(runs):
    return [_word(f > s, d > s) for s, f, d in runs]


# wrong-result, difference: Looks at the seconds that are added.
def half_a_second_more(runs):
    return [_word(f - s > 0.5, d - s > 0.5) for s, f, d in runs]


# wrong-result, border: At the border it counts as grown.
def half_as_long_again_is_enough(runs):
    return [_word(f >= 1.5 * s, d >= 1.5 * s) for s, f, d in runs]


# wrong-result, hair: Takes a ratio with one digit for exact enough.
def rounds_before_it_compares(runs):
    return [_word(round(f / s, 1) > 1.5, round(d / s, 1) > 1.5) for s, f, d in runs]


# wrong-result, doubled: Twice the work should take twice the time.
def waits_for_it_to_double(runs):
    return [_word(f >= 2 * s, d >= 2 * s) for s, f, d in runs]


# wrong-result, exchanged: Reads the three numbers in another order.
def data_before_flop(runs):
    return [_word(f > 1.5 * s, d > 1.5 * s) for s, d, f in runs]


# wrong-result, upside-down: What has room to grow is what it is bound by.
def what_is_free_decides(runs):
    return [_word(not f > 1.5 * s, not d > 1.5 * s) for s, f, d in runs]


# wrong-result, how-many: Judges the first run alone.
def one_word_for_all(runs):
    return [_word(f > 1.5 * s, d > 1.5 * s) for s, f, d in runs[:1]]


# wrong-result, words: The words of the literature.
def other_words(runs):
    return ["memory" if d > 1.5 * s else "overhead" for s, f, d in runs]
