"""Wrong answers to layer_batch that learners give."""

import math


def _exact(d, f, itemsizes, peak, bandwidth):
    x, w, y = itemsizes
    gain = 2 * d * f / peak - (x * d + y * f) / bandwidth
    return w * d * f / bandwidth / gain if gain > 0 else None


def _up(batch, multiple):
    return None if batch is None else math.ceil(batch / multiple) * multiple


# wrong-result, weights-alone: The batch is small beside the weights, the books say.
def weights_are_all_there_is(d, f, itemsizes, peak, bandwidth, multiple):
    return _up(itemsizes[1] * peak / bandwidth / 2, multiple)


# wrong-result, ridge-alone: Intensity is the batch, and the ridge is the intensity.
def the_ridge_is_the_batch(d, f, itemsizes, peak, bandwidth, multiple):
    return _up(peak / bandwidth, multiple)


# wrong-result, not-never: A layer with a side below 512 is not worth a tensor core.
def gives_up_on_narrow_layers(d, f, itemsizes, peak, bandwidth, multiple):
    if min(d, f) < 512:
        return None
    return _up(_exact(d, f, itemsizes, peak, bandwidth), multiple)


# wrong-result, half-flop: A multiply-add is one operation.
def one_flop_for_a_product_and_its_sum(d, f, itemsizes, peak, bandwidth, multiple):
    return _up(_exact(d, f, itemsizes, 2 * peak, bandwidth), multiple)


# wrong-result, no-result: Nobody waits for a store.
def forgets_the_result(d, f, itemsizes, peak, bandwidth, multiple):
    x, w, _ = itemsizes
    return _up(_exact(d, f, (x, w, 0), peak, bandwidth), multiple)


# wrong-result, no-batch: The batch is in a cache from the layer before.
def forgets_the_batch(d, f, itemsizes, peak, bandwidth, multiple):
    _, w, y = itemsizes
    return _up(_exact(d, f, (0, w, y), peak, bandwidth), multiple)


# wrong-result, one-width: One dtype for the whole layer.
def one_width_for_all(d, f, itemsizes, peak, bandwidth, multiple):
    return _up(_exact(d, f, (itemsizes[0],) * 3, peak, bandwidth), multiple)


# wrong-result, numbers: Counts what is moved in numbers.
def numbers_for_bytes(d, f, itemsizes, peak, bandwidth, multiple):
    return _up(_exact(d, f, (1, 1, 1), peak, bandwidth), multiple)


# wrong-result, rounded-down: Whole tiles, so the rest is cut off.
def rounds_down(d, f, itemsizes, peak, bandwidth, multiple):
    batch = _exact(d, f, itemsizes, peak, bandwidth)
    return None if batch is None else math.floor(batch / multiple) * multiple


# wrong-result, rounded-down: Near enough.
def rounds_to_the_nearest(d, f, itemsizes, peak, bandwidth, multiple):
    batch = _exact(d, f, itemsizes, peak, bandwidth)
    return None if batch is None else round(batch / multiple) * multiple


# wrong-result, a-tile-more: Cuts the rest off and adds a tile, whether there was a rest or not.
def always_a_tile_more(d, f, itemsizes, peak, bandwidth, multiple):
    batch = _exact(d, f, itemsizes, peak, bandwidth)
    return None if batch is None else (math.floor(batch / multiple) + 1) * multiple


# wrong-result, no-multiple: Leaves the tiles to the library.
def any_number_of_rows(d, f, itemsizes, peak, bandwidth, multiple):
    return _up(_exact(d, f, itemsizes, peak, bandwidth), 1)


# wrong-result, never: Two lines cross somewhere, if need be at a negative batch.
def there_is_always_one(d, f, itemsizes, peak, bandwidth, multiple):
    x, w, y = itemsizes
    gain = 2 * d * f / peak - (x * d + y * f) / bandwidth
    batch = w * d * f / bandwidth / (gain or 1e-30)
    return math.ceil(abs(batch) / multiple) * multiple
