"""How long the course's searches take, and how good what they find is: parts of `make bench`.

`rotor` and `schedules` plan what a chain keeps for its backward pass, `pipelines` orders the work
of stages.
"""
