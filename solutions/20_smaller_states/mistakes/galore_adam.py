"""Wrong answers to galore_adam that people give."""

import torch


# wrong-result, every-step: New directions in every update: the moments belong to other ones.
def refreshes_every_step(weight, gradient, state, project, refresh, rate, scale):
    step = state.get("step", 0)
    basis = project(gradient)
    wide = weight.shape[0] <= weight.shape[1]
    small = basis.T @ gradient if wide else gradient @ basis
    state["first"] = 0.9 * state.get("first", 0) + 0.1 * small
    state["second"] = 0.999 * state.get("second", 0) + 0.001 * small**2
    state["step"] = step + 1
    mean = state["first"] / (1 - 0.9 ** state["step"])
    spread = (state["second"] / (1 - 0.999 ** state["step"])).sqrt()
    change = mean / (spread + 1e-8)
    weight -= rate * scale * (basis @ change if wide else change @ basis.T)


# wrong-result, never: The first directions for ever.
def never_refreshes(weight, gradient, state, project, refresh, rate, scale):
    step = state.get("step", 0)
    if "basis" not in state:
        state["basis"] = project(gradient)
    basis = state["basis"]
    wide = weight.shape[0] <= weight.shape[1]
    small = basis.T @ gradient if wide else gradient @ basis
    state["first"] = 0.9 * state.get("first", 0) + 0.1 * small
    state["second"] = 0.999 * state.get("second", 0) + 0.001 * small**2
    state["step"] = step + 1
    mean = state["first"] / (1 - 0.9 ** state["step"])
    spread = (state["second"] / (1 - 0.999 ** state["step"])).sqrt()
    change = mean / (spread + 1e-8)
    weight -= rate * scale * (basis @ change if wide else change @ basis.T)


# wrong-result, no-scale: Adam divides by the size of the gradient, and the factor with it.
def scales_the_gradient(weight, gradient, state, project, refresh, rate, scale):
    step = state.get("step", 0)
    if step % refresh == 0:
        state["basis"] = project(gradient)
    basis = state["basis"]
    wide = weight.shape[0] <= weight.shape[1]
    small = basis.T @ gradient if wide else gradient @ basis
    small = scale * small
    state["first"] = 0.9 * state.get("first", 0) + 0.1 * small
    state["second"] = 0.999 * state.get("second", 0) + 0.001 * small**2
    state["step"] = step + 1
    mean = state["first"] / (1 - 0.9 ** state["step"])
    spread = (state["second"] / (1 - 0.999 ** state["step"])).sqrt()
    change = mean / (spread + 1e-8)
    weight -= rate * (basis @ change if wide else change @ basis.T)


# wrong-result, no-scale: The rate is all that a step is taken times.
def leaves_the_scale_out(weight, gradient, state, project, refresh, rate, scale):
    step = state.get("step", 0)
    if step % refresh == 0:
        state["basis"] = project(gradient)
    basis = state["basis"]
    wide = weight.shape[0] <= weight.shape[1]
    small = basis.T @ gradient if wide else gradient @ basis
    state["first"] = 0.9 * state.get("first", 0) + 0.1 * small
    state["second"] = 0.999 * state.get("second", 0) + 0.001 * small**2
    state["step"] = step + 1
    mean = state["first"] / (1 - 0.9 ** state["step"])
    spread = (state["second"] / (1 - 0.999 ** state["step"])).sqrt()
    change = mean / (spread + 1e-8)
    weight -= rate * (basis @ change if wide else change @ basis.T)


# wrong-result, cleared: Begins anew with every basis.
def clears_the_moments(weight, gradient, state, project, refresh, rate, scale):
    step = state.get("step", 0)
    if step % refresh == 0:
        state["basis"] = project(gradient)
        state["first"] = state["second"] = 0
        state["age"] = 0
    basis = state["basis"]
    wide = weight.shape[0] <= weight.shape[1]
    small = basis.T @ gradient if wide else gradient @ basis
    state["first"] = 0.9 * state.get("first", 0) + 0.1 * small
    state["second"] = 0.999 * state.get("second", 0) + 0.001 * small**2
    state["step"] = step + 1
    state["age"] += 1
    mean = state["first"] / (1 - 0.9 ** state["age"])
    spread = (state["second"] / (1 - 0.999 ** state["age"])).sqrt()
    change = mean / (spread + 1e-8)
    weight -= rate * scale * (basis @ change if wide else change @ basis.T)


