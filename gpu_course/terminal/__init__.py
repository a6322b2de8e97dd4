"""`gpu-course watch`: the learner's loop in a terminal."""
