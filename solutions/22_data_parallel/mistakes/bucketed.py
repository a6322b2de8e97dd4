"""Wrong answers to bucketed that people give."""

import torch
import torch.distributed as dist


class Buckets:
    """A right answer, with its parts open to be replaced."""

    def __init__(self, model, bucket_bytes):
        self.n = dist.get_world_size()
        self.own = [each for each in model.parameters() if each.requires_grad]
        self.buckets = self.filled(bucket_bytes)
        self.there, self.begun = set(), []
        for parameter in self.own:
            parameter.register_post_accumulate_grad_hook(self.arrived)

    def order(self):
        return list(reversed(self.own))

    def filled(self, bucket_bytes):
        buckets, filled = [], 0
        for parameter in self.order():
            size = parameter.numel() * parameter.element_size()
            if not buckets or filled + size > bucket_bytes:
                buckets.append([])
                filled = 0
            buckets[-1].append(parameter)
            filled += size
        return buckets

    def arrived(self, parameter):
        self.there.add(id(parameter))
        self.begin()

    def complete(self, bucket):
        return all(id(parameter) in self.there for parameter in bucket)

    def begin(self):
        while len(self.begun) < len(self.buckets):
            bucket = self.buckets[len(self.begun)]
            if not self.complete(bucket):
                break
            self.send(bucket)

    def flat(self, bucket):
        zeros = [torch.zeros_like(each) if each.grad is None else each.grad for each in bucket]
        return torch.cat([each.flatten() for each in zeros])

    def send(self, bucket):
        flat = self.flat(bucket)
        self.begun.append((bucket, flat, dist.all_reduce(flat, async_op=True)))

    def fill(self):
        for parameter in self.own:
            if id(parameter) not in self.there:
                parameter.grad = torch.zeros_like(parameter)
                self.there.add(id(parameter))
        self.begin()

    def hand_back(self, bucket, flat):
        parts = flat.split([parameter.numel() for parameter in bucket])
        for parameter, part in zip(bucket, parts):
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            parameter.grad.copy_(part.view_as(parameter) / self.n)

    def forget(self):
        self.there.clear()
        self.begun.clear()

    def finish(self):
        self.fill()
        for bucket, flat, work in self.begun:
            work.wait()
            self.hand_back(bucket, flat)
        self.forget()


# over-budget, too-many-messages: One message for each gradient: what the hooks of ddp did.
def no_buckets(model, bucket_bytes):
    class Single(Buckets):
        def filled(self, bucket_bytes):
            return [[parameter] for parameter in self.order()]

    return Single(model, bucket_bytes).finish


# over-budget, too-few-messages: The fewest messages: one.
def one_bucket(model, bucket_bytes):
    class Whole(Buckets):
        def filled(self, bucket_bytes):
            return [self.order()]

    return Whole(model, bucket_bytes).finish


# over-budget, other-buckets: Buckets in the order of the forward pass.
def first_layer_first(model, bucket_bytes):
    class Forward(Buckets):
        def order(self):
            return self.own

    return Forward(model, bucket_bytes).finish


# over-budget, too-few-messages: A bucket is closed once it is over its limit, not before.
def overfull(model, bucket_bytes):
    class Over(Buckets):
        def filled(self, bucket_bytes):
            buckets, filled = [[]], 0
            for parameter in self.order():
                if filled >= bucket_bytes:
                    buckets.append([])
                    filled = 0
                buckets[-1].append(parameter)
                filled += parameter.numel() * parameter.element_size()
            return buckets

    return Over(model, bucket_bytes).finish


# over-budget, too-few-messages: Counts numbers where bytes are asked for.
def counts_numbers(model, bucket_bytes):
    class Numbers(Buckets):
        def filled(self, bucket_bytes):
            return super().filled(8 * bucket_bytes)

    return Numbers(model, bucket_bytes).finish


# over-budget, begins-late: All is sent in finish: simple, and nothing is hidden.
def after_the_backward_pass(model, bucket_bytes):
    class After(Buckets):
        def arrived(self, parameter):
            self.there.add(id(parameter))

    return After(model, bucket_bytes).finish


