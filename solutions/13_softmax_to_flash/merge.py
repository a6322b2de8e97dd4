"""merge: one attention out of parts, each over a tile of keys.

    merge(parts) -> (m, total, acc)

    parts  list of tuples (m, total, acc), at least one. Each is what a
           tile of keys has left for every query:
             m      float64 (queries,): a number that the tile
                    subtracted from all of the query's scores; -inf
                    where the query sees none of its keys
             total  float64 (queries,): the sum of exp(score - m); 0
                    there
             acc    float64 (queries, width): the sum of
                    exp(score - m) * value; 0 there

Return one such tuple that stands for all the keys together. Which m it
has is free. The check works out acc / total, which is the attention,
and m + log(total), which is the log-sum-exp of the scores. It also
merges what you return: a merge of merges has to give the same, whatever
the order.

m is often a tile's largest score, and need not be: a kernel that is
done with some keys may hand on its log-sum-exp as m, 1 as total and its
result as acc. It may be in the thousands, where exp(m) has no float64,
and so may its distance from another m. Where a query sees no key at
all, m is -inf, and total and acc are 0. A NaN in a part is a NaN in the
result of its query, and of no other. Leave the parts as they are.
"""

import numpy as np


def merge(parts):
    # answer
    m = np.max([part[0] for part in parts], axis=0)
    # Where no part has seen a key, -inf - -inf would be NaN.
    safe = np.where(m == -np.inf, 0.0, m)
    total = np.zeros_like(parts[0][1])
    acc = np.zeros_like(parts[0][2])
    for part_m, part_total, part_acc in parts:
        factor = np.exp(part_m - safe)
        total += factor * part_total
        acc += factor[:, None] * part_acc
    return m, total, acc
    # end answer
    return None
