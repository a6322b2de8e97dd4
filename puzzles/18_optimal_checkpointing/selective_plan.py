"""selective_plan: which products to save, which to run again.

    selective_plan(products, budget) -> [number, ...]

    products  a list of dicts, the matrix products of a region of real
              transformer layers in the order they run: name, bytes (of
              the output: what saving it takes), flops (of running it)
    budget    how many bytes may be saved: from 0 to more than enough

Return the numbers of the products to save, each once, counted from 0 as
in the list: an empty list where none fits, and any where several are
equally good. The region is run with them under PyTorch's selective
contexts. Their rule: what is not saved is run again, whether or not
anything still needs it. (A second run ends with the last thing that is
needed: in these layers the mask of a dropout after the last product.)

Measured: the bytes saved, which have to stay within the budget; the
FLOP of the whole run, which have to be the fewest any choice within the
budget takes; and the gradients, which are the plain run's, bit for bit.
"""


def selective_plan(products, budget):
    # your code here (about 8 lines)
    pass
