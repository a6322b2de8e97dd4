"""Wrong answers to dimensions that people give."""


def kept(powers):
    return {base: p for base, p in powers.items() if abs(p) > 1e-9}


def walk(formula, units, same, combine, power=None, none=True, pure=False):
    """The walk over a formula, with the parts that people get wrong left open."""
    if isinstance(formula, str):
        return dict(units[formula])
    if not isinstance(formula, tuple):
        return {}
    operation, left, right = formula
    one = walk(left, units, same, combine, power, none, pure)
    if operation == "^":
        if one is None:
            return None
        return power(one, right) if power else kept({b: p * right for b, p in one.items()})
    two = walk(right, units, same, combine, power, none, pure)
    if one is None or two is None:
        if none or one is two:
            return None
        return one or two
    if operation in ("*", "/"):
        return combine(operation, one, two)
    if pure and not isinstance(left, tuple | str):
        return two
    if pure and not isinstance(right, tuple | str):
        return one
    return same(operation, one, two)


def equal(operation, one, two):
    return None if product("/", one, two) else one


def product(operation, one, two):
    sign = 1 if operation == "*" else -1
    return kept({b: one.get(b, 0) + sign * two.get(b, 0) for b in {*one, *two}})


# wrong-result, numbers-fit-all: A number may be added to anything.
def a_number_fits_all(formula, units):
    return walk(formula, units, equal, product, pure=True)


# wrong-result, equations-pass: Checks sums alone.
def equations_are_not_checked(formula, units):
    def same(operation, one, two):
        return one if operation in ("=", "<=") else equal(operation, one, two)

    return walk(formula, units, same, product)


# wrong-result, max-passes: Takes max for a function of one unit.
def the_larger_of_anything(formula, units):
    def same(operation, one, two):
        return one if operation == "max" else equal(operation, one, two)

    return walk(formula, units, same, product)


# wrong-result, power-lost: Leaves powers out.
def a_power_changes_nothing(formula, units):
    return walk(formula, units, equal, product, power=lambda one, right: one)


# wrong-result, divided-like-multiplied: Adds the powers of a division.
def divides_as_it_multiplies(formula, units):
    return walk(formula, units, equal, lambda operation, one, two: product("*", one, two))


# wrong-result, unsound-divided-away: Goes on without a side that is None.
def goes_on_without_none(formula, units):
    return walk(formula, units, equal, product, none=False)


# wrong-result, only-which: Compares which base units there are.
def the_same_letters(formula, units):
    def same(operation, one, two):
        return one if set(one) == set(two) else None

    return walk(formula, units, same, product)


# wrong-result, zeros: Keeps what has cancelled.
def keeps_zeros(formula, units):
    def combine(operation, one, two):
        sign = 1 if operation == "*" else -1
        return {b: one.get(b, 0) + sign * two.get(b, 0) for b in {*one, *two}}

    def same(operation, one, two):
        return None if product("/", one, two) else one

    return walk(formula, units, same, combine)


# wrong-result, top-only: Looks at the outermost operation.
def the_outermost_operation(formula, units):
    def inner(operation, one, two):
        return one

    if not isinstance(formula, tuple):
        return walk(formula, units, equal, product)
    operation, left, right = formula
    if operation == "^":
        return walk(formula, units, inner, product)
    one, two = (walk(each, units, inner, product) for each in (left, right))
    return product(operation, one, two) if operation in ("*", "/") else equal(operation, one, two)


# wrong-result, added-like-multiplied: Multiplies the units of a sum.
def a_sum_is_a_product(formula, units):
    def same(operation, one, two):
        return None if product("/", one, two) else product("*", one, two)

    return walk(formula, units, same, product)
