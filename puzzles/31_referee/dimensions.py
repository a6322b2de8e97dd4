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
    # your code here (about 16 lines)
    pass


def kept(powers):
    """Returns the powers that are not 0."""
    return {base: p for base, p in powers.items() if abs(p) > 1e-9}
