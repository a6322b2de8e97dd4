"""find_the_bottleneck: which fault is planted in this training loop?

    find_the_bottleneck(events) -> str

    events  list of dict, as torch.profiler records them: name; ts and
            dur in nanoseconds; tid; shapes, a text with the shapes of
            the inputs, such as "[[4, 8, 16], []]". In no order.

"ProfilerStep#0" and so on are the steps, of a small transformer. Inside
each, "enumerate(DataLoader)..." is the loader and "Optimizer.step..."
the optimizer. An event is inside another only if both are of one
thread; what other threads do is no part of the loop. A sound loop has
in EACH step
  in the loader     fewer than 20 events, for a batch of 3 rows or more
  in the optimizer  one fused operator, or operators on lists of tensors
                    (their names say _fused_ or _foreach_)
  in all the rest   no operator more than 40 times with the same shapes;
                    at most 4 aten::_to_copy; 1 aten::contiguous; no
                    aten::item; no new mask
It makes its mask before the first step, and reads its loss after the
last. Return "none", or what is planted, always in every step:

"small operations"  a Python loop over rows and places for the loss
"item"              a number is read to the host
"dtypes"            at least 4 more conversions, there and back
"contiguous"        at least 4 more copies into another order
"mask"              a mask from aten::triu, aten::tril or aten::arange
"loader"            8 changes of each row, one row after the other
"optimizer"         aten operators on single tensors

Times are no help: the clocks of these traces are bent.
"""

from collections import Counter


def find_the_bottleneck(events):
    # answer
    def inside(prefix):
        found = [e for e in events if e["name"].startswith(prefix)]
        return [(e["tid"], e["ts"], e["ts"] + e["dur"]) for e in found]

    def within(e, spans):
        start, end = e["ts"], e["ts"] + e["dur"]
        same = [(a, b) for tid, a, b in spans if tid == e["tid"]]
        return any(a <= start and end <= b for a, b in same)

    step = inside("ProfilerStep#")[:1]
    loader = inside("enumerate(DataLoader)")
    optimizer = inside("Optimizer.step")
    in_step = [e for e in events if within(e, step)]
    loading = [e for e in in_step if within(e, loader)]
    updating = [e for e in in_step if within(e, optimizer)]
    rest = [e for e in in_step if not within(e, loader + optimizer)]
    counts = Counter(e["name"] for e in rest)
    alike = Counter((e["name"], e["shapes"]) for e in rest)
    lists = ("_foreach_", "_fused_")
    if len(loading) >= 20:
        return "loader"
    if not any(kind in e["name"] for e in updating for kind in lists):
        return "optimizer"
    if max(alike.values()) > 40:
        return "small operations"
    if counts["aten::item"]:
        return "item"
    if counts["aten::_to_copy"] > 4:
        return "dtypes"
    if counts["aten::contiguous"] > 1:
        return "contiguous"
    masks = ("aten::triu", "aten::tril", "aten::arange")
    return "mask" if any(name in counts for name in masks) else "none"
    # end answer
