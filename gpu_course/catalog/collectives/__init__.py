"""What lesson 21 asks: a file per puzzle; lesson_21_collectives puts them in order."""
