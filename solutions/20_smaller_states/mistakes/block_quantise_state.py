"""Wrong answers to block_quantise_state that people give."""

import torch


# wrong-result, one-scale: The largest number of all decides, and small blocks vanish.
def one_scale_for_all(values, block, power):
    n = len(values)
    table = values[None]
    scales = table.abs().amax(dim=1)
    shares = table / torch.where(scales > 0, scales, 1.0)[:, None]
    table = (127 * shares.abs() ** (1 / power)).round() * shares.sign()
    return table.flatten()[:n].to(torch.int8), scales


# wrong-result, rest-dropped: Only whole blocks.
def drops_the_rest(values, block, power):
    n = len(values) // block * block
    table = values[:n].view(-1, block)
    scales = table.abs().amax(dim=1)
    shares = table / torch.where(scales > 0, scales, 1.0)[:, None]
    table = (127 * shares.abs() ** (1 / power)).round() * shares.sign()
    return table.flatten()[:n].to(torch.int8), scales


# wrong-result, cut-off: To int8 without rounding.
def cuts_off(values, block, power):
    n = len(values)
    table = torch.nn.functional.pad(values, (0, -n % block)).view(-1, block)
    scales = table.abs().amax(dim=1)
    shares = table / torch.where(scales > 0, scales, 1.0)[:, None]
    table = (127 * shares.abs() ** (1 / power)).floor() * shares.sign()
    return table.flatten()[:n].to(torch.int8), scales


# wrong-result, rounded-before: Rounded to eleven bits, and then once more.
def shares_in_float16(values, block, power):
    n = len(values)
    table = torch.nn.functional.pad(values, (0, -n % block)).view(-1, block)
    scales = table.abs().amax(dim=1)
    shares = (table / torch.where(scales > 0, scales, 1.0)[:, None]).half().float()
    table = (127 * shares.abs() ** (1 / power)).round() * shares.sign()
    return table.flatten()[:n].to(torch.int8), scales


# wrong-result, too-many-levels: int8 has no 128.
def levels_up_to_128(values, block, power):
    n = len(values)
    table = torch.nn.functional.pad(values, (0, -n % block)).view(-1, block)
    scales = table.abs().amax(dim=1)
    shares = table / torch.where(scales > 0, scales, 1.0)[:, None]
    table = (128 * shares.abs() ** (1 / power)).round() * shares.sign()
    return table.flatten()[:n].to(torch.int64).to(torch.int8), scales


# wrong-result, signed-largest: The number of largest size may be below zero.
def largest_and_not_largest_size(values, block, power):
    n = len(values)
    table = torch.nn.functional.pad(values, (0, -n % block)).view(-1, block)
    scales = table.amax(dim=1)
    shares = table / torch.where(scales != 0, scales, 1.0)[:, None]
    table = (127 * shares.abs() ** (1 / power)).round() * shares.sign()
    return table.flatten()[:n].to(torch.int64).to(torch.int8), scales


# wrong-result, epsilon: Against a division by zero, and against every small block.
def epsilon_in_the_scale(values, block, power):
    n = len(values)
    table = torch.nn.functional.pad(values, (0, -n % block)).view(-1, block)
    scales = table.abs().amax(dim=1) + 1e-8
    shares = table / torch.where(scales > 0, scales, 1.0)[:, None]
    table = (127 * shares.abs() ** (1 / power)).round() * shares.sign()
    return table.flatten()[:n].to(torch.int8), scales


# wrong-result, mean: Half of the shares are beyond 1.
def mean_for_the_largest(values, block, power):
    n = len(values)
    table = torch.nn.functional.pad(values, (0, -n % block)).view(-1, block)
    there = torch.nn.functional.pad(torch.ones_like(values), (0, -n % block)).view(-1, block)
    scales = table.abs().sum(dim=1) / there.sum(dim=1)
    shares = table / torch.where(scales > 0, scales, 1.0)[:, None]
    table = (127 * shares.abs() ** (1 / power)).round() * shares.sign()
    return table.flatten()[:n].to(torch.int64).to(torch.int8), scales


# wrong-result, no-power: Codes spread evenly.
def forgets_the_power(values, block, power):
    n = len(values)
    table = torch.nn.functional.pad(values, (0, -n % block)).view(-1, block)
    scales = table.abs().amax(dim=1)
    shares = table / torch.where(scales > 0, scales, 1.0)[:, None]
    table = (127 * shares.abs()).round() * shares.sign()
    return table.flatten()[:n].to(torch.int8), scales


