"""Pictures of training on many ranks: who holds what, who sends what to whom, and when."""
