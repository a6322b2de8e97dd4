"""What was printed of lesson 32, and the models it is held against."""
