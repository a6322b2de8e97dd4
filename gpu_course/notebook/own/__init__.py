"""The learner's own answers at work in a lesson: launched, trained with, run on real ranks.

`kernels` and `launch` take answers to kernel puzzles, `ranks` those that run on ranks, and
`pipelines` the orders of a pipeline's stages. An answer here is never graded.
"""
