"""Wrong answers to intensity that learners give."""


def _flop(b, d, f):
    return 2 * b * d * f


def _moved(b, d, f, itemsizes, own_weights):
    x, w, y = itemsizes
    return x * b * d + w * d * f * (b if own_weights else 1) + y * b * f


# wrong-result, half-flop: A multiply-add is one instruction, so it must be one operation.
def one_flop_for_a_product_and_its_sum(b, d, f, itemsizes, own_weights):
    return b * d * f / _moved(b, d, f, itemsizes, own_weights)


# wrong-result, upside-down: Bytes per FLOP is a number that papers print, too.
def the_other_way_up(b, d, f, itemsizes, own_weights):
    return _moved(b, d, f, itemsizes, own_weights) / _flop(b, d, f)


# wrong-result, no-result: Loads are what is waited for; nobody waits for a store.
def forgets_the_result(b, d, f, itemsizes, own_weights):
    x, w, _ = itemsizes
    return _flop(b, d, f) / (x * b * d + w * d * f * (b if own_weights else 1))


# wrong-result, weights-alone: The batch is small beside the weights, so it is left out.
def only_the_weights(b, d, f, itemsizes, own_weights):
    return _flop(b, d, f) / (itemsizes[1] * d * f * (b if own_weights else 1))


# wrong-result, numbers: Counts what is moved in numbers.
def numbers_for_bytes(b, d, f, itemsizes, own_weights):
    return _flop(b, d, f) / _moved(b, d, f, (1, 1, 1), own_weights)


# wrong-result, one-width: One dtype for the whole layer.
def one_width_for_all(b, d, f, itemsizes, own_weights):
    return _flop(b, d, f) / _moved(b, d, f, (itemsizes[0],) * 3, own_weights)


# wrong-result, shared: Does not see the switch.
def one_matrix_for_all_rows(b, d, f, itemsizes, own_weights):
    return _flop(b, d, f) / _moved(b, d, f, itemsizes, False)


# wrong-result, not-shared-weights: Each row is multiplied by the weights, so each row loads them.
def a_matrix_for_every_row(b, d, f, itemsizes, own_weights):
    return _flop(b, d, f) / _moved(b, d, f, itemsizes, True)


# wrong-result, no-reuse: Two loads for every product, as in the first kernel for it.
def loads_for_every_product(b, d, f, itemsizes, own_weights):
    x, w, y = itemsizes
    return _flop(b, d, f) / (b * d * f * (x + w) + y * b * f)
