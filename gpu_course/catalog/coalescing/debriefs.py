"""What a learner reads after a pass in lesson 03."""

from __future__ import annotations

from gpu_course.catalog.specification import Debrief

SECTORS = Debrief(
    shows=("result",),
    why=(
        "A load costs as many sectors as its 32 addresses lie in, whichever lane asks for which. "
        "Dividing an address in bytes by 32 and rounding down names its sector."
    ),
    alternative=(
        "Counting lane by lane is short and needs no cases. A formula exists for each kind of "
        "stride, and has to treat 0, negative strides and strides beyond a sector separately."
    ),
)
