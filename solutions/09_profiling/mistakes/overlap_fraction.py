"""Wrong answers to overlap_fraction that learners give."""


def _length(spans):
    total, until = 0, None
    for start, end in sorted(spans):
        if until is not None:
            start = max(start, until)
        if end > start:
            total += end - start
            until = end
    return total


def _spans(events, *kinds):
    return [(s, e) for kind, s, e in events if kind in kinds]


def _share(moving, compute):
    if not _length(moving):
        return None
    return (_length(moving) + _length(compute) - _length(moving + compute)) / _length(moving)


# wrong-result, pair-by-pair: Each copy with each kernel.
def each_with_each(events):
    moving, compute = _spans(events, "copy", "communication"), _spans(events, "compute")
    if not _length(moving):
        return None
    shared = sum(max(0, min(e, t) - max(s, b)) for s, e in moving for b, t in compute)
    return shared / _length(moving)


# wrong-result, of-compute: Overlap is something compute does.
def share_of_the_compute(events):
    moving, compute = _spans(events, "copy", "communication"), _spans(events, "compute")
    if not _length(moving):
        return None
    both = _length(moving) + _length(compute) - _length(moving + compute)
    return both / (_length(compute) or 1)


# wrong-result, lengths-added: The time of the copies is the sum of their lengths.
def lengths_added_up(events):
    moving, compute = _spans(events, "copy", "communication"), _spans(events, "compute")
    total = sum(e - s for s, e in moving)
    if not total:
        return None
    return (_length(moving) + _length(compute) - _length(moving + compute)) / total


# wrong-result, hull: From the first begin to the last end.
def from_first_to_last(events):
    moving, compute = _spans(events, "copy", "communication"), _spans(events, "compute")
    if compute:
        compute = [(min(s for s, _ in compute), max(e for _, e in compute))]
    return _share(moving, compute)


# wrong-result, copies-alone: A copy is what moves bytes.
def copies_alone(events):
    return _share(_spans(events, "copy"), _spans(events, "compute"))


# wrong-result, communication-alone: Copies are small.
def communication_alone(events):
    return _share(_spans(events, "communication"), _spans(events, "compute"))


# wrong-result, exposed: What is left over is what costs.
def what_is_not_hidden(events):
    found = _share(_spans(events, "copy", "communication"), _spans(events, "compute"))
    return None if found is None else 1 - found


# wrong-result, wholly-hidden: Hidden means wholly under a kernel.
def wholly_under_a_kernel(events):
    moving, compute = _spans(events, "copy", "communication"), _spans(events, "compute")
    if not _length(moving):
        return None
    hidden = [(s, e) for s, e in moving if any(b <= s and e <= t for b, t in compute)]
    return _length(hidden) / _length(moving)


# wrong-result, zero-for-nothing: Nothing moved is nothing hidden.
def nothing_is_hidden(events):
    found = _share(_spans(events, "copy", "communication"), _spans(events, "compute"))
    return 0.0 if found is None else found


# wrong-result, percent: Papers print per cent.
def in_per_cent(events):
    found = _share(_spans(events, "copy", "communication"), _spans(events, "compute"))
    return None if found is None else 100 * found
