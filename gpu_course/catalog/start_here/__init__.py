"""What lesson 00 asks: a file per puzzle; lesson_00_start_here puts them in order."""