# wrong-result, no-correction: The moments begin at zero, and nothing makes up for it.
def forgets_the_correction(weight, gradient, state, project, refresh, rate, scale):
    step = state.get("step", 0)
    if step % refresh == 0:
        state["basis"] = project(gradient)
    basis = state["basis"]
    wide = weight.shape[0] <= weight.shape[1]
    small = basis.T @ gradient if wide else gradient @ basis
    state["first"] = 0.9 * state.get("first", 0) + 0.1 * small
    state["second"] = 0.999 * state.get("second", 0) + 0.001 * small**2
    state["step"] = step + 1
    mean = state["first"]
    spread = state["second"].sqrt()
    change = mean / (spread + 1e-8)
    weight -= rate * scale * (basis @ change if wide else change @ basis.T)


# wrong-result, whole-moments: Projects the step, and keeps the moments as large as ever.
def whole_moments(weight, gradient, state, project, refresh, rate, scale):
    step = state.get("step", 0)
    if step % refresh == 0:
        state["basis"] = project(gradient)
    basis = state["basis"]
    wide = weight.shape[0] <= weight.shape[1]
    small = gradient
    state["first"] = 0.9 * state.get("first", 0) + 0.1 * small
    state["second"] = 0.999 * state.get("second", 0) + 0.001 * small**2
    state["step"] = step + 1
    mean = state["first"] / (1 - 0.9 ** state["step"])
    spread = (state["second"] / (1 - 0.999 ** state["step"])).sqrt()
    change = mean / (spread + 1e-8)
    change = basis.T @ change if wide else change @ basis
    weight -= rate * scale * (basis @ change if wide else change @ basis.T)


# wrong-result, uphill: Adds where it should take away.
def goes_uphill(weight, gradient, state, project, refresh, rate, scale):
    step = state.get("step", 0)
    if step % refresh == 0:
        state["basis"] = project(gradient)
    basis = state["basis"]
    wide = weight.shape[0] <= weight.shape[1]
    small = basis.T @ gradient if wide else gradient @ basis
    state["first"] = 0.9 * state.get("first", 0) + 0.1 * small
    state["second"] = 0.999 * state.get("second", 0) + 0.001 * small**2
    state["step"] = step + 1
    mean = state["first"] / (1 - 0.9 ** state["step"])
    spread = (state["second"] / (1 - 0.999 ** state["step"])).sqrt()
    change = mean / (spread + 1e-8)
    weight += rate * scale * (basis @ change if wide else change @ basis.T)


# over-budget, large-state: Right, and a whole gradient stays behind for nobody.
def keeps_the_gradient(weight, gradient, state, project, refresh, rate, scale):
    step = state.get("step", 0)
    if step % refresh == 0:
        state["basis"] = project(gradient)
    basis = state["basis"]
    wide = weight.shape[0] <= weight.shape[1]
    small = basis.T @ gradient if wide else gradient @ basis
    state["first"] = 0.9 * state.get("first", 0) + 0.1 * small
    state["second"] = 0.999 * state.get("second", 0) + 0.001 * small**2
    state["step"] = step + 1
    state["gradient"] = gradient
    mean = state["first"] / (1 - 0.9 ** state["step"])
    spread = (state["second"] / (1 - 0.999 ** state["step"])).sqrt()
    change = mean / (spread + 1e-8)
    weight -= rate * scale * (basis @ change if wide else change @ basis.T)


# wrong-result, turned: Carries the mean over into the new directions.
def turns_the_moment(weight, gradient, state, project, refresh, rate, scale):
    step = state.get("step", 0)
    if step % refresh == 0:
        new = project(gradient)
        if step:
            turn = new.T @ state["basis"]
            first = state["first"]
            wide = weight.shape[0] <= weight.shape[1]
            state["first"] = turn @ first if wide else first @ turn.T
        state["basis"] = new
    basis = state["basis"]
    wide = weight.shape[0] <= weight.shape[1]
    small = basis.T @ gradient if wide else gradient @ basis
    state["first"] = 0.9 * state.get("first", 0) + 0.1 * small
    state["second"] = 0.999 * state.get("second", 0) + 0.001 * small**2
    state["step"] = step + 1
    mean = state["first"] / (1 - 0.9 ** state["step"])
    spread = (state["second"] / (1 - 0.999 ** state["step"])).sqrt()
    change = mean / (spread + 1e-8)
    weight -= rate * scale * (basis @ change if wide else change @ basis.T)


