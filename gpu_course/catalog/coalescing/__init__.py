"""What lesson 03 asks: a file per puzzle; lesson_03_coalescing puts them in order."""
