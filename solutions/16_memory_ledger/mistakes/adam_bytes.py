"""Wrong answers to adam_bytes that people give."""

import math


# wrong-result, only-narrow-copies: Takes float32 parameters for their own copies.
def copies_of_narrow_weights_alone(shapes, weight_bytes, master_copy):
    numbers = sum(math.prod(shape) for shape in shapes)
    updated = 4 if master_copy else weight_bytes
    before = (2 * weight_bytes + (4 if master_copy and weight_bytes < 4 else 0)) * numbers
    return before, 2 * updated * numbers + 4 * len(shapes)


# wrong-result, no-master: The float32 copy is a third set of parameters.
def forgets_the_master_copy(shapes, weight_bytes, master_copy):
    numbers = sum(math.prod(shape) for shape in shapes)
    updated = 4 if master_copy else weight_bytes
    return 2 * weight_bytes * numbers, 2 * updated * numbers + 4 * len(shapes)


# wrong-result, master-late: Takes the copy for something the first update makes.
def master_copy_in_the_jump(shapes, weight_bytes, master_copy):
    numbers = sum(math.prod(shape) for shape in shapes)
    updated = 4 if master_copy else weight_bytes
    jump = 2 * updated * numbers + 4 * len(shapes)
    return 2 * weight_bytes * numbers, jump + (4 * numbers if master_copy else 0)


# wrong-result, narrow-moments: Gives the moments the width of the weights, whatever Adam updates.
def moments_as_wide_as_the_weights(shapes, weight_bytes, master_copy):
    numbers = sum(math.prod(shape) for shape in shapes)
    before = (2 * weight_bytes + (4 if master_copy else 0)) * numbers
    return before, 2 * weight_bytes * numbers + 4 * len(shapes)


# wrong-result, one-moment: Adam has a mean of gradients and a mean of their squares.
def one_moment(shapes, weight_bytes, master_copy):
    numbers = sum(math.prod(shape) for shape in shapes)
    updated = 4 if master_copy else weight_bytes
    before = (2 * weight_bytes + (4 if master_copy else 0)) * numbers
    return before, updated * numbers + 4 * len(shapes)


# wrong-result, wide-moments: Gives the moments four bytes, whatever Adam updates.
def moments_always_in_float32(shapes, weight_bytes, master_copy):
    numbers = sum(math.prod(shape) for shape in shapes)
    before = (2 * weight_bytes + (4 if master_copy else 0)) * numbers
    return before, 8 * numbers + 4 * len(shapes)


# wrong-result, no-gradients: Each weight has a gradient.
def forgets_the_gradients(shapes, weight_bytes, master_copy):
    numbers = sum(math.prod(shape) for shape in shapes)
    updated = 4 if master_copy else weight_bytes
    before = (weight_bytes + (4 if master_copy else 0)) * numbers
    return before, 2 * updated * numbers + 4 * len(shapes)


# wrong-result, no-counters: Four bytes per tensor are missing.
def forgets_the_step_counters(shapes, weight_bytes, master_copy):
    numbers = sum(math.prod(shape) for shape in shapes)
    updated = 4 if master_copy else weight_bytes
    before = (2 * weight_bytes + (4 if master_copy else 0)) * numbers
    return before, 2 * updated * numbers


# wrong-result, one-counter: Adam counts the steps of each tensor by itself.
def one_step_counter_for_all(shapes, weight_bytes, master_copy):
    numbers = sum(math.prod(shape) for shape in shapes)
    updated = 4 if master_copy else weight_bytes
    before = (2 * weight_bytes + (4 if master_copy else 0)) * numbers
    return before, 2 * updated * numbers + 4


# wrong-result, wide-gradients: The recipe of a paper that keeps its gradients in float32.
def gradients_always_in_float32(shapes, weight_bytes, master_copy):
    numbers = sum(math.prod(shape) for shape in shapes)
    updated = 4 if master_copy else weight_bytes
    before = (weight_bytes + 4 + (4 if master_copy else 0)) * numbers
    return before, 2 * updated * numbers + 4 * len(shapes)


# wrong-result, all-in-jump: Before and after, where before and the difference are asked for.
def all_there_is_after_the_update(shapes, weight_bytes, master_copy):
    numbers = sum(math.prod(shape) for shape in shapes)
    updated = 4 if master_copy else weight_bytes
    before = (2 * weight_bytes + (4 if master_copy else 0)) * numbers
    return before, before + 2 * updated * numbers + 4 * len(shapes)


# wrong-result, swapped: Two right numbers in the wrong order.
def the_other_way_round(shapes, weight_bytes, master_copy):
    numbers = sum(math.prod(shape) for shape in shapes)
    updated = 4 if master_copy else weight_bytes
    before = (2 * weight_bytes + (4 if master_copy else 0)) * numbers
    return 2 * updated * numbers + 4 * len(shapes), before


# wrong-result, rows: Counts tensors' first side, not all their numbers.
def rows_for_numbers(shapes, weight_bytes, master_copy):
    numbers = sum(shape[0] for shape in shapes)
    updated = 4 if master_copy else weight_bytes
    before = (2 * weight_bytes + (4 if master_copy else 0)) * numbers
    return before, 2 * updated * numbers + 4 * len(shapes)


# wrong-result, sides: A (3, 4) matrix has not seven numbers.
def sides_added_up(shapes, weight_bytes, master_copy):
    numbers = sum(sum(shape) for shape in shapes)
    updated = 4 if master_copy else weight_bytes
    before = (2 * weight_bytes + (4 if master_copy else 0)) * numbers
    return before, 2 * updated * numbers + 4 * len(shapes)


# wrong-result, wrong-type: One number where two are asked for.
def everything_in_one_number(shapes, weight_bytes, master_copy):
    numbers = sum(math.prod(shape) for shape in shapes)
    updated = 4 if master_copy else weight_bytes
    before = (2 * weight_bytes + (4 if master_copy else 0)) * numbers
    return before + 2 * updated * numbers + 4 * len(shapes)


# wrong-result, single-numbers: An empty shape looks like no numbers at all.
def nothing_for_a_single_number(shapes, weight_bytes, master_copy):
    numbers = sum(math.prod(shape) if shape else 0 for shape in shapes)
    updated_bytes = 4 if master_copy else weight_bytes
    before = (2 * weight_bytes + (4 if master_copy else 0)) * numbers
    return before, 2 * updated_bytes * numbers + 4 * len(shapes)


# wrong-result, empty-tensors: A tensor without numbers is taken for none.
def no_counter_for_an_empty_tensor(shapes, weight_bytes, master_copy):
    sizes = [math.prod(shape) for shape in shapes if 0 not in shape]
    updated = 4 if master_copy else weight_bytes
    before = (2 * weight_bytes + (4 if master_copy else 0)) * sum(sizes)
    return before, 2 * updated * sum(sizes) + 4 * len(sizes)