# wrong-result, power-for-root: Farther apart near zero, and not closer.
def power_for_the_root(values, block, power):
    n = len(values)
    table = torch.nn.functional.pad(values, (0, -n % block)).view(-1, block)
    scales = table.abs().amax(dim=1)
    shares = table / torch.where(scales > 0, scales, 1.0)[:, None]
    table = (127 * shares.abs() ** power).round() * shares.sign()
    return table.flatten()[:n].to(torch.int8), scales


# wrong-result, sign-lost: A root has no sign of its own.
def loses_the_sign(values, block, power):
    n = len(values)
    table = torch.nn.functional.pad(values, (0, -n % block)).view(-1, block)
    scales = table.abs().amax(dim=1)
    shares = table / torch.where(scales > 0, scales, 1.0)[:, None]
    table = (127 * shares.abs() ** (1 / power)).round()
    return table.flatten()[:n].to(torch.int8), scales


# wrong-result, epsilon: Against a division by zero, and against tiny numbers.
def floor_under_the_scale(values, block, power):
    n = len(values)
    table = torch.nn.functional.pad(values, (0, -n % block)).view(-1, block)
    scales = table.abs().amax(dim=1)
    shares = table / scales.clamp(min=1e-8)[:, None]
    table = (127 * shares.abs() ** (1 / power)).round() * shares.sign()
    return table.flatten()[:n].to(torch.int8), scales


# wrong-result, not-written: Rounded, and as wide as before.
def codes_of_float32(values, block, power):
    n = len(values)
    table = torch.nn.functional.pad(values, (0, -n % block)).view(-1, block)
    scales = table.abs().amax(dim=1)
    shares = table / torch.where(scales > 0, scales, 1.0)[:, None]
    table = (127 * shares.abs() ** (1 / power)).round() * shares.sign()
    return table.flatten()[:n], scales


# wrong-result, way-back, for dequantise: Reads the codes as if they were spread evenly.
def forgets_the_way_back(codes, scales, block, power):
    shares = codes.float() / 127
    values = shares
    return values * scales.repeat_interleave(block)[: len(codes)]


# wrong-result, way-back, for dequantise: One scale is not all of them.
def scale_of_the_first_block(codes, scales, block, power):
    shares = codes.float() / 127
    values = shares.sign() * shares.abs() ** power
    return values * scales[0]


# wrong-result, not-float32, for dequantise: Twice as wide as what went in.
def comes_back_in_float64(codes, scales, block, power):
    shares = codes.double() / 127
    values = shares.sign() * shares.abs() ** power
    return values * scales.repeat_interleave(block)[: len(codes)]


# wrong-result, no-number: 0 / 0 is no number, and what int8 makes of it depends on the machine.
def divides_zero_by_zero(values, block, power):
    n = len(values)
    table = torch.nn.functional.pad(values, (0, -n % block)).view(-1, block)
    scales = table.abs().amax(dim=1)
    shares = table / scales[:, None]
    table = (127 * shares.abs() ** (1 / power)).round() * shares.sign()
    return table.flatten()[:n].to(torch.int8), scales


# wrong-result, no-number: The same, by way of NumPy.
def divides_zero_by_zero_in_numpy(values, block, power):
    n = len(values)
    table = torch.nn.functional.pad(values, (0, -n % block)).view(-1, block)
    scales = table.abs().amax(dim=1)
    shares = (table / scales[:, None]).numpy()
    table = (127 * abs(shares) ** (1 / power)).round()
    table[shares < 0] *= -1
    return torch.from_numpy(table.astype("int8")).flatten()[:n], scales


# wrong-result, half-down: A half is rounded to the code nearer to 0.
def halves_towards_zero(values, block, power):
    n = len(values)
    table = torch.nn.functional.pad(values, (0, -n % block)).view(-1, block)
    scales = table.abs().amax(dim=1)
    shares = table / torch.where(scales > 0, scales, 1.0).unsqueeze(1)
    table = (127 * shares.abs() ** (1 / power) - 0.5).ceil() * shares.sign()
    return table.flatten()[:n].to(torch.int8), scales


# wrong-result, rounded-back, for dequantise: Right to eight bits.
def back_in_bfloat16(codes, scales, block, power):
    shares = (codes.float() / 127).bfloat16().float()
    values = shares.sign() * shares.abs() ** power
    return values * scales.repeat_interleave(block)[: len(codes)]
