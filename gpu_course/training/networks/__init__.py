"""The networks that the course trains and measures, beside the tiny GPT of `training.model`."""