# over-budget, waits-in-backward: An all-reduce that returns when it is over.
def waits_in_the_hook(model, bucket_bytes):
    class Waiting(Buckets):
        def send(self, bucket):
            super().send(bucket)
            self.begun[-1][2].wait()

    return Waiting(model, bucket_bytes).finish


# wrong-result, too-early: The first gradient of a bucket sets it off.
def begins_too_early(model, bucket_bytes):
    class Early(Buckets):
        def complete(self, bucket):
            return any(id(parameter) in self.there for parameter in bucket)

    return Early(model, bucket_bytes).finish


# wrong-result, bucket-left-out: A full bucket goes out, and the last one is never full.
def forgets_the_last(model, bucket_bytes):
    class Ragged(Buckets):
        def filled(self, bucket_bytes):
            buckets = super().filled(bucket_bytes)
            return buckets[:-1] if len(buckets) > 1 else buckets

        def fill(self):
            for parameter in self.own:
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)
                self.there.add(id(parameter))
            self.begin()

    return Ragged(model, bucket_bytes).finish


# hazard, sizes-differ: Whichever bucket is complete goes first.
def in_order_of_arrival(model, bucket_bytes):
    class Arrival(Buckets):
        def begin(self):
            sent = [id(bucket) for bucket, _, _ in self.begun]
            for bucket in self.buckets:
                if id(bucket) not in sent and self.complete(bucket):
                    self.send(bucket)

    return Arrival(model, bucket_bytes).finish


# wrong-result, still-none: Sends what has come; what has not come has no bucket to wait for.
def leaves_out_the_unused(model, bucket_bytes):
    class Unused(Buckets):
        def fill(self):
            pass

    return Unused(model, bucket_bytes).finish


# wrong-result, second-step: Ready once is ready for ever.
def keeps_the_first_step(model, bucket_bytes):
    class Kept(Buckets):
        def forget(self):
            self.begun.clear()

    return Kept(model, bucket_bytes).finish


# wrong-result, summed: Summed, and handed back as it is.
def sums(model, bucket_bytes):
    class Summed(Buckets):
        def hand_back(self, bucket, flat):
            super().hand_back(bucket, flat * self.n)

    return Summed(model, bucket_bytes).finish


# wrong-result, divided-twice: A mean is sent, and a mean is handed back.
def divides_on_both_ways(model, bucket_bytes):
    class Divided(Buckets):
        def flat(self, bucket):
            return super().flat(bucket) / self.n

    return Divided(model, bucket_bytes).finish


# wrong-result, bucket-left-out: One bucket for each gradient that comes.
def begins_one_at_a_time(model, bucket_bytes):
    class Single(Buckets):
        def begin(self):
            if len(self.begun) < len(self.buckets):
                bucket = self.buckets[len(self.begun)]
                if self.complete(bucket):
                    self.send(bucket)

    return Single(model, bucket_bytes).finish


# wrong-result, own-gradients: flat is a copy: nothing of it comes back by itself.
def never_hands_back(model, bucket_bytes):
    class Lost(Buckets):
        def hand_back(self, bucket, flat):
            pass

    return Lost(model, bucket_bytes).finish


# hazard, not-waited: Begun, and read at once.
def never_waits(model, bucket_bytes):
    class Careless(Buckets):
        def finish(self):
            self.fill()
            for bucket, flat, _ in self.begun:
                self.hand_back(bucket, flat)
            self.forget()

    return Careless(model, bucket_bytes).finish


# refused, library-ddp: PyTorch has it, with a knob for the buckets.
def asks_the_library(model, bucket_bytes):
    wrapped = torch.nn.parallel.DistributedDataParallel(
        model, find_unused_parameters=True, bucket_cap_mb=bucket_bytes / 2**20
    )
    model.forward = Forward(wrapped, model.forward)

    def finish():
        for parameter in model.parameters():
            if parameter.requires_grad and parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)

    return finish


class Forward:
    """Goes through DDP, and from there to the model's own forward."""

    def __init__(self, wrapped, own):
        self.wrapped, self.own, self.inside = wrapped, own, False

    def __call__(self, *rows):
        if self.inside:
            return self.own(*rows)
        self.inside = True
        try:
            return self.wrapped(*rows)
        finally:
            self.inside = False
