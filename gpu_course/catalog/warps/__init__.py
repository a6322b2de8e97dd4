"""What lesson 02 asks: a file per puzzle; lesson_02_warps puts them in order."""
