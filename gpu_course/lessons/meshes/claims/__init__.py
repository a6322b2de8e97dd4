"""Published numbers of this lesson, and the models that give them."""
