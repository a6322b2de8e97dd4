"""What lesson 25 asks: a file per puzzle; lesson_25_context_parallel puts them in order."""
