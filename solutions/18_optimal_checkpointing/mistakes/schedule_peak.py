"""Wrong answers to schedule_peak that people give."""

RISES = {
    "forward": "forward_bytes",
    "keep input": "forward_bytes",
    "save all": "forward_saving_bytes",
    "backward": "backward_bytes",
}


def followed(stages, schedule, gradients=True, after=False, frees=True, once=True, passed=True):
    """The right way with a slip or two."""
    kept, saved, head, gradient = {0}, set(), 0, len(stages)
    peak, cost = 0, 0

    def held():
        values = [*kept, *(each + 1 for each in saved), *([head] if passed else [])]
        found = sum(stages[v - 1]["output_bytes"] for v in (set(values) if once else values) if v)
        found += sum(stages[each]["saved_bytes"] for each in saved)
        if gradients and gradient:
            found += stages[gradient - 1]["output_gradient_bytes"]
        return found

    for word, stage in schedule:
        here = stages[stage]
        if word != "backward":
            head = stage
            if word != "forward":
                kept.add(stage)
        if not after:
            peak = max(peak, held() + here[RISES[word]])
        if word == "backward":
            cost += here["backward_cost"]
            saved.discard(stage)
            if frees:
                kept -= {stage} - {0}
            head, gradient = 0, stage
        else:
            cost += here["forward_cost"]
            head = stage + 1
            if word == "save all":
                saved.add(stage)
        if after:
            peak = max(peak, held())
    return peak, cost


# wrong-result, no-gradient: As if gradients took no memory.
def forgets_the_gradient(stages, schedule):
    return followed(stages, schedule, gradients=False)


# wrong-result, afterwards: What is left after an operation, not what it needs while it runs.
def looks_after_each_operation(stages, schedule):
    return followed(stages, schedule, after=True)


# wrong-result, let-go-too-late: A backward pass frees what was saved, and the kept input stays
# for ever.
def never_lets_go_of_an_input(stages, schedule):
    return followed(stages, schedule, frees=False)


# wrong-result, let-go-too-late: The output of one saved stage is the input of the next: the same
# tensor, counted twice.
def counts_outputs_and_inputs(stages, schedule):
    return followed(stages, schedule, once=False)


# wrong-result, too-low: Only what is kept or saved: the value on its way from stage to stage is
# there, too.
def forgets_what_is_passed_on(stages, schedule):
    return followed(stages, schedule, passed=False)


# wrong-result, each-stage-once: Each stage's forward pass once, however often the schedule runs
# it.
def counts_each_stage_once(stages, schedule):
    cost = sum(stage["forward_cost"] + stage["backward_cost"] for stage in stages)
    return followed(stages, schedule)[0], cost


# wrong-result, wrong-cost: Forward passes alone.
def forgets_the_way_back(stages, schedule):
    cost = sum(stages[s]["forward_cost"] for word, s in schedule if word != "backward")
    return followed(stages, schedule)[0], cost
