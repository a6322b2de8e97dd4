"""One module per paper: its numbers as printed, each with the model that computes it."""
