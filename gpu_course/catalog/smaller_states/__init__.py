"""What lesson 20 asks: a file per puzzle; lesson_20_smaller_states puts them in order."""
