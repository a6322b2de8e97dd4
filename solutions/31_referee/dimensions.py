"""dimensions: the unit of a formula, if it has one.

    dimensions(formula, units) -> dict, or None

    formula  a number, a name, or a tuple (operation, left, right)
             whose sides are formulas. The operation is one of
             "+", "-", "max", "=", "<=", "*", "/", "^"
    units    dict from each name to its unit: {"byte": 1, "s": -1} is
             bytes a second, {} a pure number
    return   the unit of the formula, written in the same way, without
             powers of 0

Some operations need the same unit on both sides, and the result has it
too: "+", "-", "max", "=" and "<=". Return None if that fails anywhere
in the formula: bytes cannot be added to seconds. A number has no unit,
so it cannot be added to bytes either.

The right side of "^" is a number, which may be a fraction or below 0.
Powers that differ by 1e-9 or less are the same. `units` may have names
that the formula has not.
"""


def dimensions(formula, units):
    # answer
    if isinstance(formula, str):
        return dict(units[formula])
    if not isinstance(formula, tuple):
        return {}
    operation, left, right = formula
    one = dimensions(left, units)
    if operation == "^":
        return None if one is None else kept({b: p * right for b, p in one.items()})
    two = dimensions(right, units)
    if one is None or two is None:
        return None
    sign = 1 if operation == "*" else -1
    both = kept({b: one.get(b, 0) + sign * two.get(b, 0) for b in {*one, *two}})
    if operation in ("*", "/"):
        return both
    return None if both else one
    # end answer


def kept(powers):
    """Returns the powers that are not 0."""
    return {base: p for base, p in powers.items() if abs(p) > 1e-9}
