"""What lesson 06 asks: a file per puzzle; lesson_06_matmul puts them in order."""