# wrong-result, epsilon-inside: Matters where a gradient is 0 or close to it.
def epsilon_under_the_root(weight, gradient, state, project, refresh, rate, scale):
    step = state.get("step", 0)
    if step % refresh == 0:
        state["basis"] = project(gradient)
    basis = state["basis"]
    wide = weight.shape[0] <= weight.shape[1]
    small = basis.T @ gradient if wide else gradient @ basis
    state["first"] = 0.9 * state.get("first", 0) + 0.1 * small
    state["second"] = 0.999 * state.get("second", 0) + 0.001 * small**2
    state["step"] = step + 1
    mean = state["first"] / (1 - 0.9 ** state["step"])
    spread = (state["second"] / (1 - 0.999 ** state["step"]) + 1e-8).sqrt()
    change = mean / spread
    weight -= rate * scale * (basis @ change if wide else change @ basis.T)


# wrong-result, not-in-place: Nobody outside sees it.
def a_new_weight(weight, gradient, state, project, refresh, rate, scale):
    step = state.get("step", 0)
    if step % refresh == 0:
        state["basis"] = project(gradient)
    basis = state["basis"]
    wide = weight.shape[0] <= weight.shape[1]
    small = basis.T @ gradient if wide else gradient @ basis
    state["first"] = 0.9 * state.get("first", 0) + 0.1 * small
    state["second"] = 0.999 * state.get("second", 0) + 0.001 * small**2
    state["step"] = step + 1
    mean = state["first"] / (1 - 0.9 ** state["step"])
    spread = (state["second"] / (1 - 0.999 ** state["step"])).sqrt()
    change = mean / (spread + 1e-8)
    weight = weight - rate * scale * (basis @ change if wide else change @ basis.T)


SHARED = {}


# wrong-result, state-elsewhere: The second weight goes on where the first one stopped.
def one_state_for_all(weight, gradient, state, project, refresh, rate, scale):
    step = SHARED.get("step", 0)
    if step % refresh == 0:
        SHARED["basis"] = project(gradient)
    basis = SHARED["basis"]
    wide = weight.shape[0] <= weight.shape[1]
    small = basis.T @ gradient if wide else gradient @ basis
    SHARED["first"] = 0.9 * SHARED.get("first", 0) + 0.1 * small
    SHARED["second"] = 0.999 * SHARED.get("second", 0) + 0.001 * small**2
    SHARED["step"] = step + 1
    mean = SHARED["first"] / (1 - 0.9 ** SHARED["step"])
    spread = (SHARED["second"] / (1 - 0.999 ** SHARED["step"])).sqrt()
    change = mean / (spread + 1e-8)
    weight -= rate * scale * (basis @ change if wide else change @ basis.T)


STATES = {}


# wrong-result, state-elsewhere: Knows a dict by where it lies, and writes nothing into it.
def a_state_for_each_dict(weight, gradient, state, project, refresh, rate, scale):
    own = STATES.setdefault(id(state), {})
    step = own.get("step", 0)
    if step % refresh == 0:
        own["basis"] = project(gradient)
    basis = own["basis"]
    wide = weight.shape[0] <= weight.shape[1]
    small = basis.T @ gradient if wide else gradient @ basis
    own["first"] = 0.9 * own.get("first", 0) + 0.1 * small
    own["second"] = 0.999 * own.get("second", 0) + 0.001 * small**2
    own["step"] = step + 1
    mean = own["first"] / (1 - 0.9 ** own["step"])
    spread = (own["second"] / (1 - 0.999 ** own["step"])).sqrt()
    change = mean / (spread + 1e-8)
    weight -= rate * scale * (basis @ change if wide else change @ basis.T)


# wrong-result, epsilon-inside: A square of epsilon under the root, and epsilon beside it.
def epsilon_twice(weight, gradient, state, project, refresh, rate, scale):
    step = state.get("step", 0)
    if step % refresh == 0:
        state["basis"] = project(gradient)
    basis = state["basis"]
    wide = weight.shape[0] <= weight.shape[1]
    small = basis.T @ gradient if wide else gradient @ basis
    state["first"] = 0.9 * state.get("first", 0) + 0.1 * small
    state["second"] = 0.999 * state.get("second", 0) + 0.001 * small**2
    state["step"] = step + 1
    mean = state["first"] / (1 - 0.9 ** state["step"])
    spread = (state["second"] / (1 - 0.999 ** state["step"]) + 1e-16).sqrt()
    change = mean / (spread + 1e-8)
    weight -= rate * scale * (basis @ change if wide else change @ basis.T)
