"""Memory and time of a training step on a described cluster, and the search of layouts."""
