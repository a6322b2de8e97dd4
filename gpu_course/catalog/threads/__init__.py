"""What lesson 01 asks: a file per puzzle; lesson_01_threads puts them in order."""
