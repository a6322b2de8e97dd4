"""dynamic_loss_scaler: which step to take, how to scale the next.

    dynamic_loss_scaler(
        gradients, scale, streak, growth, backoff, interval
    ) -> (step, scale, streak)

    gradients  list of float16 arrays: those of the loss times scale;
               there may be none
    scale      float, the scale that this loss was multiplied by
    streak     int, the steps since the scale last changed or a step
               was skipped; 0 at the beginning
    growth     what the scale is multiplied by when it grows
    backoff    what it is multiplied by after an overflow
    interval   steps in a row, none of them skipped, after which it
               grows

It is called once for each step of a training. Return the gradients of
the unscaled loss as a list of float32 arrays, and the scale and the
streak for the next call.

If any gradient holds NaN or an infinity, the step is skipped: step is
None, the scale backs off, and the streak begins anew. Otherwise the
streak is one longer; when it reaches interval the scale grows, and the
streak begins anew. A scale that would grow past 3.4e38, the largest
float32, stays as it is. These are the rules of torch.amp.GradScaler.
"""

import numpy as np

LARGEST = 3.4028234663852886e38


def dynamic_loss_scaler(
    gradients,
    scale,
    streak,
    growth,
    backoff,
    interval,
):
    # answer
    if not all(np.isfinite(gradient).all() for gradient in gradients):
        return None, scale * backoff, 0
    wide = [gradient.astype(np.float32) for gradient in gradients]
    step = [gradient / np.float32(scale) for gradient in wide]
    streak += 1
    if streak == interval:
        streak = 0
        if scale * growth <= LARGEST:
            scale *= growth
    return step, scale, streak
    # end answer
