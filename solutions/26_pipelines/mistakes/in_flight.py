"""Wrong answers to in_flight that learners give."""


def _peaks(orders, change, last=False):
    peaks = []
    for order in orders:
        held = peak = 0
        for action in order:
            kind = action.strip("0123456789")
            held += change(kind, int(action.partition(kind)[0]))
            peak = held if last else max(peak, held)
        peaks.append(peak)
    return peaks


# wrong-result, never-back: Adds up what all forward passes leave behind.
def nothing_given_back(orders, activations, kept):
    return _peaks(orders, lambda kind, stage: activations[stage] if kind == "F" else 0)


# wrong-result, one-stage: Takes the number of the rank for that of the stage.
def the_rank_is_the_stage(orders, activations, kept):
    peaks = []
    for rank, order in enumerate(orders):
        one = {"F": activations[rank], "B": -activations[rank],
               "I": kept[rank] - activations[rank], "W": -kept[rank]}  # fmt: skip
        peaks += _peaks([order], lambda kind, stage, one=one: one[kind])
    return peaks


# wrong-result, all-at-once: Takes I for the whole backward pass.
def gives_all_back_at_i(orders, activations, kept):
    def change(kind, stage):
        return {"F": activations[stage], "B": -activations[stage],
                "I": -activations[stage], "W": 0}[kind]  # fmt: skip

    return _peaks(orders, change)


# wrong-result, all-at-once: Lets I keep everything until W.
def gives_nothing_back_at_i(orders, activations, kept):
    def change(kind, stage):
        return {"F": activations[stage], "B": -activations[stage],
                "I": 0, "W": -activations[stage]}[kind]  # fmt: skip

    return _peaks(orders, change)


# wrong-result, counts: Counts microbatches.
def counts_microbatches(orders, activations, kept):
    return _peaks(orders, lambda kind, stage: {"F": 1, "B": -1, "I": 0, "W": -1}[kind])


# wrong-result, at-the-end: Returns what is held after the last action.
def held_at_the_end(orders, activations, kept):
    def change(kind, stage):
        return {"F": activations[stage], "B": -activations[stage],
                "I": kept[stage] - activations[stage], "W": -kept[stage]}[kind]  # fmt: skip

    return _peaks(orders, change, last=True)
