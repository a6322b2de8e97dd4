"""What lesson 10 asks: a file per puzzle; lesson_10_roofline puts them in order."""
