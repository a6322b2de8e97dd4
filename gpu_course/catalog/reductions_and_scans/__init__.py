"""What lesson 05 asks: a file per puzzle; lesson_05_reductions_and_scans puts them in order."""
