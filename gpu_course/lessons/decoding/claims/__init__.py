"""What was published on the subject, and the models it is held against."""
