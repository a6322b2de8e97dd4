"""What was published on short number formats, and the models it is held against."""
