"""Wrong answers to stash_bug that learners give."""


def _stage(order, weight, inputs, gradients, rate, way_back, most=None):
    outputs, back, stash, versions = [], [], {}, 1
    for action in order:
        each = int(action[1:])
        if action[0] == "F":
            stash[each] = weight
            outputs.append(inputs[each] @ weight)
        else:
            changed = weight - rate * inputs[each].T @ gradients[each]
            back.append(gradients[each] @ way_back(stash, each, weight, changed).T)
            stash.pop(each, None)
            weight = changed
        held = {id(weight), *map(id, stash.values())}
        versions = max(versions, len(held))
    return outputs, back, weight, versions if most is None else most(order)


# wrong-result, newest-weights: Takes the weights as they are when the gradient comes.
def the_newest_for_both(order, weight, inputs, gradients, rate):
    return _stage(order, weight, inputs, gradients, rate, lambda stash, each, now, next: now)


# wrong-result, updated-first: Takes the step first, then the gradient to the input.
def steps_before_it_goes_back(order, weight, inputs, gradients, rate):
    return _stage(order, weight, inputs, gradients, rate, lambda stash, each, now, next: next)


# wrong-result, one-array: Puts the array aside, and changes it in place.
def changed_in_place(order, weight, inputs, gradients, rate):
    weight = weight.copy()
    outputs, back, stash, most = [], [], {}, 1
    for action in order:
        each = int(action[1:])
        if action[0] == "F":
            stash[each] = weight
            outputs.append(inputs[each] @ weight)
        else:
            back.append(gradients[each] @ stash.pop(each).T)
            weight -= rate * inputs[each].T @ gradients[each]
        most = max(most, len(stash) + 1)
    return outputs, back, weight, most


# wrong-result, all-versions: Keeps every version there ever was.
def keeps_every_version(order, weight, inputs, gradients, rate):
    return _stage(
        order, weight, inputs, gradients, rate,
        lambda stash, each, now, next: stash[each], lambda order: 1 + len(order) // 2,
    )  # fmt: skip


# wrong-result, counts: Counts a version for each microbatch under way.
def a_version_for_each_microbatch(order, weight, inputs, gradients, rate):
    def most(order):
        held, peak = 0, 0
        for action in order:
            held += 1 if action[0] == "F" else -1
            peak = max(peak, held)
        return peak

    return _stage(
        order, weight, inputs, gradients, rate, lambda stash, each, now, next: stash[each], most
    )


# wrong-result, oldest-weights: Lets every microbatch go forward with the weights of the oldest one.
def the_oldest_for_all(order, weight, inputs, gradients, rate):
    outputs, back, stash, most = [], [], {}, 1
    for action in order:
        each = int(action[1:])
        if action[0] == "F":
            stash[each] = next(iter(stash.values()), weight)
            outputs.append(inputs[each] @ stash[each])
        else:
            back.append(gradients[each] @ stash.pop(each).T)
            weight = weight - rate * inputs[each].T @ gradients[each]
        most = max(most, len({id(weight), *map(id, stash.values())}))
    return outputs, back, weight, most


# wrong-result, lost-steps: Steps from the weights of the forward pass; steps between are lost.
def steps_from_the_old_weights(order, weight, inputs, gradients, rate):
    outputs, back, stash, most = [], [], {}, 1
    for action in order:
        each = int(action[1:])
        if action[0] == "F":
            stash[each] = weight
            outputs.append(inputs[each] @ weight)
        else:
            used = stash.pop(each)
            back.append(gradients[each] @ used.T)
            weight = used - rate * inputs[each].T @ gradients[each]
        most = max(most, len({id(weight), *map(id, stash.values())}))
    return outputs, back, weight, most
