"""`gpu-course watch`, the learner's loop in a terminal: its session, keys, screen and text."""
