"""What lesson 04 asks: a file per puzzle; lesson_04_shared_memory puts them in order."""
