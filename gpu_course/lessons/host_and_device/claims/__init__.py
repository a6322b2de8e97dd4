"""What was published on hosts and devices, and the models it is held against."""
