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
    # your code here (about 31 lines)
    pass
