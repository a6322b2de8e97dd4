"""The puzzles of lesson 20 in the order the lesson brings them."""

from __future__ import annotations

from gpu_course.lessons.smaller_states.block_quantise_state import BLOCK_QUANTISE_STATE
from gpu_course.lessons.smaller_states.galore_adam import GALORE_ADAM
from gpu_course.lessons.smaller_states.galore_project import GALORE_PROJECT
from gpu_course.lessons.smaller_states.lora import LORA
from gpu_course.lessons.smaller_states.predictions import PREDICTIONS
from gpu_course.lessons.smaller_states.shared_layers import SHARED_LAYERS
from gpu_course.puzzle.specification import Lesson

LESSON = Lesson(
    name="20_smaller_states",
    title="Smaller states",
    part=3,
    minutes=120,
    goal=(
        "You can shrink what a model and its optimizer hold in four ways, and say beforehand what "
        "each saves and what it costs."
    ),
    puzzles=(GALORE_PROJECT, GALORE_ADAM, LORA, BLOCK_QUANTISE_STATE, SHARED_LAYERS),
    predictions=PREDICTIONS,
)
