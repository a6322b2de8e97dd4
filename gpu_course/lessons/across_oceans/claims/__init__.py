"""Published numbers of lesson 33, and the models that are held against them."""
