"""Wrong answers to best_fusion that learners give."""


def _allowed(operations, group):
    kinds = [operations[number]["kind"] for number in group]
    if "contraction" in kinds[1:]:
        return False
    return kinds[0] != "contraction" or "row" not in kinds


# over-budget, not-the-best: As long as it goes, one operation more.
def greedy(operations, sizes, keep):
    groups = [[0]]
    for number in range(1, len(operations)):
        if _allowed(operations, [*groups[-1], number]):
            groups[-1].append(number)
        else:
            groups.append([number])
    return groups


# over-budget, not-the-best: A product goes alone, and the rest together.
def products_alone(operations, sizes, keep):
    groups = []
    for number, each in enumerate(operations):
        alone = each["kind"] == "contraction"
        if groups and not alone and _allowed(operations, groups[-1]):
            last = operations[groups[-1][-1]]["kind"]
            if last != "contraction":
                groups[-1].append(number)
                continue
        groups.append([number])
    return groups


# over-budget, apart: Leaves it to the cache.
def each_on_its_own(operations, sizes, keep):
    return [[number] for number in range(len(operations))]


# wrong-result, cannot-fuse: The fewest kernels are the best.
def one_kernel_for_all(operations, sizes, keep):
    return [list(range(len(operations)))]


# wrong-result, cannot-fuse: A norm is only one more epilogue.
def rows_after_products(operations, sizes, keep):
    groups = []
    for number, each in enumerate(operations):
        if groups and each["kind"] != "contraction":
            groups[-1].append(number)
        else:
            groups.append([number])
    return groups


# wrong-result, not-in-order: Sorts the operations by their kind.
def kinds_together(operations, sizes, keep):
    kinds = ("contraction", "row", "map")
    found = [[k for k, each in enumerate(operations) if each["kind"] == kind] for kind in kinds]
    return [group for group in found if group]
