"""Wrong answers to rng_safe that people give."""

import torch


def again(ctx, gradient, before=lambda ctx: None, after=lambda ctx, kept: None):
    """The backward pass of all these: `before` readies the second run, `after` cleans up."""
    (x,) = ctx.saved_tensors
    start = x.detach().requires_grad_()
    kept = [(buffer, buffer.clone()) for buffer in ctx.stage.buffers()]
    before(ctx)
    with torch.enable_grad():
        y = ctx.stage(start)
    y.backward(gradient)
    after(ctx, kept)
    return None, start.grad


def put_back(ctx, kept):
    for buffer, old in kept:
        buffer.copy_(old)


class NoState(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        with torch.random.fork_rng(devices=[]):
            return again(ctx, gradient, after=put_back)


# wrong-result, other-noise: The second run draws other masks.
def forgets_the_random_state(stage, x):
    return NoState.apply(stage, x)


class StateTooLate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        y = stage(x)
        ctx.random_state = torch.get_rng_state()
        return y

    @staticmethod
    def backward(ctx, gradient):
        with torch.random.fork_rng(devices=[]):
            torch.set_rng_state(ctx.random_state)
            return again(ctx, gradient, after=put_back)


# wrong-result, other-noise: Looks at the generator after the first run, when its numbers are
# drawn already.
def looks_too_late(stage, x):
    return StateTooLate.apply(stage, x)


class SecondRunWithoutDropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        ctx.stage.eval()
        found = again(ctx, gradient)
        ctx.stage.train()
        return found


# wrong-result, other-noise: eval() stops both the dropout and the statistics: what is run again
# is another stage.
def second_run_in_eval_mode(stage, x):
    return SecondRunWithoutDropout.apply(stage, x)


class LeftBehind(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        ctx.random_state = torch.get_rng_state()
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        return again(ctx, gradient, lambda ctx: torch.set_rng_state(ctx.random_state), put_back)


# wrong-result, generator-left: Turns the generator back, and leaves it there.
def leaves_the_generator_behind(stage, x):
    return LeftBehind.apply(stage, x)


class NormTwice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        ctx.random_state = torch.get_rng_state()
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        with torch.random.fork_rng(devices=[]):
            return again(ctx, gradient, lambda ctx: torch.set_rng_state(ctx.random_state))


# wrong-result, statistics-twice: As PyTorch's own checkpoint does: the running statistics move
# twice.
def moves_the_statistics_twice(stage, x):
    return NormTwice.apply(stage, x)


class NormNever(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        ctx.random_state = torch.get_rng_state()
        ctx.buffers = [(buffer, buffer.clone()) for buffer in stage.buffers()]
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        with torch.random.fork_rng(devices=[]):
            return again(
                ctx,
                gradient,
                lambda ctx: torch.set_rng_state(ctx.random_state),
                lambda ctx, kept: put_back(ctx, ctx.buffers),
            )


# wrong-result, statistics-back: Puts back what was there before the first run: the statistics
# never move.
def puts_back_too_much(stage, x):
    return NormNever.apply(stage, x)


class Early(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        ctx.random_state = torch.get_rng_state()
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        start = x.detach().requires_grad_()
        kept = [(buffer, buffer.clone()) for buffer in ctx.stage.buffers()]
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(ctx.random_state)
            y = ctx.stage(start)
        put_back(ctx, kept)
        y.backward(gradient)
        return None, start.grad


# wrong-result, restored-too-early: BatchNorm's backward pass still has the statistics in its
# hands.
def puts_back_too_early(stage, x):
    return Early.apply(stage, x)


class NormAlone(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        ctx.random_state = torch.get_rng_state()
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        norms = [m for m in ctx.stage.modules() if isinstance(m, torch.nn.BatchNorm2d)]
        for norm in norms:
            norm.track_running_stats = False
        with torch.random.fork_rng(devices=[]):
            found = again(ctx, gradient, lambda ctx: torch.set_rng_state(ctx.random_state))
        for norm in norms:
            norm.track_running_stats = True
        return found


# wrong-result, other-buffers: Switches off what moves a BatchNorm; another module has buffers as
# well.
def spares_the_batchnorms_alone(stage, x):
    return NormAlone.apply(stage, x)


class OneGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        ctx.random_state = torch.get_rng_state()
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        with torch.random.fork_rng(devices=[]):
            torch.set_rng_state(ctx.random_state)
            return again(ctx, gradient, after=put_back)[1]


# wrong-result, one-per-argument: forward has two arguments, and backward owes each of them a
# gradient or None.
def returns_one_gradient(stage, x):
    return OneGradient.apply(stage, x)


class FromNothing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        return again(ctx, None, after=put_back)


# wrong-result, nothing-to-start-from: Only a loss, a single number, can go back without being
# told from what.
def starts_from_nothing(stage, x):
    return FromNothing.apply(stage, x)


class Seeded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        torch.manual_seed(0)
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        with torch.random.fork_rng(devices=[]):
            return again(ctx, gradient, lambda ctx: torch.manual_seed(0), put_back)


# wrong-result, other-run: Two equal runs, by the same seed for everyone: every stage drops the
# same places.
def seeds_every_stage(stage, x):
    return Seeded.apply(stage, x)


class FromMovedBuffers(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        ctx.random_state = torch.get_rng_state()
        dtype, on = torch.get_autocast_dtype("cpu"), torch.is_autocast_enabled("cpu")
        ctx.autocast = torch.autocast("cpu", dtype, on)
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        with torch.random.fork_rng(devices=[]), ctx.autocast:
            return again(ctx, gradient, lambda ctx: torch.set_rng_state(ctx.random_state), put_back)


# wrong-result, other-precision: backward() is called outside of autocast, so the second run
# computes in float32.
def forgets_autocast(stage, x):
    return WithoutAutocast.apply(stage, x)


# wrong-result, other-start: Puts the buffers back afterwards, and begins the second run where the
# first one left them.
def begins_from_moved_buffers(stage, x):
    return FromMovedBuffers.apply(stage, x)


class WithoutAutocast(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        ctx.random_state = torch.get_rng_state()
        ctx.buffers = [buffer.clone() for buffer in stage.buffers()]
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        now = [buffer.clone() for buffer in ctx.stage.buffers()]
        for buffer, old in zip(ctx.stage.buffers(), ctx.buffers, strict=True):
            buffer.copy_(old)
        with torch.random.fork_rng(devices=[]):
            found = again(ctx, gradient, lambda ctx: torch.set_rng_state(ctx.random_state))
        for buffer, last in zip(ctx.stage.buffers(), now, strict=True):
            buffer.copy_(last)
        return found


# over-budget, keeps-everything: Nothing is run again, so nothing can differ; and everything is
# kept.
def the_plain_run(stage, x):
    return stage(x)


class StateDict(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x)
        ctx.random_state = torch.get_rng_state()
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        stage = ctx.stage
        known = stage.state_dict()
        kept = [(b, b.clone()) for name, b in stage.named_buffers() if name in known]
        with torch.random.fork_rng(devices=[]):
            torch.set_rng_state(ctx.random_state)
            return again(ctx, gradient, after=lambda ctx, _: put_back(ctx, kept))


# wrong-result, other-buffers: A buffer that is not saved with the model is not in its state_dict,
# and moves twice.
def what_the_state_dict_holds(stage, x):
    return StateDict.apply(stage, x)


class InHalf(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stage, x):
        ctx.stage = stage
        ctx.save_for_backward(x.bfloat16())
        ctx.random_state = torch.get_rng_state()
        ctx.buffers = [buffer.clone() for buffer in stage.buffers()]
        device = x.device.type
        ctx.autocast = torch.autocast(
            device, torch.get_autocast_dtype(device), torch.is_autocast_enabled(device)
        )
        return stage(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        start = x.float().requires_grad_()
        buffers = list(ctx.stage.buffers())
        now = [buffer.clone() for buffer in buffers]
        for buffer, old in zip(buffers, ctx.buffers, strict=True):
            buffer.copy_(old)
        with torch.random.fork_rng(devices=[]), torch.enable_grad(), ctx.autocast:
            torch.set_rng_state(ctx.random_state)
            y = ctx.stage(start)
        y.backward(gradient)
        # Only now: BatchNorm's backward pass still holds the running statistics.
        for buffer, last in zip(buffers, now, strict=True):
            buffer.copy_(last)
        return None, start.grad


# wrong-result, rounded: Half of the bytes, and another input in the second run.
def keeps_half_of_the_digits(stage, x):
    return InHalf.apply(stage, x)
