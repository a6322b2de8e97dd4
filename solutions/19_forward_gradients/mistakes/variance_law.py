"""Wrong answers to variance_law that people give."""


# wrong-result, second-moment: The estimate itself, and not its distance.
def mean_square_of_the_estimate(gradient, k, directions):
    d = len(gradient)
    square = sum(number * number for number in gradient)
    factors = {"normal": (d + 2) / k, "signs": d / k, "right angles": d / k}
    return factors[directions] * square


# wrong-result, no-average: An average of one.
def one_estimate(gradient, k, directions):
    d = len(gradient)
    square = sum(number * number for number in gradient)
    factors = {"normal": d + 1, "signs": d - 1, "right angles": d / k - 1}
    return factors[directions] * square


# wrong-result, all-normal: Signs have no fourth moment beyond 1.
def all_as_normal(gradient, k, directions):
    d = len(gradient)
    square = sum(number * number for number in gradient)
    factors = {"normal": (d + 1) / k, "signs": (d + 1) / k, "right angles": d / k - 1}
    return factors[directions] * square


# wrong-result, fourth-moment: A normal number's square is not always 1.
def all_as_signs(gradient, k, directions):
    d = len(gradient)
    square = sum(number * number for number in gradient)
    factors = {"normal": (d - 1) / k, "signs": (d - 1) / k, "right angles": d / k - 1}
    return factors[directions] * square


# wrong-result, standard-deviation: The distance, and not its square.
def root_of_the_variance(gradient, k, directions):
    d = len(gradient)
    square = sum(number * number for number in gradient)
    factors = {"normal": (d + 1) / k, "signs": (d - 1) / k, "right angles": d / k - 1}
    return (factors[directions] * square) ** 0.5


# wrong-result, independent: As if they were independent.
def right_angles_as_signs(gradient, k, directions):
    d = len(gradient)
    square = sum(number * number for number in gradient)
    factors = {"normal": (d + 1) / k, "signs": (d - 1) / k, "right angles": (d - 1) / k}
    return factors[directions] * square


# wrong-result, root-of-k: A standard deviation goes with the root.
def root_of_the_number(gradient, k, directions):
    d = len(gradient)
    square = sum(number * number for number in gradient)
    factors = {"normal": (d + 1) / k**0.5, "signs": (d - 1) / k**0.5, "right angles": d / k - 1}
    return factors[directions] * square


# wrong-result, length: A variance goes with the square.
def length_for_its_square(gradient, k, directions):
    d = len(gradient)
    square = sum(number * number for number in gradient)
    factors = {"normal": (d + 1) / k, "signs": (d - 1) / k, "right angles": d / k - 1}
    return factors[directions] * square**0.5


# wrong-result, per-number: A mean over d numbers.
def mean_over_the_numbers(gradient, k, directions):
    d = len(gradient)
    square = sum(number * number for number in gradient)
    factors = {"normal": (d + 1) / k / d, "signs": (d - 1) / k / d, "right angles": (d / k - 1) / d}
    return factors[directions] * square


# wrong-result, whole-division: d and k are whole numbers, and so is their quotient, it thinks.
def divides_without_the_rest(gradient, k, directions):
    d = len(gradient)
    square = sum(number * number for number in gradient)
    factors = {"normal": (d + 1) / k, "signs": (d - 1) / k, "right angles": d // k - 1}
    return factors[directions] * square


# wrong-result, zeros-dropped: A slope of 0 is taken for no direction at all.
def zeros_are_no_dimensions(gradient, k, directions):
    d = sum(number != 0 for number in gradient)
    square = sum(number * number for number in gradient)
    factors = {"normal": (d + 1) / k, "signs": (d - 1) / k, "right angles": d / k - 1}
    return factors[directions] * square
