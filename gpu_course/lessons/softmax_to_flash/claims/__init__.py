"""What was published on attention, and the models it is held against."""
