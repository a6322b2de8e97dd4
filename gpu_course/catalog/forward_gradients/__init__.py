"""What lesson 19 asks: a file per puzzle; lesson_19_forward_gradients puts them in order."""
