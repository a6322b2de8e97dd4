"""Wrong answers to find_the_bottleneck that learners give."""

_MASKS = ("aten::triu", "aten::tril", "aten::arange")


def _spans(events, prefix):
    return [(e["tid"], e["ts"], e["ts"] + e["dur"]) for e in events if e["name"].startswith(prefix)]


def _within(e, spans, threads=True):
    return any(
        (e["tid"] == tid or not threads) and s <= e["ts"] and e["ts"] + e["dur"] <= t
        for tid, s, t in spans
    )


def _told(
    events,
    whole=False,
    own_items=False,
    own_casts=False,
    any_copy=False,
    masks=_MASKS,
    heaps=True,
    adam=False,
    total=False,
    threads=True,
):
    steps = _spans(events, "ProfilerStep#")
    loader, optimizer = _spans(events, "enumerate(DataLoader)"), _spans(events, "Optimizer.step")
    inside = events if whole else [e for e in events if _within(e, steps[:1], threads)]
    loading = [e for e in inside if _within(e, loader)]
    updating = [e for e in inside if _within(e, optimizer)]
    rest = [e for e in inside if not _within(e, loader) and not _within(e, optimizer)]

    def count(*names, of=rest):
        return sum(e["name"] in names for e in of)

    if heaps and len(loading) >= 20 * (len(steps) if whole else 1):
        return "loader"
    if adam and count("aten::addcmul_", of=updating):
        return "optimizer"
    if not adam and not any("_foreach_" in e["name"] or "_fused_" in e["name"] for e in updating):
        return "optimizer"
    often = {}
    for e in rest if heaps else rest + loading:
        often[e["name"], e["shapes"]] = often.get((e["name"], e["shapes"]), 0) + 1
    if total and len(rest) > 600:
        return "small operations"
    if max(often.values()) > (19 if not heaps else 40):
        return "small operations"
    if count("aten::item", of=inside if own_items else rest):
        return "item"
    most = 0 if any_copy else 4
    if count("aten::_to_copy", of=inside if own_casts else rest) > most:
        return "dtypes"
    if count("aten::contiguous") > (0 if any_copy else 1):
        return "contiguous"
    return "mask" if count(*masks) else "none"


# wrong-result, whole-trace: A trace is a trace.
def over_the_whole_trace(events):
    return _told(events, whole=True)


# wrong-result, items-of-the-optimizer: Every aten::item is a wait.
def items_wherever_they_are(events):
    return _told(events, own_items=True)


# wrong-result, conversions-of-the-optimizer: Every conversion is one too many.
def conversions_wherever_they_are(events):
    return _told(events, own_casts=True)


# wrong-result, any-at-all: A sound step converts and copies nothing.
def one_is_too_many(events):
    return _told(events, any_copy=True)


# wrong-result, another-thread: What happens during a step is part of it.
def whatever_thread_it_is(events):
    return _told(events, threads=False)


# wrong-result, longest: The longest operator is the bottleneck.
def what_takes_longest(events):
    words = {
        "aten::item": "item",
        "aten::_to_copy": "dtypes",
        "aten::contiguous": "contiguous",
        "aten::triu": "mask",
        "aten::select": "small operations",
    }
    took = dict.fromkeys(words.values(), 0)
    for e in events:
        if e["name"] in words:
            took[words[e["name"]]] += e["dur"]
    took["loader"] = sum(t - s for _, s, t in _spans(events, "enumerate(DataLoader)"))
    took["optimizer"] = sum(t - s for _, s, t in _spans(events, "Optimizer.step"))
    return max(took, key=took.get)


# wrong-result, mask-by-triu: A causal mask is a triangle.
def one_way_to_make_a_mask(events):
    return _told(events, masks=("aten::triu",))


# wrong-result, rows-in-the-loader: Many small operations are many small operations.
def the_loader_is_like_the_rest(events):
    return _told(events, heaps=False)


# wrong-result, adam-alone: An optimizer that goes tensor by tensor calls addcmul_.
def knows_adam_alone(events):
    return _told(events, adam=True)


# wrong-result, total-calls: More than some hundred calls are too many.
def many_events_are_small_ones(events):
    return _told(events, total=True)
