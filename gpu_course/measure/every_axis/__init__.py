"""One tiny GPT under every axis: data, tensor, sequence, context, pipeline and expert parallelism.

`configuration` says on how many ranks each axis cuts the model, `parts` which part of each weight a
rank has, `passes` what crosses an axis in the two passes, `model` is the GPT in these words, and
`run` trains it for a step. Which gradients are summed over which axes is not said here: whoever
runs it says so.
"""
