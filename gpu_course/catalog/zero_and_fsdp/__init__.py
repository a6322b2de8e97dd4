"""What lesson 23 asks: a file per puzzle; lesson_23_zero_and_fsdp puts them in order."""
