"""Published numbers, the models they are held against, and what a learner forecasts of them."""
