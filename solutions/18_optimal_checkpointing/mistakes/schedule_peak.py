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


# wrong-result, swapped: Two right numbers in the wrong order.
def the_cost_first(stages, schedule):
    peak, cost = followed(stages, schedule)
    return cost, peak


def operations(stages, schedule, batch=0, moves=True):
    """What each operation rises to, with the batch's bytes, and a gradient that moves or not."""
    kept, saved, gradient = {0}, set(), len(stages)
    for word, stage in schedule:
        values = kept | {each + 1 for each in saved} | ({stage} if word != "backward" else set())
        found = sum(stages[value - 1]["output_bytes"] if value else batch for value in values)
        found += sum(stages[each]["saved_bytes"] for each in saved)
        found += stages[gradient - 1]["output_gradient_bytes"]
        yield found + stages[stage][RISES[word]]
        if word == "backward":
            saved.discard(stage)
            kept.discard(stage)
            gradient = stage if moves else gradient
        else:
            kept |= {stage} if word != "forward" else set()
            saved |= {stage} if word == "save all" else set()


# wrong-result, not-the-most: Adds up what belongs to different moments.
def the_sum_of_all_operations(stages, schedule):
    return sum(operations(stages, schedule)), followed(stages, schedule)[1]


# wrong-result, not-the-most: Overwrites the peak with each operation.
def what_the_last_one_takes(stages, schedule):
    return list(operations(stages, schedule))[-1], followed(stages, schedule)[1]


# wrong-result, let-go-too-late: Value 0 has no stage before it, and index -1 is the last one.
def counts_the_batch(stages, schedule):
    batch = stages[-1]["output_bytes"]
    return max(operations(stages, schedule, batch)), followed(stages, schedule)[1]


# wrong-result, old-gradient: The gradient stays that of the loss.
def keeps_the_gradient_of_the_loss(stages, schedule):
    return max(operations(stages, schedule, moves=False)), followed(stages, schedule)[1]
